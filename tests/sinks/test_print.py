from collections.abc import Callable

import pytest

from deviate.sinks import Message, find_sink


def test_each_positional_argument_of_print_is_part_of_the_message_and_its_options_are_not() -> None:
    sink = find_sink("builtins.print", "print")
    assert sink is not None
    carried = sink.carried(["loss", 0.5], {"file": "f", "sep": ","})
    assert [item.value for item in carried if isinstance(item, Message)] == ["loss", 0.5]


@pytest.mark.parametrize(
    "callee", ["tensorflow.print", "rich.console.Console().log", "torch_xla.core.xla_model.master_print", "?self.print"]
)
def test_what_stands_for_print_takes_any_number(callee: str, report: Callable[..., object]) -> None:
    assert report(callee, "loss", 0.5, style="bold") == [("Message", "loss"), ("Message", 0.5)]


@pytest.mark.parametrize("callee", ["click.echo", "click.secho", "pprint.pprint", "termcolor.cprint"])
def test_settings_that_follow_the_text_are_none_of_it(callee: str, report: Callable[..., object]) -> None:
    assert report(callee, "loss 0.5", 3, bold=True) == [("Message", "loss 0.5")]

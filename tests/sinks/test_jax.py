from collections.abc import Callable

import pytest


@pytest.mark.parametrize("callee", ["jax.debug.print", "jax.debug.print()", "?debug.print"])
def test_arguments_fill_the_template_and_options_do_not(callee: str, report: Callable[..., object]) -> None:
    expected = [("FormatTemplate", "{} {loss}", (1,), {"loss": 0.5})]
    assert report(callee, "{} {loss}", 1, loss=0.5, ordered=True) == expected


def test_options_alone_report_nothing(report: Callable[..., object]) -> None:
    assert report("jax.debug.print", ordered=True) == []


def test_id_print_is_named_by_what(report: Callable[..., object]) -> None:
    assert report("jax.experimental.host_callback.id_print", 0.5, what="loss") == [("Scalar", "loss", 0.5, None)]

"""A verb is given one value per group of flags, and typer sees the flags."""

import inspect
from typing import Annotated

import pytest
import typer

from deviate.cli.options import expand_groups, flag, option_group


@option_group
class Size:
    width: Annotated[int, typer.Option(min=1, help="How wide.")] = 3
    height: Annotated[int, typer.Option(min=1, help="How high.")] = 4
    depth: int = flag("CM", "How deep.", min=1, default=5)


@option_group
class Colour:
    shade: str = "light"
    width: int = 0


def draw(*, name: str, colour: Colour, size: Size, quiet: bool = False) -> None:
    calls.append((name, colour, size, quiet))


calls: list[tuple[str, Colour, Size, bool]] = []


def test_flags_stand_in_the_order_that_the_verb_names_and_others_have_their_defaults() -> None:
    verb = expand_groups(draw, "name height shade quiet")
    assert list(inspect.signature(verb).parameters) == ["name", "height", "shade", "quiet", "debug", "help_all"]
    verb(name="a", height=9, shade="dark", quiet=True)  # type: ignore[call-arg]
    assert calls.pop() == ("a", Colour("dark", 0), Size(3, 9, 5), True)


def test_without_an_order_the_parameters_come_first_and_an_earlier_group_has_the_shared_name() -> None:
    verb = expand_groups(draw)
    assert list(inspect.signature(verb).parameters) == [
        "name",
        "quiet",
        "shade",
        "width",
        "height",
        "depth",
        "debug",
        "help_all",
    ]
    verb(name="a", quiet=False, shade="x", width=7, height=8, depth=9)  # type: ignore[call-arg]
    assert calls.pop() == ("a", Colour("x", 7), Size(3, 8, 9), False)


@pytest.mark.parametrize("flags", ["name quiet colour", "name shade"])
def test_a_name_that_stands_for_nothing_and_a_parameter_that_is_not_named_are_refused(flags: str) -> None:
    with pytest.raises(TypeError, match="is no parameter, or is not named as a flag"):
        expand_groups(draw, flags)

"""A verb is given one value per group of options, and typer sees the options."""

import dataclasses
import inspect
from typing import Annotated, Any

import pytest
import typer

from deviate.cli.options.groups import flatten, in_output, in_runs

WIDTH = in_output("CM", "How wide.", min=1, default=3)


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    width: int = WIDTH
    height: int = in_output("CM", "How high.", min=1, default=4)
    is_deep: bool = in_runs(None, "Whether it is deep.", "-d", "--deep", default=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Colour:
    shade: str = in_output(None, "How dark.", default="light")


def draw(
    *,
    name: str,
    colour: Colour,
    size: Annotated[Size, "height", "is_deep"],
    be_quiet: bool = in_runs(None, "No sound.", default=False),
) -> None:
    calls.append((name, colour, size, be_quiet))


calls: list[tuple[str, Colour, Size, bool]] = []


def test_typer_sees_fields_in_place_of_groups_and_fields_that_are_not_named_have_their_defaults() -> None:
    verb = flatten(draw)
    assert list(inspect.signature(verb).parameters) == ["name", "shade", "height", "is_deep", "be_quiet"]
    verb(name="a", height=9, is_deep=False, shade="dark", be_quiet=True)  # type: ignore[call-arg]
    assert calls.pop() == ("a", Colour("dark"), Size(height=9), True)


def test_an_option_has_its_name_text_and_title_from_where_it_is_declared() -> None:
    app = typer.Typer()
    app.command()(flatten(draw))
    options: dict[str | None, Any] = {option.name: option for option in typer.main.get_command(app).params}
    assert options["is_deep"].opts == ["-d", "--deep"]
    assert (options["be_quiet"].opts, options["be_quiet"].secondary_opts) == (["--be-quiet"], [])
    assert (options["be_quiet"].help, options["be_quiet"].rich_help_panel) == ("No sound.", "Runs")


def test_groups_of_all_verbs_are_seen_by_typer_alone() -> None:
    def sing(*, song: str) -> None:
        sung.append(song)

    sung: list[str] = []
    verb = flatten(sing, Colour)
    assert list(inspect.signature(verb).parameters) == ["song", "shade"]
    verb(song="la", shade="dark")  # type: ignore[call-arg]
    assert sung == ["la"]


def test_a_name_that_is_no_field_and_two_options_of_one_name_are_refused() -> None:
    def wrong(*, size: Annotated[Size, "heigth"]) -> None: ...

    def twice(*, size: Size, width: int = WIDTH) -> None: ...

    with pytest.raises(KeyError, match="heigth"):
        flatten(wrong)
    with pytest.raises(ValueError, match="duplicate parameter name: 'width'"):
        flatten(twice)

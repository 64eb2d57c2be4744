"""Items of a review: a metric, its section, and whether it is recorded; changes to them, and how they are shown."""

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deviate.base.notebooks import is_notebook, notebook_script, place_text
from deviate.errors import InputError
from deviate.model.aggregates import AGGREGATES, refuse_aggregate
from deviate.model.analysis import Analysis, Direction, Loop, Metric, Place, Rejected, Role
from deviate.project import selection
from deviate.project.config import MetricConfig

PLACE = re.compile(r"(?:(?P<file>\S.*?):)?(?P<line>\d+)(?:\s+(?P<expression>.+))?")


@dataclass(slots=True)
class Item:
    """A metric under review.

    Attributes:
        section: its section after the review.
        metric: None if the section matches nothing; then `problem` says why.
        was: its section in the file; None for one that the file does not list.
        is_gone: whether the script had it when the file was saved, and no longer has it.
    """

    section: MetricConfig
    metric: Metric | None
    was: MetricConfig | None = None
    is_kept: bool = True
    problem: str = ""
    is_gone: bool = False

    @property
    def reason(self) -> str:
        """Why it was selected as a metric."""
        return "; ".join(self.metric.evidence) if self.metric else ""

    @property
    def direction(self) -> Direction | None:
        """The direction that will be used."""
        if self.section.direction == "none":
            return None
        return self.section.direction or (self.metric.direction if self.metric else None)

    def change(self, **values: object) -> None:
        """Set keys of the section."""
        self.section = dataclasses.replace(self.section, **values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of an item: its question (none if it takes no value), and how it is applied."""

    word: str
    question: str
    set: Callable[[Item, str, Sequence[Item]], None]


def with_place(text: str, script: str, section: MetricConfig) -> MetricConfig:
    """A section at a place given as `FILE:LINE EXPRESSION`; the file defaults to the script.

    Raises:
        InputError: the text is no place.
    """
    match = PLACE.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not a place", f"Type file, line and expression: {script}:61 correct / total")
    where = Place(match["file"] or script, int(match["line"]))
    return dataclasses.replace(section, where=where, expression=match["expression"], path=None, label=None)


def attach(analysis: Analysis, section: MetricConfig, item: Item, items: Sequence[Item]) -> Analysis:
    """Let an item represent the value that a section names.

    Returns: the analysis, with a site more where it saw no such value.

    Raises:
        InputError: nothing fits there, or another item is it already.
    """
    analysis, metric = selection.resolve(analysis, section)
    same = next(
        (other for other in items if other is not item and other.metric is not None and other.metric.id == metric.id),
        None,
    )
    if same is not None:
        raise InputError(f"this is {same.section.name}, which is already listed", "Go back to it with b.")
    exact = selection.section_of(metric)
    item.section = dataclasses.replace(
        section, where=exact.where, expression=exact.expression, path=exact.path, label=exact.label
    )
    item.metric, item.problem, item.is_kept, item.is_gone = metric, "", True, False
    return analysis


def _rename(item: Item, text: str, items: Sequence[Item]) -> None:
    if not text or not text.isprintable():
        raise InputError("a name needs printable characters", "Type n and the new name.")
    if any(other.section.name == text for other in items if other is not item):
        raise InputError(f"another metric is named {text}", "Choose another name, or rename that one first.")
    if item.section.where is None and item.section.expression is None and item.metric is not None:
        exact = selection.section_of(item.metric)  # it was identified by name only
        item.change(where=exact.where, expression=exact.expression, path=exact.path, label=exact.label)
    item.change(name=text)


DIRECTIONS = {
    "max": "max", "higher": "max", "h": "max",
    "min": "min", "lower": "min", "l": "min",
    "none": "none", "unknown": "none", "u": "none",
}  # fmt: skip


def _set_direction(item: Item, text: str, _: Sequence[Item]) -> None:
    if text not in DIRECTIONS:
        raise InputError(f"{text!r} is not a direction", "Use max (higher is better), min (lower is better) or none.")
    item.change(direction=DIRECTIONS[text])


def _set_aggregate(item: Item, text: str, _: Sequence[Item]) -> None:
    refuse_aggregate(text)
    item.change(aggregate=text)


def _set_role(item: Item, text: str, _: Sequence[Item]) -> None:
    if text not in get_args(Role):
        raise InputError(f"{text!r} is not a role", f"Use one of {', '.join(get_args(Role))}.")
    item.change(role=text)


def _set_unit(item: Item, text: str, _: Sequence[Item]) -> None:
    if not text.isprintable():
        raise InputError("a unit needs printable characters", "Type u and the unit.")
    item.change(unit=text)


def _set_primary(item: Item, _: str, items: Sequence[Item]) -> None:
    is_primary = not item.section.is_primary
    for other in items:
        other.change(is_primary=is_primary and other is item)


def _set_margin(item: Item, text: str, _: Sequence[Item]) -> None:
    try:
        margin = float(text) if text else None
    except ValueError:
        margin = math.nan
    if margin is not None and not 0 <= margin < math.inf:
        raise InputError(f"{text!r} is not a margin", "Type a number, at least 0, or leave it empty for none.")
    item.change(margin=margin)


SETTINGS: Mapping[str, Setting] = {
    "n": Setting("name", "new name", _rename),
    "d": Setting("direction", "direction (max, min, none)", _set_direction),
    "a": Setting("aggregate", f"aggregate ({', '.join(AGGREGATES)})", _set_aggregate),
    "r": Setting("role", f"role ({', '.join(get_args(Role))})", _set_role),
    "u": Setting("unit", "unit (empty for none)", _set_unit),
    "m": Setting("margin", "margin (empty for none)", _set_margin),
    "p": Setting("primary", "", _set_primary),
}


# ---------------------------------------------------------------- texts
#
# Main loop, metrics with source and reasons, near misses, summary, and keys.

MOST_LINES = 4
STRINGS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#[^\n]*")
TITLE_WIDTH = 10
WALK_KEYS = (("Enter", "next"), ("b", "back"), ("f", "finish"), ("q", "quit without writing"))


def show_loop(analysis: Analysis) -> RenderableType:
    """The script, its main loop, alternatives to it, and instructions."""
    rows: list[tuple[str, RenderableType]] = [("Script", _text(analysis.script))]
    if analysis.main_loop is None:
        rows.append(("Main loop", _text("none found: values are recorded without steps")))
    else:
        rows += _loop("Main loop", analysis.main_loop, analysis)
    for number, loop in enumerate(analysis.alternatives, start=1):
        rows += _loop(f"or {number}", loop, analysis)
    choice = [("1", "use that loop")] if analysis.alternatives else []
    return Group(_rows(rows), Text(), _keys([*choice, *WALK_KEYS]))


def _loop(title: str, loop: Loop, analysis: Analysis) -> list[tuple[str, RenderableType]]:
    return [
        (title, _source(analysis, Place(loop.file, loop.line), most=1)),
        ("", Text("; ".join(map(_clean, loop.evidence)), style="dim")),
    ]


def show_item(item: Item, number: int, count: int, analysis: Analysis) -> RenderableType:
    """A metric: its state, place, how it is read, and why it was selected."""
    section, metric = item.section, item.metric
    state = "recorded" if item.is_kept else "excluded"
    title = Text.assemble(Text(f"{number}/{count}  "), (_clean(section.name), "bold"), Text(f"  {state}"))
    if metric is None:
        cure = _text("Enter comments it out; w FILE:LINE EXPRESSION sets its new place")
        return Group(Text(), title, _rows([("Problem", Text(_clean_lines(item.problem))), ("To do", cure)]))
    role = section.role or metric.role
    better = {"max": "higher is better", "min": "lower is better", None: "direction unknown"}[item.direction]
    read = [role, better, f"aggregate {section.aggregate}"]
    read += [f"unit {section.unit}"] if section.unit else []
    read += ["primary"] if section.is_primary else []
    read += [f"margin {section.margin:g}"] if section.margin is not None else []
    rows: list[tuple[str, RenderableType]] = [("Where", _source(analysis, Place(metric.file, metric.line)))]
    rows += [("Called", _source(analysis, place)) for place in metric.path]
    rows += [("Value", _text(metric.expression))]
    rows += [("Read as", _text(", ".join(read))), ("Why", _text("; ".join(metric.evidence)))]
    return Group(Text(), title, _rows(rows))


def show_misses(misses: Sequence[Rejected], most: int | None) -> RenderableType:
    """Numbered list of values that are reported but were not selected as metrics."""
    listed = misses[:most]
    table = Table.grid(padding=(0, 2))
    for number, item in enumerate(listed, start=1):
        table.add_row(
            f"{number:>3}", _text(item.expression), _text(place_text(item.file, item.line)), _text(item.reason)
        )
    keys = [("1 3", "also record these"), *WALK_KEYS]
    if len(listed) < len(misses):
        keys.insert(1, ("a", f"show all {len(misses)}"))
    return Group(Text("\nReported, but not selected as metrics", style="bold"), table, Text(), _keys(keys))


def show_places(analysis: Analysis) -> RenderableType:
    """How to add a value by its place."""
    how = f"FILE:LINE EXPRESSION records another value, for example {_clean(analysis.script)}:61 correct / total"
    return Group(Text("\nOther values", style="bold"), Text(how), Text(), _keys(WALK_KEYS))


def show_summary(items: Sequence[Item], analysis: Analysis) -> RenderableType:
    """Metrics to list, and excluded ones."""
    table = Table.grid(padding=(0, 2))
    for item in items:
        if not item.is_kept or item.metric is None:
            continue
        better = {"max": "higher", "min": "lower", None: "-"}[item.direction]
        settings = [item.section.aggregate, *(["primary"] if item.section.is_primary else [])]
        settings += [f"margin {item.section.margin:g}"] if item.section.margin is not None else []
        where = place_text(item.metric.file, item.metric.line)
        table.add_row(
            _text(item.section.name), _text(where), item.section.role or item.metric.role, better, ", ".join(settings)
        )
    left_out = [item.section.name for item in items if not item.is_kept]
    parts: list[RenderableType] = [Text(f"\nMetrics of {_clean(analysis.script)}", style="bold"), table]
    if left_out:
        parts.append(_rows([("Excluded", _text(", ".join(left_out)))]))
    keys = (("Enter", "write deviate.toml"), ("b", "back"), ("q", "quit without writing"))
    return Group(*parts, Text(), _keys(keys))


def show_keys() -> RenderableType:
    """The keys for a metric."""
    of_item = [("Enter", "next"), ("x", "exclude"), ("k", "record")]
    of_item += [(key, setting.word) for key, setting in SETTINGS.items()]
    return _keys([*of_item, ("w", "place"), *WALK_KEYS[1:], ("?", "keys")])


def show_error(error: InputError) -> RenderableType:
    """Why an answer is invalid."""
    return Padding(Text(_clean_lines(f"{error.message}\n{error.hint}".strip())), (0, 0, 0, 2))


def _source(analysis: Analysis, place: Place, most: int = MOST_LINES) -> RenderableType:
    """A place with the lines of its statement."""
    try:
        content = Path(analysis.root, place.file).read_bytes()
        is_cell = is_notebook(place.file)
        text = notebook_script(content, place.file).text if is_cell else content.decode(errors="replace")
    except (OSError, InputError):
        text = ""
    lines = text.splitlines()
    code = lines[place.line - 1 : place.line - 1 + most]
    while code and not _goes_on(code[:-1]):
        code = code[:-1]
    table = Table.grid(padding=(0, 2))
    table.add_row(_text(f"{place}"), Text("\n".join(_clean(line.strip()) for line in code)))
    return table


def _goes_on(lines: Sequence[str]) -> bool:
    """Whether brackets are open after these lines."""
    text = STRINGS.sub("", "\n".join(lines))
    return not lines or sum(map(text.count, "([{")) > sum(map(text.count, ")]}"))


def _rows(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=TITLE_WIDTH)
    for title, content in rows:
        table.add_row(title, content)
    return table


def _keys(keys: Iterable[tuple[str, str]]) -> Columns:
    return Columns([Text.assemble((key, "bold"), f" {meaning}") for key, meaning in keys], padding=(0, 3))


def _text(text: str) -> Text:
    return Text(_clean(text))


def _clean(text: str) -> str:
    """Text without control codes, which names and strings of the script could send to the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def _clean_lines(text: str) -> str:
    return "\n".join(map(_clean, text.split("\n")))

"""Texts of a review: main loop, metrics with source and reasons, near misses, summary, and keys."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deviate.errors import InputError
from deviate.model import Analysis, Loop, Place, Rejected
from deviate.project.review.items import SETTINGS, Item

MOST_LINES = 4
STRINGS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#[^\n]*")
TITLE_WIDTH = 10
WALK_KEYS = (("Enter", "go on"), ("b", "back"), ("f", "finish"), ("q", "quit, write nothing"))


def show_loop(analysis: Analysis) -> RenderableType:
    """The script, its main loop, alternatives to it, and instructions."""
    rows: list[tuple[str, RenderableType]] = [("Script", _text(analysis.script))]
    if analysis.main_loop is None:
        rows.append(("Main loop", _text("none found: values are recorded without steps")))
    else:
        rows += _loop("Main loop", analysis.main_loop, analysis)
    for number, loop in enumerate(analysis.alternatives, start=1):
        rows += _loop(f"or {number}", loop, analysis)
    choice = [("1", "take that loop")] if analysis.alternatives else []
    return Group(_rows(rows), Text(), _keys([*choice, *WALK_KEYS]))


def _loop(title: str, loop: Loop, analysis: Analysis) -> list[tuple[str, RenderableType]]:
    return [
        (title, _source(analysis, Place(loop.file, loop.line), most=1)),
        ("", Text("; ".join(map(_clean, loop.evidence)), style="dim")),
    ]


def show_item(item: Item, number: int, count: int, analysis: Analysis) -> RenderableType:
    """A metric: its state, place, how it is read, and why it was selected."""
    section, metric = item.section, item.metric
    state = "recorded" if item.is_kept else "left out"
    title = Text.assemble(Text(f"{number}/{count}  "), (_clean(section.name), "bold"), Text(f"  {state}"))
    if metric is None:
        cure = _text("Enter comments it out; w FILE:LINE EXPRESSION says where it is now")
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
        table.add_row(f"{number:>3}", _text(item.expression), _text(f"{item.file}:{item.line}"), _text(item.reason))
    keys = [("1 3", "record these too"), *WALK_KEYS]
    if len(listed) < len(misses):
        keys.insert(1, ("a", f"show all {len(misses)}"))
    return Group(Text("\nReported, but taken for no metrics", style="bold"), table, Text(), _keys(keys))


def show_places(analysis: Analysis) -> RenderableType:
    """How to add a value by its place."""
    how = f"FILE:LINE EXPRESSION records one more value, such as {_clean(analysis.script)}:61 correct / total"
    return Group(Text("\nAnything else?", style="bold"), Text(how), Text(), _keys(WALK_KEYS))


def show_summary(items: Sequence[Item], analysis: Analysis) -> RenderableType:
    """What will be listed, and what is left out."""
    table = Table.grid(padding=(0, 2))
    for item in items:
        if not item.is_kept or item.metric is None:
            continue
        better = {"max": "higher", "min": "lower", None: "-"}[item.direction]
        settings = [item.section.aggregate, *(["primary"] if item.section.is_primary else [])]
        settings += [f"margin {item.section.margin:g}"] if item.section.margin is not None else []
        where = f"{item.metric.file}:{item.metric.line}"
        table.add_row(
            _text(item.section.name), _text(where), item.section.role or item.metric.role, better, ", ".join(settings)
        )
    left_out = [item.section.name for item in items if not item.is_kept]
    parts: list[RenderableType] = [Text(f"\nTo record of {_clean(analysis.script)}", style="bold"), table]
    if left_out:
        parts.append(_rows([("Left out", _text(", ".join(left_out)))]))
    keys = (("Enter", "write deviate.toml"), ("b", "back"), ("q", "quit, write nothing"))
    return Group(*parts, Text(), _keys(keys))


def show_keys() -> RenderableType:
    """The keys for a metric."""
    of_item = [("Enter", "go on"), ("x", "leave it out"), ("k", "record it")]
    of_item += [(key, setting.word) for key, setting in SETTINGS.items()]
    return _keys([*of_item, ("w", "where it is"), *WALK_KEYS[1:], ("?", "keys")])


def show_error(error: InputError) -> RenderableType:
    """Why an answer is invalid."""
    return Padding(Text(_clean_lines(f"{error.message}\n{error.hint}".strip())), (0, 0, 0, 2))


def _source(analysis: Analysis, place: Place, most: int = MOST_LINES) -> RenderableType:
    """A place with the lines of its statement."""
    try:
        lines = Path(analysis.root, place.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
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

"""Rewrites `deviate.toml`: sections are changed, added or commented out; everything else is preserved.

tomlkit preserves formatting, but moves comments and tables. The file is therefore split at its headers into independent
pieces, and tomlkit processes one piece at a time.
"""

import dataclasses
import re
import textwrap
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import cast

import tomlkit
from tomlkit.items import Item, Table

from deviate.errors import InputError, ToolError
from deviate.model.analysis import Place
from deviate.project.config import METRIC_KEYS, MetricConfig, parse

WIDTH = 116
OFFERED = "---- Also reported, but not recorded. Uncomment a section to record it."
REMEMBERED = "# Statements at these places when deviate saved them, used to find them again when lines move.\n"
BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"\s*\[")
LINE = re.compile(r"[^\n]*\n|[^\n]+")

Value = str | list[str] | float | bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A metric that the file should list.

    Attributes:
        section: what its section is to say.
        was: the section as it is in the file; None for a new one.
        reason: comment in a new one.
    """

    section: MetricConfig
    was: MetricConfig | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The changes to a file.

    Attributes:
        train: the script; written down where the file names none.
        main_loop: the loop that the user takes for the main loop; None for the one that is found.
        introduction: comment above a first metrics part.
        entries: the metrics that it is to list; sections of others are left alone.
        dropped: sections to be commented out, each with a note that says why.
        offered: new sections, written as comments for the user to uncomment.
        statements: what stands at the places of the metrics part.
    """

    train: str
    main_loop: Place | None
    introduction: str
    entries: Sequence[Entry]
    dropped: Mapping[str, str]
    offered: Sequence[Entry]
    statements: Mapping[Place, str]


@dataclass(slots=True)
class Piece:
    """A part of a file from one header to the next. The concatenated texts are the file.

    Attributes:
        key: the keys of its header; () for what stands before the first one.
        text: header and keys, ending with a line that holds one.
        gap: comments and blank lines after it.
    """

    key: tuple[str, ...]
    text: str
    gap: str = ""

    def holds(self, *keys: str) -> bool:
        """Whether a key or a table is set here, in any notation."""
        table: object = tomllib.loads(self.text)
        for key in keys:
            if not isinstance(table, dict) or key not in table:
                return False
            table = table[key]
        return True

    def split_gap(self, *, is_last: bool) -> tuple[str, str]:
        """Split comments into those that belong to the preceding text, and the rest from the first blank line on."""
        lines = LINE.findall(self.gap)
        blank = next((place for place, line in enumerate(lines) if not line.strip()), None)
        if blank is None:
            return (self.gap, "") if is_last else ("", self.gap)
        return "".join(lines[:blank]), "".join(lines[blank:])


def rewrite(text: str, wanted: Rewriting) -> str:
    """Apply the changes to the text of a valid `deviate.toml`.

    Raises:
        ToolError: the new text would not say what is wanted.
    """
    is_dos = "\r\n" in text and text.count("\r\n") == text.count("\n")
    new_text = _rewritten(text.replace("\r\n", "\n") if is_dos else text, wanted)
    try:
        listed = parse(new_text, "deviate.toml").metrics or ()
    except InputError:
        listed = ()
    if {section.name: section for section in listed} != {entry.section.name: entry.section for entry in wanted.entries}:
        raise ToolError(
            "deviate.toml could not be rewritten in its present form, and is unchanged",
            "Write each metric as a separate section, [metrics.NAME], and try again.",
        )
    return new_text.replace("\n", "\r\n") if is_dos else new_text


def _rewritten(text: str, wanted: Rewriting) -> str:
    pieces = pieces_of(text if text.endswith("\n") or not text else f"{text}\n")
    has_metrics = any(piece.holds("metrics") for piece in pieces)
    has_experiment = any(piece.holds("experiment") for piece in pieces)
    changes = [(_find(pieces, entry.was.name), entry.was, entry.section) for entry in wanted.entries if entry.was]
    drops = [(_find(pieces, name), name, note) for name, note in wanted.dropped.items()]
    for piece, was, section in changes:
        _change(piece, was, section)
    for piece, name, note in drops:
        _comment_out(piece, name, note)
    experiment = [] if has_experiment else pieces_of("[experiment]\n")
    _set_experiment(experiment or pieces, wanted)
    added = [] if has_metrics else [comment(wanted.introduction)]
    added += [piece.text for piece in experiment]
    added += [_section(entry) for entry in wanted.entries if entry.was is None]
    added += [comment(OFFERED)] if wanted.offered else []
    added += [comment_out(_section(entry)) for entry in wanted.offered]
    _insert(pieces, added)
    _remember(pieces, wanted.statements)
    return "".join(piece.text + piece.gap for piece in pieces)


def section_lines(section: MetricConfig) -> list[str]:
    """The keys of a section as TOML lines."""
    return [f"{key} = {item(value).as_string()}" for key, value in _values(section).items()]


def _values(section: MetricConfig) -> dict[str, Value]:
    """Values of a section by key, without defaults."""
    values: dict[str, Value] = {}
    for name, field in zip(METRIC_KEYS, dataclasses.fields(section)[1:], strict=True):
        value = getattr(section, field.name)
        if value == field.default:
            continue
        if isinstance(value, tuple):
            value = list(map(str, value))
        values[name] = str(value) if isinstance(value, Place) else value
    return values


def _find(pieces: Sequence[Piece], name: str) -> Piece:
    return next(piece for piece in pieces if piece.holds("metrics", name))


def _change(piece: Piece, was: MetricConfig, section: MetricConfig) -> None:
    """Update a section: only keys with a different value are changed."""
    if was == section:
        return
    document = tomlkit.parse(piece.text)
    metrics = cast("MutableMapping[str, MutableMapping[str, object]]", document["metrics"])
    table, old, new = metrics[was.name], _values(was), _values(section)
    for dropped_key in old.keys() - new.keys():
        table.pop(dropped_key, None)
    for name, value in new.items():
        if old.get(name) != value:
            table[name] = item(value)
    if section.name != was.name and piece.key != ("metrics", was.name):
        metrics[section.name] = metrics.pop(was.name)
    piece.text = tomlkit.dumps(document)
    if section.name != was.name and piece.key == ("metrics", was.name):
        trivia = cast("Table", table).trivia
        _, _, keys = piece.text.partition("\n")
        piece.text = f"{trivia.indent}[metrics.{key(section.name)}]{trivia.comment_ws}{trivia.comment}\n{keys}"
        piece.key = ("metrics", section.name)


def _comment_out(piece: Piece, name: str, note: str) -> None:
    if piece.key == ("metrics", name):
        rest, text = "", piece.text
    else:
        document, table = tomlkit.parse(piece.text), tomlkit.document()
        metrics = cast("MutableMapping[str, Table]", document["metrics"])
        table["metrics"] = {name: metrics.pop(name).unwrap()}
        rest, text = tomlkit.dumps(document), tomlkit.dumps(table)
    piece.text, piece.gap = rest, comment(note) + comment_out(text) + piece.gap


def _set_experiment(pieces: Sequence[Piece], wanted: Rewriting) -> None:
    """Set the script if none is named, and the main loop if the user selected one."""
    holding = [piece for piece in pieces if piece.holds("experiment")]
    piece = next((piece for piece in holding if piece.holds("experiment", "main_loop")), holding[0])
    document = tomlkit.parse(piece.text)
    experiment = cast("MutableMapping[str, object]", document["experiment"])
    if not any(other.holds("experiment", "train") for other in holding):
        experiment["train"] = item(wanted.train)
    if wanted.main_loop is None:
        experiment.pop("main_loop", None)
    elif experiment.get("main_loop") != str(wanted.main_loop):
        experiment["main_loop"] = item(str(wanted.main_loop))
    piece.text = tomlkit.dumps(document)


def _insert(pieces: list[Piece], added: Sequence[str]) -> None:
    """Insert new sections after the metrics part, or else at the end, separated by blank lines."""
    if not added:
        return
    of_metrics = [place for place, piece in enumerate(pieces) if "metrics" in piece.key[:1] or piece.holds("metrics")]
    not_statements = [place for place, piece in enumerate(pieces) if piece.key != ("statements",)]
    after = "\n".join(added)
    if not of_metrics and not not_statements:
        pieces.insert(0, Piece((), after))
        return
    place = (of_metrics or not_statements)[-1]
    attached, rest = pieces[place].split_gap(is_last=place == len(pieces) - 1)
    pieces[place].gap = attached
    pieces.insert(place + 1, Piece((), "", f"\n{after}{rest}"))


def _remember(pieces: list[Piece], statements: Mapping[Place, str]) -> None:
    """Store the statements at the places, replacing those stored before."""
    lines = "".join(f"{key(str(place))} = {item(text).as_string()}\n" for place, text in statements.items())
    piece = next((piece for piece in pieces if piece.key == ("statements",)), None)
    if piece is not None:
        header, *body = LINE.findall(piece.text)
        piece.text = "".join([header, *(line for line in body if line.lstrip().startswith("#")), lines])
    elif statements:
        pieces.append(Piece(("statements",), f"\n{REMEMBERED}[statements]\n{lines}"))


def _section(entry: Entry) -> str:
    """A new section with its reason as a comment inside, so that both stay together."""
    reason = comment(entry.reason, WIDTH) if entry.reason else ""
    keys = "".join(f"{line}\n" for line in section_lines(entry.section))
    return f"[metrics.{key(entry.section.name)}]\n{reason}{keys}"


def pieces_of(text: str) -> list[Piece]:
    """Split a valid file. A header-like line begins a piece if the text before it is complete."""
    parts: list[str] = [""]
    for line in LINE.findall(text):
        if HEADER.match(line) and _is_whole(parts[-1]):
            parts.append("")
        parts[-1] += line
    return [_piece(part) for part in parts if part]


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _piece(part: str) -> Piece:
    lines = LINE.findall(part)
    key_lines = [place for place, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    end = max(key_lines, default=-1) + 1
    while end < len(lines) and not _is_whole("".join(lines[:end])):
        end += 1  # into a value of several lines, the last of which begins with a #
    text, gap = "".join(lines[:end]), "".join(lines[end:])
    key: tuple[str, ...] = ()
    if HEADER.match(lines[0]):
        table: object = tomllib.loads(lines[0])
        while isinstance(table, dict) and table:
            name, table = next(iter(table.items()))
            key = (*key, name)
    return Piece(key, text, gap)


def item(value: Value) -> Item:
    """A value in TOML notation; strings with quotes or backslashes in single quotes if possible."""
    if isinstance(value, str):
        is_literal = "'" not in value and ("\\" in value or '"' in value) and value.isprintable()
        return tomlkit.string(value, literal=is_literal)
    return tomlkit.item(value)


def key(name: str) -> str:
    """A key in TOML notation, quoted if necessary."""
    return name if BARE.fullmatch(name) else tomlkit.string(name).as_string()


def comment(text: str, width: int | None = None) -> str:
    """A text as comment lines; with a width, lines are wrapped to it."""
    lines = ["".join(sign if sign.isprintable() else " " for sign in line) for line in text.split("\n")]
    if width is not None:
        lines = [part for line in lines for part in textwrap.wrap(line, width - 2, break_long_words=False) or [""]]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def comment_out(text: str) -> str:
    """Lines of TOML with comment signs."""
    return "".join(f"# {line}" if line.strip() else line for line in LINE.findall(text))

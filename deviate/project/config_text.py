"""The text of `deviate.toml`: values are set, sections added or commented out; everything else is preserved.

tomlkit preserves formatting, but moves comments and tables. The file is therefore split at its headers into independent
pieces, and tomlkit processes one piece at a time.
"""

import dataclasses
import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import Item

from deviate.errors import InputError, ToolError
from deviate.model.analysis import Place
from deviate.project.config import METRIC_KEYS, MetricConfig, parse

WIDTH = 116
REMEMBERED = "# Statements at these places when deviate saved them, used to find them again when lines move.\n"
BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"\s*\[")
LINE = re.compile(r"[^\n]*\n|[^\n]+")

Value = str | list[str] | float | bool


@dataclass(slots=True)
class Piece:
    """A part of a file from one header to the next. The concatenated texts are the file.

    Attributes:
        text: header and keys, ending with a line that holds one.
        gap: comments and blank lines after it.
    """

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


class ConfigText:
    """A valid `deviate.toml` that is being changed."""

    def __init__(self, text: str) -> None:
        self.is_dos = "\r\n" in text and text.count("\r\n") == text.count("\n")
        text = text.replace("\r\n", "\n") if self.is_dos else text
        self.pieces = pieces_of(text if text.endswith("\n") or not text else f"{text}\n")

    def listing(self, sections: Iterable[MetricConfig]) -> str:
        """The text, which lists exactly these metrics.

        Raises:
            ToolError: it does not.
        """
        text = "".join(piece.text + piece.gap for piece in self.pieces)
        try:
            listed = parse(text, "deviate.toml").metrics or ()
        except InputError:
            listed = ()
        if {section.name: section for section in listed} != {section.name: section for section in sections}:
            raise ToolError(
                "deviate.toml could not be rewritten in its present form, and is unchanged",
                "Write each metric as a separate section, [metrics.NAME], and try again.",
            )
        return text.replace("\n", "\r\n") if self.is_dos else text

    def holds(self, *keys: str) -> bool:
        """Whether a key or a table is set."""
        return any(piece.holds(*keys) for piece in self.pieces)

    def set(self, table: Sequence[str], values: Mapping[str, Value]) -> None:
        """Set keys of a table that exists."""
        if not values:
            return
        piece = next(piece for piece in self.pieces if piece.holds(*table))
        document = tomlkit.parse(piece.text)
        keys: Any = document
        for name in table:
            keys = keys[name]
        keys.update({name: item(value) for name, value in values.items()})
        piece.text = tomlkit.dumps(document)

    def comment_out(self, name: str, note: str) -> None:
        """Turn the section of a metric into comments, below a note that says why."""
        piece = next(piece for piece in self.pieces if piece.holds("metrics", name))
        rest, text = "", piece.text
        content = tomllib.loads(text)
        if len(content) > 1 or len(content["metrics"]) > 1:
            document: Any = tomlkit.parse(text)
            section = document["metrics"].pop(name).unwrap()
            rest, text = tomlkit.dumps(document), tomlkit.dumps({"metrics": {name: section}})
        piece.text, piece.gap = rest, comment(note) + comment_out(text) + piece.gap

    def insert(self, blocks: Sequence[str]) -> None:
        """Insert sections and comments after the metrics part, or else at the end, separated by blank lines."""
        if not blocks:
            return
        new = "\n".join(blocks)
        of_metrics = [place for place, piece in enumerate(self.pieces) if piece.holds("metrics")]
        others = [place for place, piece in enumerate(self.pieces) if not piece.holds("statements")]
        if not others:
            self.pieces[:0] = pieces_of(new)
            return
        place = (of_metrics or others)[-1]
        piece = self.pieces[place]
        piece.gap, rest = piece.split_gap(is_last=place == len(self.pieces) - 1)
        self.pieces[place + 1 : place + 1] = pieces_of(f"\n{new}{rest}")

    def remember(self, statements: Mapping[Place, str]) -> None:
        """Store the statements at the places, replacing those stored before."""
        lines = "".join(f"{key(str(place))} = {item(text).as_string()}\n" for place, text in statements.items())
        piece = next((piece for piece in self.pieces if piece.holds("statements")), None)
        if piece is not None:
            header, *body = LINE.findall(piece.text)
            piece.text = "".join([header, *(line for line in body if line.lstrip().startswith("#")), lines])
        elif statements:
            self.pieces.append(Piece(f"\n{REMEMBERED}[statements]\n{lines}"))


def section_text(section: MetricConfig, reason: str) -> str:
    """A new section with its reason as a comment inside, so that both stay together."""
    keys = "".join(f"{line}\n" for line in section_lines(section))
    return f"[metrics.{key(section.name)}]\n{comment(reason, WIDTH) if reason else ''}{keys}"


def section_lines(section: MetricConfig) -> list[str]:
    """The keys of a section as TOML lines, without defaults."""
    lines = []
    for name, field in zip(METRIC_KEYS, dataclasses.fields(section)[1:], strict=True):
        value = getattr(section, field.name)
        if value != field.default:
            written = list(map(str, value)) if isinstance(value, tuple) else value
            lines.append(f"{name} = {item(str(written) if isinstance(written, Place) else written).as_string()}")
    return lines


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
    return Piece("".join(lines[:end]), "".join(lines[end:]))


def item(value: Value) -> Item:
    """A value in TOML notation; strings with quotes or backslashes in single quotes if possible."""
    if isinstance(value, str):
        is_literal = "'" not in value and ("\\" in value or '"' in value) and value.isprintable()
        return tomlkit.string(value, literal=is_literal)
    return tomlkit.item(value)


def key(name: str) -> str:
    """A key in TOML notation, quoted if necessary."""
    return name if BARE.fullmatch(name) else tomlkit.string(name).as_string()


def comment(text: str, width: int | None = None, sign: str = "#") -> str:
    """A text as comment lines; with a width, lines are wrapped to it."""
    lines = ["".join(letter if letter.isprintable() else " " for letter in line) for line in text.split("\n")]
    if width is not None:
        lines = [part for line in lines for part in textwrap.wrap(line, width - 2, break_long_words=False) or [""]]
    return "".join(f"{sign} {line}".rstrip() + "\n" for line in lines)


def comment_out(text: str) -> str:
    """Lines of TOML with comment signs."""
    return "".join(f"# {line}" if line.strip() else line for line in LINE.findall(text))

"""TOML as the user wrote it: a file in pieces that are whole by themselves, and values as they are written."""

import re
import textwrap
import tomllib
from dataclasses import dataclass

import tomlkit
from tomlkit.items import Item

BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"\s*\[")
LINE = re.compile(r"[^\n]*\n|[^\n]+")

Value = str | list[str] | float | bool


@dataclass(slots=True)
class Piece:
    """A part of a file from one header to the next. All texts together are the file.

    Attributes:
        key: the keys of its header; () for what stands before the first one.
        text: header and keys, ending with a line that holds one.
        gap: comments and blank lines after it.
    """

    key: tuple[str, ...]
    text: str
    gap: str = ""

    def holds(self, *keys: str) -> bool:
        """Whether a key, or a table, is given here in whatever form."""
        table: object = tomllib.loads(self.text)
        for key in keys:
            if not isinstance(table, dict) or key not in table:
                return False
            table = table[key]
        return True

    def split_gap(self, *, is_last: bool) -> tuple[str, str]:
        """The comments that belong to what stands before them, and the rest, which begins with the first blank line."""
        lines = LINE.findall(self.gap)
        blank = next((place for place, line in enumerate(lines) if not line.strip()), None)
        if blank is None:
            return (self.gap, "") if is_last else ("", self.gap)
        return "".join(lines[:blank]), "".join(lines[blank:])


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a valid file. A line that looks like a header begins one where what stands before it is whole."""
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
    told = [place for place, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    end = max(told, default=-1) + 1
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
    """A value as it is written; texts with quotes or backslashes between single quotes where that can be."""
    if isinstance(value, str):
        is_literal = "'" not in value and ("\\" in value or '"' in value) and value.isprintable()
        return tomlkit.string(value, literal=is_literal)
    return tomlkit.item(value)


def key(name: str) -> str:
    """A key as it is written, in quotes where it needs them."""
    return name if BARE.fullmatch(name) else tomlkit.string(name).as_string()


def comment(text: str, width: int | None = None) -> str:
    """A text as lines of comment; with a width, its lines are broken so that no line has more columns."""
    lines = ["".join(sign if sign.isprintable() else " " for sign in line) for line in text.split("\n")]
    if width is not None:
        lines = [part for line in lines for part in textwrap.wrap(line, width - 2, break_long_words=False) or [""]]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def commented(text: str) -> str:
    """Lines of TOML with comment signs before them."""
    return "".join(f"# {line}" if line.strip() else line for line in LINE.findall(text))

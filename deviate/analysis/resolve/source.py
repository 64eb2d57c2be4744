"""Source files: read with their encoding, parsed with libcst, every expression with its exact span."""

import ast
import io
import re
import stat
import tokenize
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst.metadata import CodePosition

from deviate.analysis.resolve.parsed import ParsedFiles
from deviate.analysis.resolve.positions import PrintedRanges, Ranges
from deviate.analysis.resolve.syntax import parse
from deviate.errors import InputError
from deviate.model import Span

LARGEST = 4_000_000
"""Maximum file size in bytes: a million take some two seconds to parse, and no script is longer."""


FORM_FEEDS = re.compile(r"^[ \t]*\f[ \t\f]*", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Source:
    """One file of the project: its text (without byte order mark) and its concrete syntax tree.

    Attributes:
        file: name relative to the project root, with forward slashes.
        known_ranges: positions, if the tree came from the cache; otherwise they are found by printing it.
    """

    file: str
    text: str
    tree: cst.Module
    known_ranges: Ranges | None = None

    @cached_property
    def lines(self) -> list[str]:
        return io.StringIO(self.text, newline="").readlines()

    @cached_property
    def ranges(self) -> Ranges:
        """Positions in the text without form feeds before statements, which libcst takes for indentation."""
        return self.known_ranges or PrintedRanges(self.tree, without_form_feeds(self.text))

    def line(self, node: cst.CSTNode) -> int:
        return self.ranges.start(node).line

    def start(self, node: cst.CSTNode) -> CodePosition:
        return self._shift(self.ranges.start(node))

    def end(self, node: cst.CSTNode) -> CodePosition:
        return self._shift(self.ranges.end(node))

    def _shift(self, place: CodePosition) -> CodePosition:
        shift = self._shifts.get(place.line)
        return place if shift is None else CodePosition(place.line, place.column + shift)

    @cached_property
    def _shifts(self) -> Mapping[int, int]:
        """Columns missing from each line because form feeds before its statement were left out."""
        if "\f" not in self.text:
            return {}
        plain = io.StringIO(without_form_feeds(self.text), newline="").readlines()
        # A last line of form feeds alone is no line of the plain text; no code stands on it.
        pairs = enumerate(zip(self.lines, plain, strict=False), 1)
        return {line: len(printed) - len(other) for line, (printed, other) in pairs if len(printed) != len(other)}

    def span(self, node: cst.CSTNode) -> Span:
        """The span of an expression, without redundant parentheses but with those it needs as an argument."""
        first, last = node, node
        if isinstance(node, cst.Tuple | cst.GeneratorExp | cst.Yield) and node.lpar:
            first, last = node.lpar[0], node.rpar[-1]
        start, end = self.start(first), self.end(last)
        return Span(start.line, start.column, end.line, end.column)

    def between(self, span: Span) -> str:
        """The text of a span."""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column : span.end_column]
        first, *middle, last = self.lines[span.line - 1 : span.end_line]
        return first[span.column :] + "".join(middle) + last[: span.end_column]

    def code(self, node: cst.CSTNode) -> str:
        """An expression as it is spelled, on one line."""
        text = self.between(self.span(node))
        if "\n" not in text and "\r" not in text:
            return text
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
        except SyntaxError:
            return " ".join(text.split())


def read_source(path: Path, file: str, parsed: ParsedFiles | None = None) -> Source:
    """Read and parse a file.

    Args:
        file: its name relative to the project root, for messages.
        parsed: the cache of trees.

    Raises:
        InputError: it is missing, not text, or no Python; with line and column where they are known.
    """
    text = _decode(_read(path, file), file)
    plain = without_form_feeds(text)
    earlier = parsed.load(plain) if parsed is not None else None
    if earlier is not None:
        return Source(file, text, *earlier)
    tree = parse(plain, file)
    return Source(file, text, tree, parsed.keep(plain, tree) if parsed is not None else None)


def without_form_feeds(text: str) -> str:
    """The text without form feeds before statements, after which Python restarts counting the indentation."""
    return FORM_FEEDS.sub(lambda match: match[0].rpartition("\f")[2], text) if "\f" in text else text


def _read(path: Path, file: str) -> bytes:
    if path.is_dir():
        raise InputError(f"{file} is a folder, not a script", "Name the training script itself.")
    if path.suffix == ".ipynb":
        raise InputError(
            f"{file} is a notebook, not a script",
            f"Convert it: jupyter nbconvert --to script {file}",
        )
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # reading from a pipe could block forever
            raise InputError(f"{file} is a device or a pipe, not a file", "Save the script in a file.")
        if status.st_size > LARGEST:
            raise InputError(
                f"{file} has {status.st_size / 1e6:.1f} MB: too large to be analysed (at most {LARGEST / 1e6:.0f} MB)",
                "Move the data that it holds to a file of their own.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"no such script: {file}", "Give the path of the training script.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot read {file}: {reason}", "Check the path and its permissions.") from None


def _decode(content: bytes, file: str) -> str:
    if b"\0" in content:
        raise InputError(f"{file} holds null bytes: not a text file", "Give a Python script, saved as UTF-8.")
    encoding = "utf-8"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise InputError(
            f"{file}:{line}:{column}: a byte that is no {encoding} text",
            "Name the encoding in the first line, e.g. # -*- coding: latin-1 -*-, or save the file as UTF-8.",
        ) from None
    except (SyntaxError, LookupError, UnicodeError) as error:  # no encoding, no encoding of texts, or an empty one
        raise InputError(
            f"{file}:1: cannot be decoded: {error}", "Correct the coding line or save the file as UTF-8."
        ) from None

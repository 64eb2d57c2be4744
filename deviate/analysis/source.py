"""Source files: read with their encoding, parsed with libcst, every expression with its exact span."""

import ast
import io
import platform
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, PositionProvider

from deviate.errors import InputError
from deviate.model import Span

DEEPEST = 200
"""Levels of brackets that are still handed to the native parser, whose stack is finite."""

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
CODE = re.compile(
    r"#[^\n]*"
    r"|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    r"|\"(?:[^\\\n\"]|\\.)*\"|'(?:[^\\\n']|\\.)*'"
    r"|[()\[\]{}]",
    re.DOTALL,
)
"""Comments and strings, to be passed over, and brackets."""


@dataclass(frozen=True, eq=False)
class Source:
    """One file of the project: its text (without byte order mark) and its concrete syntax tree.

    Attributes:
        file: name relative to the project root, with forward slashes.
    """

    file: str
    text: str
    tree: cst.Module

    @cached_property
    def lines(self) -> list[str]:
        return io.StringIO(self.text, newline="").readlines()

    @cached_property
    def ranges(self) -> Mapping[cst.CSTNode, CodeRange]:
        wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True)
        return wrapper.resolve(PositionProvider)

    def line(self, node: cst.CSTNode) -> int:
        return self.ranges[node].start.line

    def start(self, node: cst.CSTNode) -> CodePosition:
        return self.ranges[node].start

    def end(self, node: cst.CSTNode) -> CodePosition:
        return self.ranges[node].end

    def span(self, node: cst.CSTNode) -> Span:
        """Where an expression stands: without superfluous parentheses, with those that it cannot lack as argument."""
        where = self.ranges[node]
        start, end = where.start, where.end
        if isinstance(node, cst.Tuple | cst.GeneratorExp | cst.Yield) and node.lpar:
            start, end = self.ranges[node.lpar[0]].start, self.ranges[node.rpar[-1]].end
        return Span(
            start.line,
            start.column + self._shifts.get(start.line, 0),
            end.line,
            end.column + self._shifts.get(end.line, 0),
        )

    @cached_property
    def _shifts(self) -> Mapping[int, int]:
        """What columns lack in lines that libcst would indent otherwise: it loses form feeds before a statement."""
        if "\f" not in self.text:
            return {}
        written = io.StringIO(self.tree.code, newline="").readlines()
        return {
            line: len(own) - len(other) for line, (own, other) in enumerate(zip(self.lines, written, strict=False), 1)
        }

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
            return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
        except SyntaxError:
            return " ".join(text.split())


def read_source(path: Path, file: str) -> Source:
    """Read and parse a file.

    Raises:
        InputError: it is missing, not text, or no Python; with line and column where they are known.
    """
    text = _decode(_read(path, file), file)
    _refuse_depth(text, file)
    try:
        return Source(file, text, cst.parse_module(text))
    except cst.ParserSyntaxError as error:
        line, column = error.raw_line, error.raw_column + 1
        shown = text.splitlines()[line - 1].strip() if 0 < line <= len(text.splitlines()) else ""
        raise InputError(
            f"{file}:{line}:{column}: not valid Python: {shown}".rstrip(": "), _syntax_hint(shown)
        ) from None
    except RecursionError:
        raise InputError(f"{file}: expressions are nested too deeply to be read", "Split the deepest one.") from None


def _read(path: Path, file: str) -> bytes:
    if path.is_dir():
        raise InputError(f"{file} is a folder, not a script", "Name the training script itself.")
    if path.suffix == ".ipynb":
        raise InputError(
            f"{file} is a notebook, not a script",
            f"Convert it: jupyter nbconvert --to script {file}",
        )
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"no such script: {file}", "Give the path of the training script.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot read {file}: {reason}", "Check the path and its permissions.") from None


def _decode(content: bytes, file: str) -> str:
    if b"\0" in content:
        raise InputError(f"{file} holds null bytes: not a text file", "Give a Python script.")
    encoding = "utf-8"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"{file}:{line}: a byte that is no {encoding} text",
            "Name the encoding in the first line, e.g. # -*- coding: latin-1 -*-, or save the file as UTF-8.",
        ) from None
    except SyntaxError as error:
        raise InputError(f"{file}:1: {error}", "Correct the coding line or save the file as UTF-8.") from None


def _refuse_depth(text: str, file: str) -> None:
    """The native parser would overflow its stack, which nothing can catch; Python itself refuses such depth too."""
    if text.count("(") + text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for match in CODE.finditer(text):
        bracket = match[0]
        depth += (bracket in OPENING) - (bracket in CLOSING)
        if depth > DEEPEST:
            line = text.count("\n", 0, match.start()) + 1
            raise InputError(f"{file}:{line}: brackets are nested too deeply to be read", "Split the expression.")


def _syntax_hint(line: str) -> str:
    if line.startswith(("print ", "exec ")) or "async=" in line:
        return "This is the syntax of an older Python; convert the script (2to3) or correct the line."
    return f"Correct the line; it was read as Python up to 3.14 (by deviate under Python {platform.python_version()})."

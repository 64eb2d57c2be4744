"""Texts of the statements of a file that stay the same when lines move, so that a place is found again."""

import ast
import copy
import hashlib
import re
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deviate.base.notebooks import notebook_script
from deviate.errors import InputError
from deviate.model.places import is_notebook

LONGEST = 110
"""Maximum length of a statement text; a longer one is cut and followed by a hash of the whole."""

BELOW = re.compile(r"(.*) \+(\d+)")
INNER = ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list")


@dataclass(frozen=True, eq=False)
class Statements:
    """The statements of one file.

    Attributes:
        texts: first line of each statement to its text: the functions and classes around it, a colon, its code (the
            header of a compound statement), and a number from the second equal one on. No two are equal. lines: of the
            file if this interpreter cannot parse it: then each line is a statement.
    """

    texts: dict[int, str]
    nodes: tuple[tuple[int, ast.stmt], ...] = ()
    lines: tuple[str, ...] = ()

    @cached_property
    def _starts(self) -> list[int]:
        return sorted(self.texts)

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {text: line for line, text in self.texts.items()}

    def start(self, line: int) -> int:
        """First line of the statement that a line belongs to."""
        place = bisect_right(self._starts, line)
        return self._starts[place - 1] if place else line

    def text_at(self, line: int) -> str | None:
        """The text of the statement at a line, and the line's offset from its first line; None if there is none."""
        start = self.start(line)
        text = self.texts.get(start)
        return f"{text} +{line - start}" if text is not None and line > start else text

    def line_of(self, text: str) -> int | None:
        """The line with that text; None when there is no such statement."""
        if text in self._by_text:
            return self._by_text[text]
        match = BELOW.fullmatch(text)
        start = self._by_text.get(match[1]) if match else None
        return start + int(match[2]) if match and start is not None else None

    def lines_with(self, expression: str) -> list[int]:
        """First lines of the statements in which an expression is evaluated, in order."""
        if self.lines:
            wanted = "".join(expression.split())
            return [number for number, line in enumerate(self.lines, 1) if wanted in "".join(line.split())]
        wanted = normalise(expression)
        head = wanted.removeprefix("Expression(body=").partition("(")[0]
        matches = (
            line
            for line, node in self.nodes
            for part in _own_expressions(node)
            if type(part).__name__ == head and ast.dump(ast.Expression(part)) == wanted
        )
        return list(dict.fromkeys(matches))


def read_statements(path: Path) -> Statements:
    """The statements of a file; none when it cannot be read."""
    try:
        content = path.read_bytes()
        if is_notebook(path.name):
            content = notebook_script(content, path.name).text.encode()
    except (OSError, ValueError, InputError):
        return Statements({})
    try:
        with warnings.catch_warnings(action="ignore"):  # "\d": a problem of the script
            tree = ast.parse(content)
        statements = [
            (line, f"{scope}: {text}" if scope else text, node) for line, scope, text, node in _describe(tree, "")
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = tuple(content.decode("utf-8", errors="replace").splitlines())
        return Statements(_number_equals([(number, line.strip()) for number, line in enumerate(lines, 1)]), (), lines)
    return Statements(
        _number_equals([(line, text) for line, text, _ in statements]),
        tuple((line, node) for line, _, node in statements),
    )


def _describe(tree: ast.AST, scope: str) -> Iterator[tuple[int, str, str, ast.stmt]]:
    """Line, scope, code and node of each statement below a node, in source order."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node.lineno, scope, _shorten(_header(node)), node
        inside = scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{scope}.{node.name}" if scope else node.name
        if not isinstance(node, ast.expr):
            yield from _describe(node, inside)


def _header(node: ast.stmt) -> str:
    """The code of a statement without its body, on one line."""
    bare = copy.copy(node)
    for name in INNER:
        if hasattr(bare, name):
            setattr(bare, name, [])
    return " ".join(ast.unparse(bare).split())


def _shorten(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 12]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _number_equals(described: list[tuple[int, str]]) -> dict[int, str]:
    """The first statement of each line; equal ones are numbered from the second on."""
    seen: Counter[str] = Counter()
    texts: dict[int, str] = {}
    for line, text in described:
        if line not in texts:
            seen[text] += 1
            texts[line] = text if seen[text] == 1 else f"{text} ({seen[text]})"
    return texts


def _own_expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement without those of nested statements."""
    waiting: list[ast.AST] = [node]
    while waiting:
        for part in ast.iter_child_nodes(waiting.pop()):
            if isinstance(part, ast.expr):
                yield part
            if not isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append(part)


def normalise(expression: str) -> str:
    """An expression normalised over blanks, quotes and redundant parentheses."""
    try:
        return ast.dump(ast.parse(f"({expression}\n)", mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "".join(expression.split())

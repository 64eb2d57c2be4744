"""Edits of source text within lines, and the text parsed by libcst, whose positions they refer to."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from deviate.model.analysis import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `removed` characters at (line, column) of the original by `inserted`.

    `order` sorts the edits of one place: ends before beginnings, inner ends first, outer beginnings first; of equal
    spans, the one that was given first is outermost.
    """

    line: int
    column: int
    removed: int
    inserted: str
    order: tuple[int, int, int] = (0, 0, 0)


def wrap(span: Span, before: str, after: str) -> list[Edit]:
    """Edits that put text around a span."""
    return [
        Edit(span.line, span.column, 0, before, (1, -span.end_line, -span.end_column)),
        Edit(span.end_line, span.end_column, 0, after, (0, -span.line, -span.column)),
    ]


class Parsed:
    """A text parsed by libcst, with corrected columns, as libcst drops form feeds before a statement."""

    def __init__(self, text: str, lines: Sequence[str]) -> None:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self.positions = wrapper.resolve(PositionProvider)
        written = split_lines(self.module.code) if "\f" in text else lines
        self.lacking = [len(before) - len(after) for before, after in zip(lines, written, strict=False)]

    def span(self, node: cst.CSTNode) -> Span:
        """The span of a node; for an empty tuple that of its parentheses."""
        start, end = self.positions[node].start, self.positions[node].end
        if isinstance(node, cst.Tuple) and node.lpar:
            start, end = self.positions[node.lpar[0]].start, self.positions[node.rpar[-1]].end
        lacking = self.lacking
        return Span(start.line, start.column + lacking[start.line - 1], end.line, end.column + lacking[end.line - 1])


def split_lines(text: str) -> list[str]:
    """The lines of a source text with their ends, numbered as Python numbers them."""
    return list(io.StringIO(text, newline=""))  # str.splitlines breaks at form feeds, Python does not

"""Positions of the nodes of a syntax tree: what libcst's PositionProvider computes, at a fraction of its cost.

libcst's own printer prints the tree once and records every token and every node entered and left in one list. Offsets
are sums over that list; lines and columns are looked up on demand.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, count
from typing import Self

import libcst as cst
from libcst._nodes.internal import CodegenState
from libcst.metadata import CodePosition, CodeRange

LINE_END = re.compile(r"\r\n?|\n")


class Ranges:
    """The range of every node of a tree, by node, without the layout around it; found by printing the tree.

    Args:
        tree: the tree of the whole file.
        text: what it was parsed from. libcst drops form feeds and empty continued lines before a statement; they are
            counted here.
    """

    def __init__(self, tree: cst.Module, text: str) -> None:
        printer = self._printer = _Printer(tree)
        tree._codegen(printer)  # noqa: SLF001 - the public ways to print a tree take no printer
        self._notes: Sequence[object] = printer.tokens
        lengths = [len(note) if type(note) is str else 0 for note in self._notes]
        self._offsets = list(accumulate(lengths, initial=0))
        printed = "".join([note for note in self._notes if type(note) is str])
        self._lost = _find_losses(printed, text)
        self.lines = [0, *(match.end() for match in LINE_END.finditer(text if self._lost else printed))]

    def __getitem__(self, node: cst.CSTNode) -> CodeRange:
        return CodeRange(self.start(node), self.end(node))

    def start(self, node: cst.CSTNode) -> CodePosition:
        """Where a node begins: its line (from 1) and column (from 0, in characters)."""
        return self._position(self.start_offset(node))

    def end(self, node: cst.CSTNode) -> CodePosition:
        """The place after a node's last character."""
        return self._position(self.end_offset(node))

    def start_offset(self, node: cst.CSTNode) -> int:
        """Characters of the text before a node."""
        offset = self._offsets[self._begins(node)]
        return self._in_text(offset, bisect_right(self._lost, (offset + 1,)))

    def end_offset(self, node: cst.CSTNode) -> int:
        """Characters of the text up to the end of a node."""
        offset = self._offsets[self._ends(node)]
        return self._in_text(offset, bisect_right(self._lost, (offset,)))

    def _position(self, offset: int) -> CodePosition:
        line = bisect_right(self.lines, offset)
        return CodePosition(line, offset - self.lines[line - 1])

    def _in_text(self, offset: int, n_losses: int) -> int:
        return offset + self._lost[n_losses - 1][1] if n_losses else offset

    def _begins(self, node: cst.CSTNode) -> int:
        start_node = self._printer.start_nodes.get(id(node))
        if start_node is not None:
            return self._begins(start_node)
        begin = self._printer.begins.get(id(node))
        return self._first[id(node)] if begin is None else begin

    def _ends(self, node: cst.CSTNode) -> int:
        end_node = self._printer.end_nodes.get(id(node))
        if end_node is not None:
            return self._ends(end_node)
        end = self._printer.ends.get(id(node))
        return self._last[id(node)] if end is None else end

    @cached_property
    def _first(self) -> dict[int, int]:
        """The first record of each node; few nodes need it, as most have an inner part."""
        n_notes = len(self._notes)
        return dict(zip(map(id, reversed(self._notes)), range(n_notes - 1, -1, -1), strict=True))

    @cached_property
    def _last(self) -> dict[int, int]:
        return dict(zip(map(id, self._notes), count()))


def _find_losses(printed: str, text: str) -> list[tuple[int, ...]]:
    """Offsets where the printed text lacks characters, each with the number missing up to there."""
    if printed.startswith(text):
        return []
    lost: list[tuple[int, ...]] = []
    place = 0
    for offset, character in enumerate(printed):
        position = text.find(character, place)
        if position < 0:  # the newline that the printer puts at the end
            break
        if position > place:
            lost.append((offset, position - offset))
        place = position + 1
    return lost


class _Printer(CodegenState):
    """libcst's printer state that records tokens, interleaved with nodes where they begin and end.

    Attributes:
        begins, ends: numbers of tokens where the part of a node's text begins and ends that the printer marks as its
            own, e.g. an expression without its parentheses; by the node's id.
        start_nodes, end_nodes: parts of a node with which its own text begins and ends, where the printer says so.
    """

    def __init__(self, tree: cst.Module) -> None:
        super().__init__(tree.default_indent, tree.default_newline)
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.start_nodes: dict[int, cst.CSTNode] = {}
        self.end_nodes: dict[int, cst.CSTNode] = {}
        self._open: list[int] = []
        note = self.tokens.append  # a method of the list itself, as these three are called most
        vars(self).update(add_token=note, before_codegen=note, after_codegen=note)

    def pop_trailing_newline(self) -> None:
        """Does nothing: the last record is no token, and the end of the text moves no position."""

    def record_syntactic_position(  # type: ignore[override]  # not made by contextlib, whose managers cost more
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Self:
        key = id(node)
        self._open.append(key)
        self.begins[key] = len(self.tokens)
        if start_node is not None:
            self.start_nodes[key] = start_node
        if end_node is not None:
            self.end_nodes[key] = end_node
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ends[self._open.pop()] = len(self.tokens)

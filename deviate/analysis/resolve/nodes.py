"""Where the nodes of a project's trees stand: their parents, functions, loops, files and lines."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import libcst as cst

from deviate.analysis.resolve.index import Function, LoopNode
from deviate.analysis.resolve.source import Source
from deviate.analysis.resolve.tree import children
from deviate.model import Place


class Nodes:
    """Answers for the nodes of all files that were read.

    Attributes:
        parents: of each node; functions: of each definition and top level, the function.
        numbers: of each node, in reading order; those of the parts of a node follow its own without a gap.
        dead: of nodes, whether nothing reaches them; behind_exit: statements of a block that nothing reaches; of those
            that somebody asked for (`order.is_dead`).
    """

    def __init__(self) -> None:
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.functions: dict[cst.CSTNode, Function] = {}
        self.numbers: dict[cst.CSTNode, int] = {}
        self.dead: dict[cst.CSTNode, bool] = {}
        self.behind_exit: dict[cst.CSTNode, frozenset[cst.CSTNode]] = {}
        self._function_of: dict[cst.CSTNode, Function] = {}
        self._ends: dict[cst.CSTNode, int] = {}
        self._codes: dict[cst.CSTNode, str] = {}
        self._loops_around: dict[cst.CSTNode, list[LoopNode]] = {}

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The parent, its parent, and so on to the module."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def end(self, node: cst.CSTNode) -> int:
        """The number after those of a node and all its parts."""
        if node not in self._ends:
            self._ends[node] = self._find_end(node)
        return self._ends[node]

    def _find_end(self, node: cst.CSTNode) -> int:
        parent = self.parents.get(node)
        if parent is None:
            return self.functions[node].module.end
        siblings = children(parent)
        place = next(number for number, sibling in enumerate(siblings, 1) if sibling is node)
        return self.numbers[siblings[place]] if place < len(siblings) else self.end(parent)

    def within(self, node: cst.CSTNode, numbered: Sequence[cst.CSTNode]) -> Sequence[cst.CSTNode]:
        """Those of the nodes, which stand in the order of their numbers, that are a node or parts of it."""
        first = bisect_left(numbered, self.numbers[node], key=self.numbers.__getitem__)
        return numbered[first : bisect_left(numbered, self.end(node), key=self.numbers.__getitem__)]

    def function_of(self, node: cst.CSTNode) -> Function:
        """The function in whose frame a node runs."""
        function = self._function_of.get(node)  # asked once: a node's hash is slow
        if function is None:
            function = self._function_of[node] = self._find_function_of(node)
        return function

    def _find_function_of(self, node: cst.CSTNode) -> Function:
        if isinstance(node, cst.Module):
            return self.functions[node]
        below = node
        for parent in self.ancestors(node):
            if parent in self.functions and (not isinstance(parent, cst.FunctionDef) or below is parent.body):
                return self.functions[parent]
            below = parent
        raise KeyError(node)

    def source(self, node: cst.CSTNode) -> Source:
        return self.function_of(node).source

    def line(self, node: cst.CSTNode) -> int:
        return self.source(node).line(node)

    def place(self, node: cst.CSTNode) -> Place:
        source = self.source(node)
        return Place(source.file, source.line(node))

    def code(self, node: cst.CSTNode) -> str:
        """An expression as it is spelled, on one line."""
        if node not in self._codes:
            self._codes[node] = self.source(node).code(node)
        return self._codes[node]

    def statement_line(self, node: cst.CSTNode) -> int:
        """First line of the simple statement, or of the compound statement's header, in which a node stands."""
        for parent in (node, *self.ancestors(node)):
            if isinstance(parent, cst.BaseSmallStatement | cst.BaseCompoundStatement | cst.Decorator):
                return self.line(parent)
        return self.line(node)

    def loops_around(self, node: cst.CSTNode) -> list[LoopNode]:
        """Loops of the same frame in whose body a node stands, outermost first."""
        loops = self._loops_around.get(node)
        if loops is None:
            loops = self._loops_around[node] = self._find_loops_around(node)
        return loops

    def _find_loops_around(self, node: cst.CSTNode) -> list[LoopNode]:
        found: list[LoopNode] = []
        below = node
        for parent in self.ancestors(node):
            if isinstance(parent, cst.For | cst.While) and below is parent.body:
                found.append(parent)
            if isinstance(parent, cst.While) and below is parent.test:
                found.append(parent)
            if isinstance(parent, cst.FunctionDef | cst.ClassDef) and below is parent.body:
                break
            below = parent
        return found[::-1]

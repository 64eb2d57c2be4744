"""Call graph over the files of a project: which functions a script reaches, by which calls, on which call paths."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from deviate.analysis.resolve.abstract_values import Edge
from deviate.analysis.resolve.edges import EdgeFinder
from deviate.analysis.resolve.index import Function, LoopNode
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.resolve import Resolver
from deviate.analysis.resolve.tree import imported_names
from deviate.model import Place

DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.Module)
MOST_CALL_PATHS = 32
LONGEST_CALL_PATH = 24
MOST_ROUNDS = 6
MOST_TRIED = 4000
"""Limit of calls followed for the call paths to one function: mutually recursive functions have too many."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on a call path.

    Attributes:
        node: the call in this frame, or the target node in the last frame. edge: of the call; None in the last frame.
    """

    function: Function
    node: cst.CSTNode
    edge: Edge | None = None


CallPath = tuple[Frame, ...]


class CallGraph:
    """Call graph of the functions that the script reaches.

    Attributes:
        reached: functions that may run, the top level of the script first.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.nodes = project.nodes
        self.resolver = Resolver(project)
        self.reached: dict[Function, None] = {}
        self._out: dict[cst.CSTNode, list[Edge]] = {}
        self._leaving: list[cst.CSTNode] = []
        self._frames: dict[cst.CSTNode, cst.CSTNode] = {}
        self._tried = 0
        self._known_call_paths: dict[Function, list[CallPath]] = {}
        self._known_callees: dict[Function, list[Function]] = {}
        self._build()

    # ------------------------------------------------------------ questions

    @property
    def calls(self) -> list[tuple[cst.Call, Function]]:
        """Calls in all reached code, and in functions of the script that are never called."""
        return [(call, function) for function in self.functions for call in function.calls]

    @property
    def functions(self) -> list[Function]:
        """The reached functions, and the others of the script."""
        return list(dict.fromkeys([*self.reached, *self.project.entry.scopes]))

    @property
    def loops(self) -> list[tuple[LoopNode, Function]]:
        """The loops in reached code."""
        modules = {function.module: None for function in self.reached}
        return [(loop, function) for module in modules for loop, function in module.loops if function in self.reached]

    @cached_property
    def imported_packages(self) -> frozenset[str]:
        """Top-level packages imported by any file that was read."""
        targets = (
            name
            for module in self.project.modules.values()
            for scope in module.scopes
            for statement in scope.imports
            for name, _ in imported_names(statement)
        )
        return frozenset(target.split(".")[0] for target in targets)

    def edges_into(self, function: Function) -> list[Edge]:
        return self.resolver.edges.get(function, [])

    def callees(self, node: cst.CSTNode) -> Iterator[Function]:
        """Functions of the project that run when a node runs, directly or indirectly; each once."""
        seen: set[Function] = set()
        waiting = list(self._callees_in(node))
        while waiting:
            callee = waiting.pop()
            if callee not in seen:
                seen.add(callee)
                yield callee
                if callee not in self._known_callees:
                    self._known_callees[callee] = list(self._callees_in(callee.node))
                waiting += self._known_callees[callee]

    def call_paths(self, node: cst.CSTNode) -> list[CallPath]:
        """The call paths from the top level of the script to a node, in source order; none when it is never reached."""
        function = self.nodes.function_of(node)
        return [(*call_path, Frame(function, node)) for call_path in self._calls_leading_to(function)]

    def place(self, frame: Frame) -> Place:
        """The line that a traceback would show for the frame."""
        node = frame.node
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.attr
        return self.nodes.place(node)

    def release(self) -> None:
        """Break the reference cycles of the graph, in which the garbage collector is slow.

        The graph cannot be used any more.
        """
        scopes = [scope for module in self.project.modules.values() for scope in module.scopes]
        for part in (*scopes, *self.project.modules.values(), self.nodes, self.resolver, self.project, self):
            vars(part).clear()

    # ------------------------------------------------------------ inside

    def _calls_leading_to(self, function: Function) -> list[CallPath]:
        """The call paths to a function, as lists of calls."""
        if function not in self._known_call_paths:
            call_paths: list[CallPath] = []
            if function in self.reached:
                self._tried = 0
                self._extend(function, (), frozenset({function}), call_paths)
            self._known_call_paths[function] = call_paths
        return self._known_call_paths[function]

    def _extend(
        self, function: Function, tail: CallPath, passed: frozenset[Function], call_paths: list[CallPath]
    ) -> None:
        if function is self.project.entry.top:
            call_paths.append(tail)
            return
        for edge in self.edges_into(function):
            self._tried += 1
            if len(call_paths) >= MOST_CALL_PATHS or len(tail) > LONGEST_CALL_PATH or self._tried > MOST_TRIED:
                return
            if edge.caller not in passed:
                frame = Frame(edge.caller, edge.node, edge)
                self._extend(edge.caller, (frame, *tail), passed | {edge.caller}, call_paths)

    def _callees_in(self, node: cst.CSTNode) -> Iterator[Function]:
        """The callees in a node, except in functions and classes defined there; the last call first."""
        frame = node if isinstance(node, DEFINITIONS) else self._frame(node)
        leaving = [
            node_there
            for node_there in self.nodes.within(node, self._leaving)
            if node_there is node or self._frame(node_there) is frame
        ]
        leaving.sort(key=lambda node_there: (-self.nodes.end(node_there), self.nodes.numbers[node_there]))
        for node_there in leaving:
            yield from (edge.callee for edge in self._out[node_there])

    def _frame(self, node: cst.CSTNode) -> cst.CSTNode:
        """The function, class or module that a node is a part of."""
        if node not in self._frames:
            self._frames[node] = next(
                parent for parent in self.nodes.ancestors(node) if isinstance(parent, DEFINITIONS)
            )
        return self._frames[node]

    def _build(self) -> None:
        """Follow calls until nothing new is found: callees may depend on callbacks found later."""
        finder = EdgeFinder(self.project, self.resolver)
        before = None
        for _ in range(MOST_ROUNDS):
            self.resolver.forget()
            self._round(finder)
            after = (len(finder.found), len(self.project.modules), len(self.resolver.instantiated), len(self.reached))
            if after == before:
                break
            before = after
        finder.settle()
        for edge in finder.found:
            self._out.setdefault(edge.node, []).append(edge)
        self._leaving = sorted(self._out, key=self.nodes.numbers.__getitem__)

    def _round(self, finder: EdgeFinder) -> None:
        waiting = [*reversed(self.reached), self.project.entry.top]
        passed: set[Function] = set()
        while waiting:
            function = waiting.pop()
            if function in passed:
                continue
            passed.add(function)
            self.reached[function] = None
            waiting += finder.callees(function)

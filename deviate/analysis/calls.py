"""Call graph of the functions in the file, and the ways from the top level of the script to a place."""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from deviate.model import Place

from .index import Function, Index
from .tree import children, dotted, keywords, positional

MOST_WAYS = 32
LONGEST_WAY = 24


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on the way to a place: the function, and the call (or the place itself) where it is left."""

    function: Function
    node: cst.CSTNode


Way = tuple[Frame, ...]


class CallGraph:
    """Who calls whom. A function handed over as an argument counts as called there."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.sites: dict[Function, list[tuple[cst.Call, Function]]] = {}
        for call, function in index.calls:
            for callee in self._callees(call, function):
                self.sites.setdefault(callee, []).append((call, function))

    def call_sites(self, function: Function) -> list[tuple[cst.Call, Function]]:
        return self.sites.get(function, [])

    def callees(self, node: cst.CSTNode) -> Iterator[Function]:
        """Functions of the file that run when a node runs, those called by them included; each once."""
        seen: set[Function] = set()
        waiting: list[cst.CSTNode] = [node]
        while waiting:
            for callee in self._called_in(waiting.pop()):
                if callee not in seen:
                    seen.add(callee)
                    waiting.append(callee.node)
                    yield callee

    def ways(self, node: cst.CSTNode) -> list[Way]:
        """The ways from the top level of the script to a node, in source order; none when it is never reached."""
        found: list[Way] = []
        self._extend(self.index.function_of(node), (Frame(self.index.function_of(node), node),), found)
        return found

    def place(self, frame: Frame) -> Place:
        """The line that a traceback would show for the frame."""
        node = frame.node
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.attr
        return Place(self.index.source.file, self.index.source.line(node))

    def _extend(self, function: Function, tail: Way, found: list[Way]) -> None:
        if function.is_module:
            found.append(tail)
            return
        for call, caller in self.call_sites(function):
            if len(found) >= MOST_WAYS or len(tail) > LONGEST_WAY:
                return
            if all(frame.function is not caller for frame in tail):
                self._extend(caller, (Frame(caller, call), *tail), found)

    def _called_in(self, node: cst.CSTNode) -> Iterator[Function]:
        waiting = [node]
        while waiting:
            current = waiting.pop()
            if isinstance(current, cst.Call):
                yield from self._callees(current, self.index.function_of(current))
            if current is node or not isinstance(current, cst.FunctionDef | cst.ClassDef):
                waiting.extend(children(current))

    def _callees(self, call: cst.Call, function: Function) -> Iterator[Function]:
        target = self._target(call.func, function)
        if target is not None:
            yield target
        elif isinstance(call.func, cst.Attribute) and dotted(call.func).endswith("app.run") and not call.args:
            main = self._target(cst.Name("main"), self.index.module)
            if main is not None:
                yield main
        for argument in (*positional(call), *keywords(call).values()):
            if isinstance(argument, cst.Name | cst.Attribute):
                handed = self._target(argument, function)
                if handed is not None:
                    yield handed

    def _target(self, node: cst.BaseExpression, function: Function) -> Function | None:
        """The function of the file that a callee names: a function, a class (its `__init__`), or a method."""
        if isinstance(node, cst.Name):
            _, bindings = self.index.find(node.value, function)
            definition = next((b.node for b in reversed(bindings) if b.how == "define"), None)
            if isinstance(definition, cst.FunctionDef):
                return self.index.by_node[definition]
            if isinstance(definition, cst.ClassDef):
                return self.index.method(node.value, "__init__")
            return None
        if isinstance(node, cst.Attribute):
            owner = self.class_of(node.value, function)
            return self.index.method(owner, node.attr.value) if owner else None
        return None

    def class_of(self, node: cst.BaseExpression, function: Function, depth: int = 5) -> str | None:
        """The class of the file that an expression is an instance of; None when that cannot be seen."""
        if depth == 0:
            return None
        if isinstance(node, cst.Name):
            if node.value == "self":
                owner: Function | None = function
                while owner is not None and owner.class_name is None:
                    owner = owner.parent
                return owner.class_name if owner else None
            scope, bindings = self.index.find(node.value, function)
            for binding in bindings:
                if binding.how == "define" and isinstance(binding.node, cst.ClassDef):
                    return node.value
                if binding.how == "assign" and not binding.way and isinstance(binding.value, cst.BaseExpression):
                    found = self.class_of(binding.value, scope, depth - 1)
                    if found:
                        return found
            return None
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Name) and node.func.value in self.index.classes:
                return node.func.value
            if isinstance(node.func, cst.Name) and node.func.value == "super":
                owner_name = self.class_of(cst.Name("self"), function)
                known = self.index.classes.get(owner_name or "")
                return next((base for base in known.bases if base in self.index.classes), None) if known else None
            if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("to", "cuda", "cpu"):
                return self.class_of(node.func.value, function, depth - 1)
        if isinstance(node, cst.Attribute) and dotted(node.value) == "self":
            owner_name = self.class_of(node.value, function)
            known = self.index.classes.get(owner_name or "")
            for binding, where in known.attributes.get(node.attr.value, []) if known else []:
                if isinstance(binding.value, cst.BaseExpression) and not binding.way:
                    found = self.class_of(binding.value, where, depth - 1)
                    if found:
                        return found
        return None

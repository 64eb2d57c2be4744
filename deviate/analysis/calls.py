"""Call graph of the functions in the file, and the ways from the top level of the script to a place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.model import Place

from .index import Binding, Function, Index
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
        self._known_ways: dict[Function, list[Way]] = {}
        self._known_callees: dict[Function, list[Function]] = {}
        for call, function in index.calls:
            for callee in self._callees(call, function):
                self.sites.setdefault(callee, []).append((call, function))

    def call_sites(self, function: Function) -> list[tuple[cst.Call, Function]]:
        return self.sites.get(function, [])

    def is_handed(self, call: cst.Call, caller: Function, callee: Function) -> bool:
        """Whether a call only hands the function over: when it runs, and with which arguments, is not told there."""
        return self.target(call.func, caller) is not callee

    def callees(self, node: cst.CSTNode) -> Iterator[Function]:
        """Functions of the file that run when a node runs, those called by them included; each once."""
        seen: set[Function] = set()
        waiting = list(self._called_in(node))
        while waiting:
            callee = waiting.pop()
            if callee not in seen:
                seen.add(callee)
                yield callee
                if callee not in self._known_callees:
                    self._known_callees[callee] = list(self._called_in(callee.node))
                waiting += self._known_callees[callee]

    def ways(self, node: cst.CSTNode) -> list[Way]:
        """The ways from the top level of the script to a node, in source order; none when it is never reached."""
        function = self.index.function_of(node)
        return [(*way, Frame(function, node)) for way in self._ways_to(function)]

    def place(self, frame: Frame) -> Place:
        """The line that a traceback would show for the frame."""
        node = frame.node
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.attr
        return Place(self.index.source.file, self.index.source.line(node))

    def _ways_to(self, function: Function) -> list[Way]:
        """The calls that lead into a function, for each way to it."""
        if function not in self._known_ways:
            found: list[Way] = []
            self._extend(function, (), frozenset({function}), found)
            self._known_ways[function] = found
        return self._known_ways[function]

    def _extend(self, function: Function, tail: Way, passed: frozenset[Function], found: list[Way]) -> None:
        if function.is_module:
            found.append(tail)
            return
        for call, caller in self.call_sites(function):
            if len(found) >= MOST_WAYS or len(tail) > LONGEST_WAY:
                return
            if caller not in passed:
                self._extend(caller, (Frame(caller, call), *tail), passed | {caller}, found)

    def _called_in(self, node: cst.CSTNode) -> Iterator[Function]:
        waiting = [node]
        while waiting:
            current = waiting.pop()
            if isinstance(current, cst.Call):
                yield from self._callees(current, self.index.function_of(current))
            if current is node or not isinstance(current, cst.FunctionDef | cst.ClassDef):
                waiting.extend(children(current))

    def _callees(self, call: cst.Call, function: Function) -> Iterator[Function]:
        target = self.target(call.func, function)
        if target is not None:
            yield target
        elif isinstance(call.func, cst.Attribute) and dotted(call.func).endswith("app.run") and not call.args:
            main = self.target(cst.Name("main"), self.index.module)
            if main is not None:
                yield main
        for argument in (*positional(call), *keywords(call).values()):
            if isinstance(argument, cst.Name | cst.Attribute):
                handed = self.target(argument, function)
                if handed is not None:
                    yield handed

    def target(self, node: cst.BaseExpression, function: Function) -> Function | None:
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
            return self._class_of_name(node.value, function, depth)
        if isinstance(node, cst.Call):
            return self._class_of_call(node, function, depth)
        if isinstance(node, cst.Attribute) and dotted(node.value) == "self":
            return self._class_of_attribute(node, function, depth)
        return None

    def _class_of_name(self, name: str, function: Function, depth: int) -> str | None:
        if name == "self":
            owner: Function | None = function
            while owner is not None and owner.class_name is None:
                owner = owner.parent
            return owner.class_name if owner else None
        scope, bindings = self.index.find(name, function)
        if any(binding.how == "define" and isinstance(binding.node, cst.ClassDef) for binding in bindings):
            return name
        return self._first_class([(binding, scope) for binding in bindings if binding.how == "assign"], depth)

    def _class_of_call(self, call: cst.Call, function: Function, depth: int) -> str | None:
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in {"to", "cuda", "cpu"}:
            return self.class_of(call.func.value, function, depth - 1)
        if not isinstance(call.func, cst.Name):
            return None
        if call.func.value == "super":
            known = self.index.classes.get(self._class_of_name("self", function, depth) or "")
            return next((base for base in known.bases if base in self.index.classes), None) if known else None
        return call.func.value if call.func.value in self.index.classes else None

    def _class_of_attribute(self, node: cst.Attribute, function: Function, depth: int) -> str | None:
        known = self.index.classes.get(self.class_of(node.value, function) or "")
        return self._first_class(known.attributes.get(node.attr.value, []), depth) if known else None

    def _first_class(self, bindings: Sequence[tuple[Binding, Function]], depth: int) -> str | None:
        """The class of the first value bound that shows one."""
        values = [(binding.value, where) for binding, where in bindings if not binding.way]
        told = (
            self.class_of(value, where, depth - 1) for value, where in values if isinstance(value, cst.BaseExpression)
        )
        return next((name for name in told if name), None)

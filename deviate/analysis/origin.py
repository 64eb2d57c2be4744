"""Where a value comes from: its origin, found by following names, calls and operations backwards."""

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from .callables import (
    CLOCKS,
    ENUMERATIONS,
    MEMORY_CALLS,
    PARSERS,
    PASSING,
    SETTINGS,
    SIZE_PARTS,
    SIZES,
    TEXT_PARTS,
    TEXTS,
)
from .calls import CallGraph
from .index import Binding, Class, Function
from .things import Instance
from .tree import constant_number, constant_text, dotted, element, identifiers, last_name, positional
from .words import NEUTRAL, QUALITY, RATES, all_words, words

DEEPEST = 14
MOST_CALLS = 16
MEASURING = (QUALITY - NEUTRAL) | {"criterion", "evaluate", "validate"}


@dataclass(frozen=True, slots=True)
class Origin:
    """What a value is, as far as the source tells.

    Attributes:
        kind: `counter`, `size`, `setting`, `rate` (learning rate), `clock`, `duration`, `speed`, `memory`, `text`,
            `constant`, `object`, `quality`, `computed`, `cycle` (the value it had before), `unknown`.
        reason: the telling step, for the user.
    """

    kind: str
    reason: str = ""


UNKNOWN = Origin("unknown")
WEIGHT = (
    *("quality", "duration", "speed", "computed", "memory", "rate", "clock", "counter", "size"),
    *("unknown", "setting", "text", "object", "constant", "cycle"),
)
"""Kinds of origin, the most telling first."""


def strongest(origins: Iterable[Origin]) -> Origin:
    """The origin that decides where several meet."""
    return min(origins, key=lambda origin: WEIGHT.index(origin.kind), default=UNKNOWN)


class Origins:
    """Answers where expressions come from."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.active: set[object] = set()
        self.met: set[object] = set()
        self.known: dict[object, Origin] = {}

    def of(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Origin:
        """The origin of an expression, seen from a function."""
        if depth == 0:
            return UNKNOWN
        if constant_number(node) is not None:
            return Origin("constant", "a constant")
        if isinstance(node, cst.BaseString):
            return Origin("text", "a text")
        depth -= 1
        match node:
            case cst.Name():
                return self._name(node, function, depth)
            case cst.Attribute():
                return self._attribute(node, function, depth)
            case cst.Subscript():
                return self._item(node, function, depth)
            case cst.Call():
                return self._call(node, function, depth)
            case cst.BinaryOperation(operator=cst.Modulo() | cst.Add(), left=cst.BaseString()):
                return Origin("text", "a text")
            case cst.BinaryOperation():
                return self._operation(node, function, depth)
        return self._other(node, function, depth)

    def _other(self, node: cst.CSTNode, function: Function, depth: int) -> Origin:
        match node:
            case cst.UnaryOperation() | cst.Await():
                return self.of(node.expression, function, depth)
            case cst.IfExp():
                return strongest([self.of(node.body, function, depth), self.of(node.orelse, function, depth)])
            case cst.BooleanOperation():
                return strongest([self.of(node.left, function, depth), self.of(node.right, function, depth)])
            case cst.Comparison():
                return Origin("computed", "counted from a comparison")
            case cst.Lambda():
                return Origin("object", "a function")
        return UNKNOWN

    def _name(self, node: cst.Name, function: Function, depth: int) -> Origin:
        name = node.value
        if name in ("True", "False", "None", "__name__", "__file__"):
            return Origin("constant", "a constant")
        if name.lower() in SETTINGS:
            return Origin("setting", f"setting: the program's options ({name})")
        scope, bindings = self.resolver.find(name, function)
        key = (scope, name)
        if key in self.known:
            return self.known[key]
        if key in self.active:
            self.met.add(key)
            return Origin("cycle")
        self.active.add(key)
        found = self._bound(name, scope, bindings, depth)
        self.active.discard(key)
        self.met.discard(key)
        if not self.met:  # else the answer holds only inside the cycle
            self.known[key] = found
        return found

    def _bound(self, name: str, scope: Function, bindings: list[Binding], depth: int) -> Origin:
        found = [
            self._binding(name, binding, scope, depth)
            for binding in bindings
            if binding.how not in ("item", "declared")
        ]
        known = [origin for origin in found if origin.kind not in ("constant", "cycle")]
        if known:
            return strongest(known)
        if not found:
            return UNKNOWN
        line = self.nodes.line(bindings[0].node)
        if (scope.is_module and name.isupper()) or len(bindings) == 1:
            return Origin("setting", f"setting: constant since line {line}")
        return Origin("constant", f"only constants are assigned (line {line})")

    def _binding(self, name: str, binding: Binding, scope: Function, depth: int) -> Origin:
        where = self.nodes.line(binding.node)
        if binding.how == "parameter":
            return self._parameter(name, binding, scope, depth)
        if binding.how == "for" and binding.value is not None:
            return self._loop_target(binding.value, binding, scope, depth, where)
        if binding.how == "add" and binding.value is not None:
            return self._added(name, binding, binding.value, scope, depth, where)
        if binding.how in {"define", "import"}:
            return Origin("object", f"defined at line {where}") if binding.how == "define" else UNKNOWN
        if binding.how == "assign" and binding.value is not None:
            value: cst.CSTNode | None = binding.value
            way = binding.way
            while way and isinstance(value, cst.BaseExpression) and element(value, way[0]) is not None:
                value, way = element(value, way[0]), way[1:]
            if way and isinstance(value, cst.Call):
                returned = self._returned(value, scope, depth, way[0])
                if returned is not None:
                    return returned
            return self.of(value, scope, depth) if value is not None else UNKNOWN
        return UNKNOWN

    def _added(
        self, name: str, binding: Binding, value: cst.CSTNode, scope: Function, depth: int, where: int
    ) -> Origin:
        if not isinstance(binding.node, cst.AugAssign) or isinstance(
            binding.node.operator, cst.AddAssign | cst.SubtractAssign
        ):
            number = constant_number(value)
            if number is not None and not number.is_integer():
                return Origin("computed", f"changed at line {where}")
            if number is not None:
                conditional = any(
                    isinstance(parent, cst.If) for parent in self.nodes.ancestors(binding.node)
                ) and QUALITY.intersection(words(name))
                return Origin("quality" if conditional else "counter", f"counted up at line {where}")
            added = self.of(value, scope, depth)
            if added.kind in ("setting", "size", "counter"):
                return Origin("counter", f"adds up sizes at line {where}")
            return added
        return Origin("computed", f"changed at line {where}")

    def _parameter(self, name: str, binding: Binding, function: Function, depth: int) -> Origin:
        if name not in function.parameters:
            return UNKNOWN
        found = []
        for edge in self.graph.edges_into(function)[:MOST_CALLS]:
            given = edge.argument(name)
            if given is not None:
                found.append(self.of(*given, depth))
            elif edge.how in ("handed", "named"):
                found.append(UNKNOWN)
        if not found:
            if binding.value is not None:
                return self.of(binding.value, function, depth)
            return UNKNOWN
        return strongest(found)

    def _loop_target(self, iterable: cst.CSTNode, binding: Binding, scope: Function, depth: int, where: int) -> Origin:
        while (
            isinstance(iterable, cst.Call)
            and last_name(iterable.func) in ("tqdm", "track", "list", "reversed")
            and iterable.args
        ):
            iterable = iterable.args[0].value
        if isinstance(iterable, cst.Call):
            called = last_name(iterable.func)
            first = not binding.way or binding.way[0] == 0
            if called in ENUMERATIONS and first:
                return Origin("counter", f"counter of the loop at line {where}")
            if called == "items" and binding.way[:1] == (0,):
                return Origin("text", f"key of a dict (line {where})")
            if called == "items" and isinstance(iterable.func, cst.Attribute):
                inner = self.of(iterable.func.value, scope, depth)
                return inner if inner.kind != "object" else UNKNOWN
        if isinstance(iterable, cst.Tuple | cst.List):
            items = [item.value for item in iterable.elements if isinstance(item, cst.Element)]
            if items and all(constant_text(item) is not None for item in items):
                return Origin("text", f"one of the texts at line {where}")
            if items and all(constant_number(item) is not None for item in items):
                return Origin("counter", f"counter of the loop at line {where}")
        return UNKNOWN

    def _attribute(self, node: cst.Attribute, function: Function, depth: int) -> Origin:
        name = node.attr.value
        if name in SIZE_PARTS:
            return Origin("size", "size: a shape or number of examples")
        if name in TEXT_PARTS:
            return Origin("text", "a name or text")
        if isinstance(node.value, cst.Name) and self._is_receiver(node.value.value, function):
            classes = [it.cls for it in self.resolver.of(node.value, function) if isinstance(it, Instance)]
            return self._attribute_of(classes, name, depth)
        base = self.of(node.value, function, depth)
        if base.kind == "setting":
            return Origin("setting", f"setting: read from {dotted(node.value)}")
        if base.kind in ("quality", "size", "memory", "clock", "text"):
            return base
        return UNKNOWN

    def _is_receiver(self, name: str, function: Function) -> bool:
        scope, _ = self.resolver.find(name, function)
        return scope.receiver == name

    def _attribute_of(self, classes: list[Class], name: str, depth: int) -> Origin:
        """The origin of what the methods of a class assign to `self.name`."""
        found = []
        for base in dict.fromkeys(base for cls in classes for base in self.resolver.order(cls)[0]):
            if name not in base.attributes or (base, name) in self.active:
                continue
            self.active.add((base, name))
            found += [
                self._binding(name, binding, where, depth)
                for binding, where in base.attributes[name]
                if binding.how not in ("item", "declared")
            ]
            self.active.discard((base, name))
        moving = [origin for origin in found if origin.kind not in ("constant", "cycle")]
        return strongest(moving) if moving else UNKNOWN

    def _item(self, node: cst.Subscript, function: Function, depth: int) -> Origin:
        path = dotted(node)
        if "param_groups" in path:
            found = words(" ".join(identifiers(node)))
            if RATES.intersection(found):
                return Origin("rate", "setting: learning rate, read from the optimizer")
            return Origin("setting", "setting: read from the optimizer")
        if path.startswith(("os.environ", "sys.argv")):
            return Origin("setting", "setting: read from the environment")
        base = self.of(node.value, function, depth)
        return base if base.kind != "constant" else UNKNOWN

    def _call(self, node: cst.Call, function: Function, depth: int) -> Origin:
        qualified = self.resolver.qualified(node.func, function) or ""
        name = last_name(node.func)
        arguments = positional(node)
        told = self._by_name(node, qualified, name) or self._returned(node, function, depth)
        if told is not None:
            return told
        if name in PASSING:
            if isinstance(node.func, cst.Attribute) and not self._is_module(node.func.value, function):
                inner = self.of(node.func.value, function, depth)
            else:
                inner = self.of(arguments[0], function, depth) if arguments else UNKNOWN
            return Origin("computed", f"computed by {name}()") if inner.kind in {"unknown", "object"} else inner
        if MEASURING.intersection(words(name)):
            return Origin("quality", f"result of {dotted(node.func)}()")
        return UNKNOWN

    def _by_name(self, node: cst.Call, qualified: str, name: str) -> Origin | None:
        """The origin that the name of a callee tells."""
        spelled = f"{dotted(node.func)}()"
        if qualified in CLOCKS or name in {"perf_counter", "default_timer"}:
            return Origin("clock", f"clock reading: {spelled}")
        if qualified in SIZES or name in SIZE_PARTS:
            return Origin("size", f"size: {self.nodes.code(node)}")
        if qualified in TEXTS or name in TEXT_PARTS or qualified.startswith("os.path."):
            return Origin("text", "a name or text")
        if name in PARSERS:
            return Origin("setting", f"setting: read by {spelled}")
        if name in {"get_last_lr", "get_lr"}:
            return Origin("rate", "setting: learning rate, read from the scheduler")
        if name in MEMORY_CALLS:
            return Origin("memory", f"memory: {spelled}")
        if name in {"elapsed", "elapsed_time"}:
            return Origin("duration", f"time: {spelled}")
        return None

    def _is_module(self, node: cst.BaseExpression, function: Function) -> bool:
        if not isinstance(node, cst.Name | cst.Attribute):
            return False
        root: cst.BaseExpression = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if not isinstance(root, cst.Name):
            return False
        _, bindings = self.resolver.find(root.value, function)
        return bool(bindings) and bindings[0].how == "import"

    def _returned(self, call: cst.Call, function: Function, depth: int, item: int | None = None) -> Origin | None:
        """The origin of what a function of the project returns (or of one item of it); None for any other."""
        callee = next((it.function for it in self.resolver.functions(call.func, function)), None)
        if callee is None or callee.name == "__init__" or depth <= 0 or callee in self.active:
            return None
        self.active.add(callee)
        try:
            found = []
            for value in callee.returns:
                part = element(value, item) if item is not None else value
                found.append(self.of(part, callee, depth) if part is not None else UNKNOWN)
            result = strongest(found)
        finally:
            self.active.discard(callee)
        if result.kind in {"unknown", "computed"} and item is None:
            told = all_words([callee.name, *(name for value in callee.returns for name in identifiers(value))])
            if MEASURING.intersection(told):
                return Origin("quality", f"result of {callee.name}()")
        return result if found else None

    def _operation(self, node: cst.BinaryOperation, function: Function, depth: int) -> Origin:
        left, right = self.of(node.left, function, depth), self.of(node.right, function, depth)
        kinds = {left.kind, right.kind}
        if (
            isinstance(node.operator, cst.Subtract)
            and "clock" in kinds
            and kinds <= {"clock", "unknown", "constant", "setting", "computed"}
        ):
            return Origin("duration", "difference of two clock readings")
        if isinstance(node.operator, cst.Divide | cst.FloorDivide):
            if right.kind == "duration" and left.kind != "duration":
                return Origin("speed", "amount divided by elapsed time")
            if left.kind == "duration":
                return Origin("duration", left.reason)
        if "cycle" in kinds and kinds <= {"cycle", "constant"}:
            step = constant_number(node.right)
            counts = isinstance(node.operator, cst.Add | cst.Subtract) and step is not None and step.is_integer()
            return Origin("counter", "counts up") if counts else Origin("computed", "changed in each step")
        if kinds <= {"counter", "size", "setting", "constant", "cycle"} and kinds - {"constant", "cycle"}:
            if "counter" in kinds:
                source = left if left.kind == "counter" else right
                return Origin(
                    "counter", f"counter: computed from the {source.reason.removeprefix('counter: computed from the ')}"
                )
            if isinstance(node.operator, cst.Divide) and "size" in kinds and "setting" in kinds:
                return Origin("size", "size: computed from sizes and settings")
            return left if left.kind in ("size", "setting") else right
        if kinds == {"constant"}:
            return Origin("constant", "a constant")
        result = strongest([left, right] if not isinstance(node.operator, cst.Divide | cst.FloorDivide) else [left])
        if (
            isinstance(node.operator, cst.Divide | cst.FloorDivide)
            and left.kind in ("counter", "size")
            and right.kind in ("unknown", "cycle")
        ):
            return UNKNOWN
        if result.kind in ("unknown", "cycle", "setting", "constant", "size", "counter"):
            return Origin("computed", "computed") if kinds & {"unknown", "computed"} else result
        return result

"""Where a value comes from: its origin, found by following names, calls and operations backwards."""

from collections.abc import Iterable

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument
from deviate.analysis.resolve.callables import ENUMERATIONS, SETTINGS, WRAPPINGS
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import COUNTERS, QUALITY, words
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.origin.arithmetic import CONDITIONAL, combined
from deviate.analysis.resolve.origin.calls import Results
from deviate.analysis.resolve.origin.kinds import UNKNOWN, Origin, strongest
from deviate.analysis.resolve.origin.objects import SHARED, Holders
from deviate.analysis.resolve.origin.texts import Texts
from deviate.analysis.resolve.tree import constant_number, constant_text, element, last_name, walk

DEEPEST = 14
MOST_CALLS = 16
MOST_ITEMS = 16
MOST_STEPS = 3000
"""Expressions that one answer may depend on: functions that all call each other depend on each other in every order."""
COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
LISTS = ("list", "deque", "dict", "OrderedDict", "defaultdict")


class Origins:
    """Answers where expressions come from."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.holders = Holders(self)
        self.results = Results(self)
        self.texts = Texts(self)
        self.active: set[object] = set()
        self.met: set[object] = set()
        self.known: dict[object, Origin] = {}
        self.steps = 0

    def of(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Origin:
        """The origin of an expression, seen from a function."""
        self.steps = self.steps + 1 if self.active else 0
        if depth == 0 or self.steps > MOST_STEPS:
            return UNKNOWN
        if constant_number(node) is not None:
            return Origin("constant", "a constant")
        depth -= 1
        text = self.texts.of(node, function, depth)
        if text is not None:
            return text
        match node:
            case cst.Name():
                return self._name(node, function, depth)
            case cst.Attribute():
                return self.holders.attribute(node, function, depth)
            case cst.Subscript():
                return self.holders.item(node, function, depth)
            case cst.Call():
                return self.results.call(node, function, depth)
            case cst.BinaryOperation():
                left, right = self.of(node.left, function, depth), self.of(node.right, function, depth)
                return combined(node.operator, left, right, constant_number(node.right))
        return self._other(node, function, depth)

    def strongest(self, arguments: Iterable[Argument], depth: int) -> Origin:
        """The origin that decides among several expressions."""
        return strongest(self.of(*argument, depth) for argument in list(arguments)[:MOST_ITEMS])

    def changing_line(self, node: cst.CSTNode, function: Function) -> int | None:
        """Line of the innermost loop, around what gives a name of an expression its value, that sets it anew."""
        for part in walk(node):
            if isinstance(part, cst.Name):
                _, bindings = self.resolver.find(part.value, function)
                for binding in bindings:
                    loops = self.nodes.loops_around(binding.node) if binding.how in ("assign", "add") else []
                    if loops:
                        return self.nodes.line(loops[-1])
        return None

    def _other(self, node: cst.CSTNode, function: Function, depth: int) -> Origin:
        match node:
            case cst.UnaryOperation() | cst.Await():
                return self.of(node.expression, function, depth)
            case cst.NamedExpr():
                return self.of(node.value, function, depth)
            case cst.IfExp():
                return strongest([self.of(node.body, function, depth), self.of(node.orelse, function, depth)])
            case cst.BooleanOperation():
                return strongest([self.of(node.left, function, depth), self.of(node.right, function, depth)])
            case cst.Comparison():
                return Origin("computed", "counted from a comparison")
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp():
                return self.of(node.elt, function, depth)
            case cst.List() | cst.Tuple() | cst.Set() if node.elements:
                return self.strongest([(value, function) for value in _items(node)], depth)
            case cst.Lambda():
                return Origin("object", "a function")
        return UNKNOWN

    # ------------------------------------------------------------ names

    def _name(self, node: cst.Name, function: Function, depth: int) -> Origin:
        name = node.value
        if name in ("True", "False", "None", "__name__", "__file__"):
            return Origin("constant", "a constant")
        if name.lower() in SETTINGS:
            return Origin("setting", f"setting: the program's options ({name})")
        scope, bindings = self.resolver.find(name, function)
        inner = self._in_comprehension(node, bindings)
        if inner is not None:
            scope, bindings = function, [inner]
        key = (scope, name, inner)
        if key in self.known:
            return self.known[key]
        if key in self.active:
            self.met.add(key)
            return Origin("cycle")
        self.active.add(key)
        found = self._bound(name, scope, bindings, depth)
        if found.kind in ("unknown", "constant"):
            found = self._filled(node, function, bindings, depth) or found
        self.active.discard(key)
        self.met.discard(key)
        if not self.met:  # else the answer holds only inside the cycle
            self.known[key] = found
        return found

    def _in_comprehension(self, node: cst.Name, bindings: list[Binding]) -> Binding | None:
        """The binding by the comprehension that a name stands in: other loops may use the same name."""
        inner: dict[cst.CSTNode, Binding] = {
            binding.node: binding for binding in bindings if isinstance(binding.node, cst.CompFor)
        }
        if not inner:
            return None
        for parent in self.nodes.ancestors(node):
            if isinstance(parent, cst.BaseSmallStatement | cst.BaseCompoundStatement):
                return None
            if isinstance(parent, COMPREHENSIONS):
                for part in walk(parent.for_in):
                    if part in inner:
                        return inner[part]
        return None

    def _filled(self, node: cst.Name, function: Function, bindings: list[Binding], depth: int) -> Origin | None:
        """The origin of what the list or dict of a variable is filled with."""
        if not any(binding.how == "assign" and _is_list(binding) for binding in bindings):
            return None
        items = [
            (value, where)
            for value, where in self.resolver.items(node, function)
            if isinstance(value, cst.BaseExpression)
        ]
        return self.strongest(items, depth) if items else None

    def _bound(self, name: str, scope: Function, bindings: list[Binding], depth: int) -> Origin:
        counting = [binding for binding in bindings if binding.how not in ("item", "declared")]
        outer = [binding for binding in counting if not isinstance(binding.node, cst.CompFor)] or counting
        found = [self.binding(name, binding, scope, depth) for binding in outer]
        known = [origin for origin in found if origin.kind not in ("constant", "cycle")]
        if known:
            return strongest(known)
        if not found:
            return UNKNOWN
        line = self.nodes.line(outer[0].node)
        if (scope.is_module and name.isupper()) or len(outer) == 1:
            return Origin("setting", f"setting: constant since line {line}")
        return Origin("constant", f"only constants are assigned (line {line})")

    def binding(self, name: str, binding: Binding, scope: Function, depth: int) -> Origin:
        """The origin of what one binding gives to a name."""
        value, where = binding.value, self.nodes.line(binding.node)
        if binding.how == "parameter":
            return self._parameter(name, binding, scope, depth)
        if binding.how == "define":
            return Origin("object", f"defined at line {where}")
        if value is None:
            return UNKNOWN
        if binding.how == "for":
            return self._loop_target(value, binding, scope, depth, where)
        if binding.how == "add":
            return self._added(name, binding, value, scope, depth, where)
        if binding.how == "assign":
            return self._assigned(value, binding.way, scope, depth)
        return UNKNOWN

    def _assigned(self, value: cst.CSTNode, way: tuple[int, ...], scope: Function, depth: int) -> Origin:
        while way and isinstance(value, cst.BaseExpression):
            part = element(value, way[0])
            if part is None:
                break
            value, way = part, way[1:]
        if way and isinstance(value, cst.Call):
            returned = self.results.returned(value, scope, depth, way[0])
            if returned is not None:
                return returned
        return self.of(value, scope, depth)

    def _added(
        self, name: str, binding: Binding, value: cst.CSTNode, scope: Function, depth: int, where: int
    ) -> Origin:
        operator = binding.node.operator if isinstance(binding.node, cst.AugAssign) else None
        if operator is not None and not isinstance(operator, cst.AddAssign | cst.SubtractAssign):
            return Origin("computed", f"changed at line {where}")
        number = constant_number(value)
        if number is not None and not number.is_integer():
            return Origin("computed", f"changed at line {where}")
        if number is not None:
            is_conditional = any(isinstance(parent, cst.If) for parent in self.nodes.ancestors(binding.node))
            is_telling = is_conditional and QUALITY.intersection(words(name))
            if is_conditional and not is_telling and not COUNTERS.intersection(words(name)):
                return Origin("counter", f"{CONDITIONAL} at line {where}")
            return Origin("quality" if is_telling else "counter", f"counted up at line {where}")
        added = self.of(value, scope, depth)
        if added.kind in ("setting", "size", "counter"):
            return Origin("counter", f"adds up sizes at line {where}")
        return added

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
        if not found and binding.value is not None:
            return self.of(binding.value, function, depth)
        return strongest(found)

    # ------------------------------------------------------------ loops

    def _loop_target(self, iterable: cst.CSTNode, binding: Binding, scope: Function, depth: int, where: int) -> Origin:
        way = binding.way
        while isinstance(iterable, cst.Call) and last_name(iterable.func) in WRAPPINGS and iterable.args:
            iterable = iterable.args[0].value
        if isinstance(iterable, cst.Call):
            called = last_name(iterable.func)
            is_first = not way or way[0] == 0
            if called in ENUMERATIONS and is_first:
                return Origin("counter", f"counter of the loop at line {where}")
            if called in ("items", "keys") and isinstance(iterable.func, cst.Attribute) and is_first:
                return Origin("text", f"key of a dict (line {where})")
            if called in ("items", "values") and isinstance(iterable.func, cst.Attribute):
                inner = self.of(iterable.func.value, scope, depth)
                return inner if inner.kind in (*SHARED, "duration", "speed") else UNKNOWN
        if isinstance(iterable, cst.Tuple | cst.List):
            items = [item.value for item in iterable.elements if isinstance(item, cst.Element)]
            if items and all(constant_text(item) is not None for item in items):
                return Origin("text", f"one of the texts at line {where}")
            if items and all(constant_number(item) is not None for item in items):
                return Origin("counter", f"counter of the loop at line {where}")
        if not isinstance(iterable, cst.BaseExpression):
            return UNKNOWN
        found = [
            (value, function)
            for value, function in self.resolver.loop_items(iterable, way, scope)
            if isinstance(value, cst.BaseExpression)
        ]
        if found:
            return self.strongest(found, depth)
        if isinstance(iterable, cst.Name | cst.Attribute | cst.Call) and not way:
            whole = self.of(iterable, scope, depth)
            return whole if whole.kind in ("rate", "setting", "duration") else UNKNOWN
        return UNKNOWN


def _items(node: cst.Tuple | cst.List | cst.Set) -> list[cst.BaseExpression]:
    return [item.value for item in node.elements if isinstance(item, cst.Element)]


def _is_list(binding: Binding) -> bool:
    value = binding.value
    for number in binding.way:
        value = element(value, number) if isinstance(value, cst.BaseExpression) else None
    is_made = isinstance(value, cst.Call) and last_name(value.func) in LISTS
    return is_made or isinstance(value, cst.List | cst.Dict)

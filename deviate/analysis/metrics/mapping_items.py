"""Items of mappings that are reported whole: the keys that the source spells out, with what it puts under them."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.metrics.containers import MAPPINGS, Displays
from deviate.analysis.metrics.labels import iterated_mapping
from deviate.analysis.resolve.abstract_values import Edge, Placed
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.meters import Meters
from deviate.analysis.resolve.replaced import latest_assignment, replaced_by
from deviate.analysis.resolve.tree import (
    constant_key,
    constant_text,
    element,
    index_of,
    keywords,
    last_name,
    positional,
    walk,
)

VIEWS = ("items", "keys", "values", "copy")
SAME_KEYS = frozenset({*MAPPINGS, "copy", "deepcopy", "sorted", "list", "filter"})
"""Calls that hand back the items of an argument."""
DEEPEST = 12
MOST_KEYS = 40


@dataclass(frozen=True, slots=True)
class MappingItem:
    """An item of a mapping: its whole key, and the expression of its value with the function around that."""

    key: str
    value: cst.BaseExpression
    function: Function


@dataclass(frozen=True, slots=True)
class Frame:
    """A call that leads into a function, so that its parameters stand for the arguments of this call."""

    edge: Edge
    outer: "Frame | None"


class MappingItems:
    """Finds the items of mappings whose keys are known from the source, without those that only a run can tell."""

    def __init__(self, graph: CallGraph, displays: Displays, meters: Meters) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.displays = displays
        self.meters = meters
        self._open: set[cst.CSTNode] = set()
        self._turns: dict[cst.CSTNode, str] = {}  # what is iterated over: the key in the turn that is looked at

    def of(self, node: cst.BaseExpression, function: Function) -> list[MappingItem]:
        """The items of a mapping where it is reported, one for each value that is put under a key.

        What the function reads of it is among them.
        """
        items = dict.fromkeys((*self._of(node, function, None, DEEPEST), *self._read(node, function)))
        keys = dict.fromkeys(item.key for item in items)
        counting = {*list(keys)[:MOST_KEYS]} - {"", *self._removed(node, function)}
        return [item for item in items if item.key in counting]

    # ------------------------------------------------------------ expressions

    def _of(
        self, node: cst.CSTNode | None, function: Function, frame: Frame | None, depth: int
    ) -> Iterator[MappingItem]:
        if depth == 0 or node is None or node in self._open:
            return
        self._open.add(node)
        items = list(self._parts(node, function, frame, depth - 1))
        self._open.discard(node)
        yield from items

    def _parts(self, node: cst.CSTNode, function: Function, frame: Frame | None, depth: int) -> Iterator[MappingItem]:
        match node:
            case cst.Dict():
                for item in node.elements:
                    if isinstance(item, cst.DictElement):
                        yield from self._put(item.key, item.value, function, frame, depth)
                    else:
                        yield from self._of(item.value, function, frame, depth)
            case cst.DictComp():
                yield from self._put(node.key, node.value, function, frame, depth)
            case cst.BinaryOperation(operator=cst.BitOr()) | cst.IfExp():
                sides = (node.left, node.right) if isinstance(node, cst.BinaryOperation) else (node.body, node.orelse)
                for side in sides:
                    yield from self._of(side, function, frame, depth)
            case cst.Name():
                yield from self._of_variable(node, function, frame, depth)
            case cst.Attribute():
                yield from self._of_attribute(node, function, depth)
            case cst.Call():
                yield from self._of_call(node, function, frame, depth)

    def _put(
        self, key: cst.BaseExpression, value: cst.BaseExpression, function: Function, frame: Frame | None, depth: int
    ) -> Iterator[MappingItem]:
        """The items that a value is put under, which may be a new key in each turn of a loop."""
        loop, copied = self._copied(value, function, frame, depth)
        if loop is None or not copied:
            yield from (MappingItem(text, value, function) for text in self._texts(key, function, frame, depth))
            return
        for one in copied:
            self._turns[loop] = one.key
            yield from (MappingItem(text, one.value, one.function) for text in self._texts(key, function, frame, depth))
            del self._turns[loop]

    def _copied(
        self, value: cst.BaseExpression, function: Function, frame: Frame | None, depth: int
    ) -> tuple[cst.CSTNode | None, list[MappingItem]]:
        """What a loop goes over, and the items of a mapping that it takes: `v` of `for k, v in …`, `other[k]`.

        What a meter of a collection shows, as in `meter.global_avg`, stands for what the meter was fed.
        """
        root = index_of(value) if isinstance(value, cst.Subscript) else value
        while isinstance(root, cst.Attribute | cst.Call):
            root = root.value if isinstance(root, cst.Attribute) else root.func
        binding = self._binding(root, function) if isinstance(root, cst.Name) else None
        if binding is None or binding.how != "for" or binding.value in self._turns:
            return None, []
        if isinstance(value, cst.Subscript):
            return binding.value, self._each(value.value, function, frame, depth)
        match binding:
            case Binding(position=(1,), value=cst.Call(func=cst.Attribute(attr=cst.Name("items"), value=mapping))):
                if root is value:
                    return binding.value, self._each(mapping, function, frame, depth)
                return binding.value, list(self._fed(mapping, function, depth))
        return None, []

    def _each(
        self, mapping: cst.BaseExpression, function: Function, frame: Frame | None, depth: int
    ) -> list[MappingItem]:
        """The items that a loop over a mapping takes, those of a collection of meters too."""
        return [*self._of(mapping, function, frame, depth), *self._fed(mapping, function, depth)]

    def _of_variable(
        self, node: cst.Name, function: Function, frame: Frame | None, depth: int
    ) -> Iterator[MappingItem]:
        scope, bindings = self.resolver.find(node.value, function)
        argument, outer = self._argument(node.value, scope, frame)
        if argument is not None:
            yield from self._of(*argument, outer, depth)
        latest = latest_assignment(bindings, node, self.nodes) if scope is function else None
        is_replaced = replaced_by(latest, node, self.nodes)
        for binding in bindings:
            if not is_replaced(binding.node):
                yield from self._of_binding(binding, scope, frame, depth)
        for key, value, where in self.displays.update_items(node.value, scope):
            if is_replaced(value):
                continue
            if isinstance(key, str):
                yield MappingItem(key, value, where)
            else:
                yield from self._of(value, where, frame, depth)

    def _of_attribute(self, node: cst.Attribute, function: Function, depth: int) -> Iterator[MappingItem]:
        for cls in self.resolver.classes(node.value, function):
            for base in self.resolver.order(cls)[0]:
                for binding, where in base.attributes.get(node.attr.value, ()):
                    yield from self._of_binding(binding, where, None, depth)

    def _of_binding(self, binding: Binding, scope: Function, frame: Frame | None, depth: int) -> Iterator[MappingItem]:
        value = binding.value
        if not isinstance(value, cst.BaseExpression) or binding.how == "parameter":
            return
        where = self.nodes.function_of(value)
        frame = frame if where is scope else None
        if binding.how == "item" and binding.key is not None:
            yield from self._put(binding.key, value, where, frame, depth)
        elif binding.how == "for":
            for item, inside in self.resolver.loop_items(value, binding.position, where):
                yield from self._of(item, inside, None, depth)
        elif binding.how == "assign" and not binding.position:
            yield from self._of(value, where, frame, depth)
        elif binding.how == "assign":
            called = self._returned(value, where, frame) if isinstance(value, cst.Call) else [(value, where, frame)]
            for whole, inside, inner in called:
                yield from self._of(_part(whole, binding.position), inside, inner, depth)

    def _of_call(self, call: cst.Call, function: Function, frame: Frame | None, depth: int) -> Iterator[MappingItem]:
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in VIEWS and not call.args:
            yield from self._of(call.func.value, function, frame, depth)
            yield from self._fed(call.func.value, function, depth)
        elif last_name(call.func) in SAME_KEYS:
            for value in (*positional(call), *(argument.value for argument in call.args if argument.star == "**")):
                yield from self._of(value, function, frame, depth)
            yield from (MappingItem(key, value, function) for key, value in keywords(call).items())
        else:
            for returned, callee, inner in self._returned(call, function, frame):
                yield from self._of(returned, callee, inner, depth)

    def _returned(
        self, call: cst.Call, function: Function, frame: Frame | None
    ) -> Iterator[tuple[cst.BaseExpression, Function, Frame | None]]:
        """What the functions of the project that a call means hand back."""
        for reference in self.resolver.functions(call.func, function):
            callee = reference.function
            if callee.name == "__init__":
                continue
            edge = next((edge for edge in self.graph.edges_into(callee) if edge.node is call), None)
            inner = Frame(edge, frame) if edge is not None else None
            yield from ((value, callee, inner) for value in callee.returns)

    def _fed(self, node: cst.BaseExpression, function: Function, depth: int) -> Iterator[MappingItem]:
        """What a collection of meters was fed: `logger.update(loss=…)`, `logger.meters["acc1"].update(…)`."""
        for key, value, where in self.meters.fed_items(node, function):
            if key is None:
                yield from self._of(value, where, None, depth)
            elif isinstance(key, str):
                yield MappingItem(key, value, where)
            else:
                yield from self._put(key, value, where, None, depth)

    # ------------------------------------------------------------ keys

    def _texts(
        self, node: cst.BaseExpression | None, function: Function, frame: Frame | None, depth: int
    ) -> Sequence[str]:
        """The texts that a key takes, one after the other; none where a part of them is not known."""
        text = constant_text(node)
        if text is not None:
            return [text]
        if depth == 0:
            return []
        match node:
            case cst.FormattedString():
                parts: list[Sequence[str]] = []
                for part in node.parts:
                    if isinstance(part, cst.FormattedStringExpression):
                        is_plain = part.format_spec is None and part.conversion is None and part.equal is None
                        parts.append(self._texts(part.expression, function, frame, depth - 1) if is_plain else [])
                    elif isinstance(part, cst.FormattedStringText):
                        parts.append([part.value])
                return _joined(parts)
            case cst.BinaryOperation(operator=cst.Add()):
                return _joined([self._texts(side, function, frame, depth - 1) for side in (node.left, node.right)])
            case cst.Name():
                return self._texts_of_name(node, function, frame, depth - 1)
            case cst.Attribute():
                texts = list(self.resolver.choices.texts(node, function))
                return texts if len(texts) == 1 else []
        return []

    def _texts_of_name(self, node: cst.Name, function: Function, frame: Frame | None, depth: int) -> Sequence[str]:
        scope, _ = self.resolver.find(node.value, function)
        argument, outer = self._argument(node.value, scope, frame)
        if argument is not None:
            return self._texts(*argument, outer, depth)
        binding = self._binding(node, function)
        if binding is None:
            return []
        if binding.value in self._turns and binding.position != (1,):
            return [self._turns[binding.value]]
        frame = frame if scope is function else None
        if binding.how == "for" and isinstance(binding.value, cst.BaseExpression):
            return self._texts_of_loop(binding, scope, frame, depth)
        if binding.how == "parameter":
            texts = list(self.resolver.choices.texts(node, function))
            return texts if len(texts) == 1 else []
        return self._texts(binding.whole("assign"), scope, frame, depth)

    def _binding(self, node: cst.Name, function: Function) -> Binding | None:
        """What binds a variable; where several loops and comprehensions do, the innermost around its use."""
        bindings = self.resolver.find(node.value, function)[1]
        if len(bindings) == 1:
            return bindings[0]
        loops: dict[cst.CSTNode, Binding] = {}
        for binding in bindings:
            if binding.how == "for":
                loops[binding.node] = binding
                if isinstance(binding.node, cst.CompFor):
                    loops[self.nodes.parents[binding.node]] = binding
        return next((loops[parent] for parent in self.nodes.ancestors(node) if parent in loops), None)

    def _texts_of_loop(self, binding: Binding, scope: Function, frame: Frame | None, depth: int) -> list[str]:
        mapping = iterated_mapping(binding)
        node = mapping if mapping is not None else None if binding.position else binding.value
        if isinstance(node, cst.BaseExpression):
            keys = dict.fromkeys(item.key for item in self._each(node, scope, frame, depth))
            if keys:
                return list(keys)
        if not isinstance(binding.value, cst.BaseExpression):
            return []
        listed = self.displays.literal_items(binding.value, scope)
        texts: list[str] = []
        for item, where in listed:
            texts += self._texts(_part(item, binding.position), where, frame, depth)
        return texts if len(texts) == len(listed) else []

    def _argument(self, name: str, scope: Function, frame: Frame | None) -> tuple[Placed | None, Frame | None]:
        """What a parameter stands for in the call that led to its function, and the frame of that call."""
        while frame is not None and frame.edge.callee is not scope:
            frame = frame.outer
        if frame is None or name not in scope.parameters:
            return None, None
        argument = frame.edge.argument(name)
        if argument is not None and isinstance(argument[0], cst.BaseExpression):
            return (argument[0], argument[1]), frame.outer
        default = next((binding.value for binding in scope.bindings.get(name, ()) if binding.how == "parameter"), None)
        return ((default, scope), None) if isinstance(default, cst.BaseExpression) else (None, None)

    # ------------------------------------------------------------ uses of a variable

    def _read(self, node: cst.BaseExpression, function: Function) -> Iterator[MappingItem]:
        """The items that the function of a local variable reads of the same value: `if metrics["acc"] > best`."""
        if not isinstance(node, cst.Name):
            return
        scope, bindings = self.resolver.find(node.value, function)
        source = scope.source
        if scope is not function or not any(binding.how == "assign" for binding in bindings):
            return
        lines = source.lines[source.line(scope.node) - 1 : source.end(scope.node).line]
        taken = re.compile(rf"\b{node.value}\[[\"']")
        if not any(map(taken.search, lines)):  # walking through a function is dear
            return
        latest = latest_assignment(bindings, node, self.nodes)
        for part in walk(scope.node):
            variable = part.value if type(part) is cst.Subscript else None
            if type(part) is not cst.Subscript or not isinstance(variable, cst.Name) or variable.value != node.value:
                continue
            key = constant_key(part)
            is_put = isinstance(self.nodes.parents.get(part), cst.AssignTarget | cst.Del | cst.AugAssign)
            if key is None or is_put or self.nodes.function_of(part) is not scope:
                continue
            if latest_assignment(bindings, variable, self.nodes) is latest:
                yield MappingItem(key, part, scope)

    def _removed(self, node: cst.BaseExpression, function: Function) -> set[str]:
        """The keys that `pop` takes out of a variable."""
        if not isinstance(node, cst.Name):
            return set()
        calls = (call for call, _ in function.module.calls_of(node.value, "pop") if call.args)
        return {text for call in calls if (text := constant_text(call.args[0].value)) is not None}


def _part(node: cst.BaseExpression | None, position: Sequence[int]) -> cst.BaseExpression | None:
    """What an unpacking target takes of a display."""
    for place in position:
        node = None if node is None else element(node, place)
    return node


def _joined(parts: Sequence[Sequence[str]]) -> list[str]:
    return ["".join(texts) for texts in itertools.islice(itertools.product(*parts), MOST_KEYS)]

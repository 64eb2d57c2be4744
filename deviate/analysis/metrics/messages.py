"""Messages taken apart: which values stand in what a script reports, with the text around each."""

from collections.abc import Iterable
from dataclasses import replace

import libcst as cst

from deviate.analysis.metrics import filling, format_exprs
from deviate.analysis.metrics.flows import Flows
from deviate.analysis.metrics.texts import DEEPEST, Texts, holds_values
from deviate.analysis.resolve.abstract_values import Argument, Instance
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.displays import Displays
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.meters import Meters
from deviate.analysis.resolve.origins import Origins
from deviate.analysis.resolve.tree import constant_number, constant_text, last_name, positional, walk
from deviate.analysis.resolve.values import PLAIN, Item, Scene, Stars, Value
from deviate.model.metric_vocabulary import listed

ARRAYS = listed("array asarray tensor Tensor FloatTensor")


class Taker:
    """Takes expressions apart into text and values.

    Attributes:
        open: parameters met that hold what is reported, or the name of it: (function, parameter).
    """

    def __init__(self, graph: CallGraph, origins: Origins) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.origins = origins
        self.displays = Displays(graph)
        self.flows = Flows(graph, self.displays)
        self.texts = Texts(self.displays)
        self.meters = Meters(graph)
        self.open: dict[tuple[Function, str], None] = {}
        self._active: list[object] = []

    # ------------------------------------------------------------ kinds of arguments

    def take(self, node: cst.BaseExpression, function: Function, scene: Scene = PLAIN) -> list[Item]:
        """The text and the values of an expression that is shown to a reader."""
        text = constant_text(node)
        if text is not None:
            return [text]
        key = (node, id(scene))
        if key in self._active:
            return []  # a text may be built from what it was before
        if len(self._active) < DEEPEST:
            self._active.append(key)
            parts = self._parts(node, function, scene)
            if parts is None:
                parts = self._object(node, function)
            self._active.pop()
            if parts is not None:
                return parts
        return self._computed(node, function, scene) or [self.plain(node, function)]

    def plain(self, node: cst.BaseExpression, function: Function) -> Value:
        return Value(node, node, function, self.nodes.code(node))

    def template(
        self, text: cst.BaseExpression, arguments: list[cst.BaseExpression], function: Function, scene: Scene
    ) -> list[Item]:
        """A `%` template with arguments apart, as `logging` takes them; without arguments it is a plain message."""
        told = self.texts.template(text, function)
        if not arguments or told is None:
            parts = [self.take(value, function, scene) for value in (text, *arguments)]
            return [item for part in parts for item in part]
        mapping = filling.text_keys(arguments[0]) if len(arguments) == 1 else None
        return filling.percent(self, told, arguments, mapping, function, scene)

    def format_template(
        self,
        text: cst.BaseExpression,
        arguments: list[cst.BaseExpression],
        named: dict[str, cst.BaseExpression],
        function: Function,
        scene: Scene,
    ) -> list[Item]:
        """A `str.format` template with arguments apart."""
        told = self.texts.template(text, function)
        if told is None or not (arguments or named):
            return self.take(text, function, scene)
        return filling.format_call(self, told, text, (arguments, named, {}), function, scene)

    def scalar(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[Item]:
        """A value that is handed to a tracker: whole, as the script spells it."""
        if isinstance(node, cst.Name):
            given = self.given(node.value, function, scene)
            if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
                return self.scalar(given[0], given[1], scene)
        alone = _alone(node)
        if alone is not None:
            return self.scalar(alone, function, scene)
        if self.texts.is_text(node, function):
            return self.take(node, function, scene)
        found = self._object(node, function) or self._computed(node, function, scene)
        return found if found is not None else [self.plain(node, function)]

    def record(self, node: cst.BaseExpression, function: Function, scene: Scene, prefix: str = "") -> list[list[Item]]:
        """The named values of a mapping, a message each; the whole as one where its items stand nowhere."""
        if isinstance(node, cst.Name):
            given = self.given(node.value, function, scene)
            if isinstance(given, Stars):
                return [
                    message
                    for key, (value, where) in given.named
                    if isinstance(value, cst.BaseExpression)
                    for message in self._keyed(key, value, where, scene, prefix)
                ]
            if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
                return self.record(given[0], given[1], scene, prefix)
        items = self.displays.display(node, function)
        if items is None:
            whole = self.scalar(node, function, scene)
            named = [
                replace(item, style="mapping") if isinstance(item, Value) and item.style == "plain argument" else item
                for item in whole
            ]
            return [[prefix, *named]]
        messages: list[list[Item]] = []
        for key, value, where in items:
            if key is None:
                messages += self.record(value, where, scene, prefix)
                continue
            named = [key] if isinstance(key, str) else self.take(key, where, scene)
            if isinstance(value, cst.Dict):
                told = "".join(item for item in named if isinstance(item, str))
                messages += self.record(value, where, scene, f"{prefix}{told} ")
            else:
                messages.append([prefix, *named, ": ", *self.scalar(value, where, scene)])
        return messages

    def _keyed(
        self, key: str, value: cst.BaseExpression, function: Function, scene: Scene, prefix: str
    ) -> list[list[Item]]:
        """A keyword argument; one without a key is a mapping that is unpacked."""
        if not key:
            return self.record(value, function, scene, prefix)
        return [[f"{prefix}{key}: ", *self.scalar(value, function, scene)]]

    def row(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[list[Item]]:
        """The values of a row of a table."""
        if isinstance(node, cst.Name):
            given = self.given(node.value, function, scene)
            if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
                return self.row(given[0], given[1], scene)
        items = self.displays.listed(node, function)
        if items is None:
            return self.record(node, function, scene)
        return [self.take(value, where, scene) for value, where in items if isinstance(value, cst.BaseExpression)]

    def table(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[list[Item]]:
        """The values of rows that were put together before; none where they stand nowhere."""
        if isinstance(node, cst.Call) and last_name(node.func) in ARRAYS and positional(node):
            node = positional(node)[0]
        return [
            message
            for value, where in self.displays.listed(node, function) or ()
            if isinstance(value, cst.BaseExpression)
            if self.displays.listed(value, where) or self.displays.display(value, where)
            for message in self.row(value, where, scene)
        ]

    def starred(
        self,
        node: cst.BaseExpression,
        callee: cst.BaseExpression,
        fields: tuple[str, ...],
        function: Function,
        scene: Scene,
    ) -> list[Item]:
        """What a call unpacks; the callee is tapped where nobody can tell before it runs."""
        given = self.given(node.value, function, scene) if isinstance(node, cst.Name) else None
        if isinstance(given, Stars):
            return self.joined(
                self.take(it, where, scene) for it, where in given.given if isinstance(it, cst.BaseExpression)
            )
        if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
            return self.joined(self.row(given[0], given[1], scene))
        return [Value(callee, node, function, self.nodes.code(node), "", "unpacked", "call", fields)]

    def joined(self, messages: Iterable[list[Item]]) -> list[Item]:
        return [item for message in messages for item in (*message, ", ")]

    # ------------------------------------------------------------ expressions

    def _parts(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[Item] | None:
        is_text = self.texts.is_text
        match node:
            case cst.FormattedString():
                return filling.formatted(self, node, function, scene)
            case cst.ConcatenatedString():
                return self.take(node.left, function, scene) + self.take(node.right, function, scene)
            case cst.BinaryOperation():
                return format_exprs.operation(self, node, function, scene)
            case cst.IfExp() if is_text(node.body, function) or is_text(node.orelse, function):
                return self.take(node.body, function, scene) + self.take(node.orelse, function, scene)
            case cst.BooleanOperation() if is_text(node.right, function):
                return self.take(node.left, function, scene) + self.take(node.right, function, scene)
            case cst.Call():
                return format_exprs.call(self, node, function, scene)
            case cst.Name():
                return self._variable(node, function, scene)
            case cst.Attribute():
                return self._attribute(node, function, scene)
            case cst.Dict():
                return self.joined(self.record(node, function, scene))
            case cst.List() | cst.Tuple() if node.elements:
                return self.joined(self.row(node, function, scene))
        return None

    def _computed(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[Item] | None:
        """What a writer is handed under a name that it is handed too, and computes with: `add(name, value / n)`."""
        if isinstance(node, cst.Name):
            return None
        handed = [part for part in walk(node) if isinstance(part, cst.Name) and self._is_parameter(part, function)]
        if any(scope is function for scope, _ in self.open):
            self.open.update({(function, part.value): None for part in handed})
        known = [scene.get(function, part.value) for part in handed]
        if not any(isinstance(it, tuple) and constant_text(it[0]) is not None for it in scene.known.values()):
            return None
        held = [it for it in known if isinstance(it, tuple) and not _is_constant(it[0])]
        if len(held) != 1 or not isinstance(held[0][0], cst.BaseExpression):
            return None
        return self.scalar(held[0][0], held[0][1], scene)

    def _is_parameter(self, node: cst.Name, function: Function) -> bool:
        return node.value in function.parameters and node.value != function.receiver

    # ------------------------------------------------------------ variables

    def _variable(self, node: cst.Name, function: Function, scene: Scene) -> list[Item] | None:
        """What was put into a variable first, or handed to a function that writes it: the values where they stand."""
        given = self.given(node.value, function, scene)
        if isinstance(given, str):
            return [given]
        if isinstance(given, Stars):
            return self.joined(
                [f"{key}: " if key else "", *self.take(value, where, scene)]
                for key, (value, where) in given.named
                if isinstance(value, cst.BaseExpression)
            )
        _, bindings = self.resolver.find(node.value, function)
        items: list[Item] = []
        for binding in bindings:
            if binding.how in {"assign", "add"} and not binding.way and isinstance(binding.value, cst.BaseExpression):
                where = self.nodes.function_of(binding.node)
                if holds_values(binding.value) and self.texts.is_text(binding.value, where):
                    items += self.take(binding.value, where, scene)
        if given is not None and isinstance(given[0], cst.BaseExpression):
            return items + [item for item in self.take(given[0], given[1], scene) if item not in items]
        return items or self._texts_in(node, function, scene) or None

    def _texts_in(self, node: cst.Name, function: Function, scene: Scene) -> list[Item]:
        """The items of a list variable that is shown as a whole, where they are texts with values."""
        return [
            item
            for value, where in self.displays.listed(node, function) or ()
            if isinstance(value, cst.BaseExpression) and holds_values(value) and self.texts.is_text(value, where)
            for item in self.take(value, where, scene)
        ]

    def given(self, name: str, function: Function, scene: Scene) -> Argument | Stars | str | None:
        """What a parameter or loop variable stands for here; a parameter of which that is not told yet is open."""
        scope, bindings = self.resolver.find(name, function)
        given = scene.get(scope, name)
        if given is not None or not bindings:
            return given
        if bindings[0].how in ("parameter", "stars") and name != scope.receiver:
            self.open[(scope, name)] = None
        elif all(binding.how == "for" for binding in bindings):
            over = self.flows.looped_parameter(bindings[0], scope)
            if over is not None:
                self.open[over] = None
        return None

    def _attribute(self, node: cst.Attribute, function: Function, scene: Scene) -> list[Item] | None:
        """A text that a method keeps in `self.x`."""
        if not isinstance(node.value, cst.Name):
            return None
        scope, _ = self.resolver.find(node.value.value, function)
        if scope.receiver != node.value.value or scope.owner is None:
            return None
        items: list[Item] = []
        for binding, where in scope.owner.attributes.get(node.attr.value, ()):
            value = binding.value
            if binding.how not in {"assign", "add"} or binding.way or not isinstance(value, cst.BaseExpression):
                continue
            if holds_values(value) and self.texts.is_text(value, where):
                items += self.take(value, where, scene)
        return items or None

    def _object(self, node: cst.BaseExpression, function: Function) -> list[Item] | None:
        """An object of the project that writes itself: the values that were fed to it."""
        if not isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            return None
        for thing in self.resolver.of(node, function):
            if isinstance(thing, Instance) and self.meters.writes_itself(thing.cls):
                return self.meters.fed(node, function) or None
        return None


def _is_constant(node: cst.CSTNode) -> bool:
    return constant_text(node) is not None or constant_number(node) is not None


def _alone(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The one value in `np.array([value])`, as plotting servers take it."""
    if isinstance(node, cst.Call) and last_name(node.func) in ARRAYS and len(node.args) == 1:
        inner = node.args[0].value
        if isinstance(inner, cst.List) and len(inner.elements) == 1:
            return inner.elements[0].value
    return None

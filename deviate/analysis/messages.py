"""Messages taken apart: which values stand in what a script reports, with the text around each."""

from collections.abc import Iterable

import libcst as cst

from . import filling
from .calls import CallGraph
from .flows import Flows
from .index import Function
from .meters import Meters
from .things import Argument, Instance
from .tree import constant_text, dotted, keywords, listed, positional
from .values import PLAIN, Item, Scene, Stars, Value

TEXT_METHODS = listed(
    "ljust rjust center strip lstrip rstrip upper lower title capitalize expandtabs replace encode decode zfill"
)
ROUNDING = frozenset(
    {"builtins.round", "builtins.format", "builtins.str", "builtins.repr", "numpy.round", "numpy.around"}
)
DUMPING = frozenset(
    {"json.dumps", "pprint.pformat", "builtins.str", "builtins.repr", "tabulate.tabulate", "yaml.dump", "ujson.dumps"}
)
DEEPEST = 14


class Taker:
    """Takes expressions apart into text and values.

    Attributes:
        open: parameters met that hold what is reported, or the name of it: (function, parameter).
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.flows = Flows(graph)
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
        if len(self._active) < DEEPEST and key not in self._active:  # a text may be built from what it was before
            self._active.append(key)
            parts = self._parts(node, function, scene)
            if parts is None:
                parts = self._object(node, function)
            self._active.pop()
            if parts is not None:
                return parts
        return [self.plain(node, function)]

    def plain(self, node: cst.BaseExpression, function: Function) -> Value:
        return Value(node, node, function, self.nodes.code(node))

    def template(
        self, text: cst.BaseExpression, arguments: list[cst.BaseExpression], function: Function, scene: Scene
    ) -> list[Item]:
        """A `%` template with arguments apart, as `logging` takes them; without arguments it is a plain message."""
        told = self._template_text(text, function)
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
        told = self._template_text(text, function)
        if told is None or not (arguments or named):
            return self.take(text, function, scene)
        return filling.format_call(self, told, text, (arguments, named, {}), function, scene)

    def scalar(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[Item]:
        """A value that is handed to a tracker: whole, as the script spells it."""
        if isinstance(node, cst.Name):
            given = self._given(node.value, function, scene)
            if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
                return self.scalar(given[0], given[1], scene)
        found = self._object(node, function)
        return found if found is not None else [self.plain(node, function)]

    def record(self, node: cst.BaseExpression, function: Function, scene: Scene, prefix: str = "") -> list[list[Item]]:
        """The named values of a mapping, a message each; the whole as one where its items stand nowhere."""
        if isinstance(node, cst.Name):
            given = self._given(node.value, function, scene)
            if isinstance(given, Stars):
                return [
                    [f"{prefix}{key}: ", *self.scalar(value, where, scene)]
                    for key, (value, where) in given.named
                    if isinstance(value, cst.BaseExpression)
                ]
            if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
                return self.record(given[0], given[1], scene, prefix)
        shown = self.flows.display(node, function)
        if shown is None:
            return [[prefix, *self.scalar(node, function, scene)]]
        messages: list[list[Item]] = []
        for key, value, where in shown:
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

    def row(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[list[Item]]:
        """The values of a row of a table."""
        if isinstance(node, cst.Name):
            given = self._given(node.value, function, scene)
            if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
                return self.row(given[0], given[1], scene)
        items = self.flows.listed(node, function)
        if items is None:
            return self.record(node, function, scene)
        return [self.take(value, where, scene) for value, where in items if isinstance(value, cst.BaseExpression)]

    # ------------------------------------------------------------ expressions

    def _parts(self, node: cst.BaseExpression, function: Function, scene: Scene) -> list[Item] | None:
        match node:
            case cst.FormattedString():
                return filling.formatted(self, node, function, scene)
            case cst.ConcatenatedString():
                return self.take(node.left, function, scene) + self.take(node.right, function, scene)
            case cst.BinaryOperation():
                return self._operation(node, function, scene)
            case cst.IfExp() if self.is_text(node.body, function) or self.is_text(node.orelse, function):
                return self.take(node.body, function, scene) + self.take(node.orelse, function, scene)
            case cst.BooleanOperation() if self.is_text(node.right, function):
                return self.take(node.left, function, scene) + self.take(node.right, function, scene)
            case cst.Call():
                return self._call(node, function, scene)
            case cst.Name():
                return self._variable(node, function, scene)
            case cst.Attribute():
                return self._attribute(node, function, scene)
            case cst.Dict():
                return self._joined(self.record(node, function, scene))
            case cst.List() | cst.Tuple() if node.elements:
                return self._joined(self.row(node, function, scene))
        return None

    def _joined(self, messages: Iterable[list[Item]]) -> list[Item]:
        return [item for message in messages for item in (*message, ", ")]

    def _operation(self, node: cst.BinaryOperation, function: Function, scene: Scene) -> list[Item] | None:
        if isinstance(node.operator, cst.Modulo):
            text = self._template_text(node.left, function)
            if text is None:
                return None
            if isinstance(node.right, cst.Tuple):
                if any(isinstance(item, cst.StarredElement) for item in node.right.elements):
                    return [text]
                values = [item.value for item in node.right.elements]
                return filling.percent(self, text, values, None, function, scene)
            mapping = filling.text_keys(node.right)
            return filling.percent(self, text, [] if mapping else [node.right], mapping, function, scene)
        if isinstance(node.operator, cst.Add) and self.is_text(node, function):
            return self.take(node.left, function, scene) + self.take(node.right, function, scene)
        if isinstance(node.operator, cst.Multiply) and (constant_text(node.left) or constant_text(node.right)):
            return [constant_text(node.left) or constant_text(node.right) or ""]
        return None

    def _call(self, node: cst.Call, function: Function, scene: Scene) -> list[Item] | None:
        arguments = positional(node)
        if isinstance(node.func, cst.Attribute):
            method, base = node.func.attr.value, node.func.value
            if method == "format":
                return self._format(node, base, function, scene)
            if method == "join" and constant_text(base) is not None and arguments:
                return self._join(arguments[0], constant_text(base) or "", function, scene)
            if method in TEXT_METHODS and self.is_text(base, function):
                return self.take(base, function, scene)
        name = self.resolver.qualified(node.func, function)
        if arguments and name in ROUNDING:
            short = (name or "").split(".")[-1]
            spec = (constant_text(arguments[1]) or "") if short == "format" and len(arguments) > 1 else ""
            if short in ("round", "around") and len(arguments) > 1 and isinstance(arguments[1], cst.Integer):
                spec = f".{arguments[1].value}f"
            return filling.styled(self.take(arguments[0], function, scene), f"{short}()", spec)
        if arguments and name in DUMPING:
            return self._joined(self.row(arguments[0], function, scene))
        return self._text_of_project(node, function, scene)

    def _format(self, node: cst.Call, base: cst.BaseExpression, function: Function, scene: Scene) -> list[Item] | None:
        given, named = positional(node), keywords(node)
        if dotted(base) == "str" and given:  # str.format("…", x)
            text = self._template_text(given[0], function)
            arguments = (given[1:], named, filling.starred(node))
            return None if text is None else filling.format_call(self, text, node.func, arguments, function, scene)
        text = self._template_text(base, function)
        if text is None:
            return None
        return filling.format_call(self, text, node.func, (given, named, filling.starred(node)), function, scene)

    def _join(self, values: cst.BaseExpression, glue: str, function: Function, scene: Scene) -> list[Item] | None:
        if isinstance(values, cst.Call) and dotted(values.func) == "map" and len(values.args) == 2:
            values = values.args[1].value
        items = self.flows.listed(values, function)
        if items is None:
            return None
        found: list[Item] = []
        for value, where in items:
            if isinstance(value, cst.BaseExpression):
                found += [*self.take(value, where, scene), glue]
        return found

    def _text_of_project(self, node: cst.Call, function: Function, scene: Scene) -> list[Item] | None:
        """What a function of the project puts into the text that it returns: not for one that formats its argument."""
        for callee in self.resolver.functions(node.func, function):
            inner = callee.function
            if inner.name == "__init__" or self.flows.is_formatter(inner):
                continue
            returned = [value for value in inner.returns if self.is_text(value, inner)]
            if returned:
                edge = next((edge for edge in self.graph.edges_into(inner) if edge.node is node), None)
                inside = scene.extended(self.flows.given(edge)) if edge is not None else scene
                return [item for value in returned for item in self.take(value, inner, inside)]
        return None

    # ------------------------------------------------------------ variables

    def _variable(self, node: cst.Name, function: Function, scene: Scene) -> list[Item] | None:
        """What was put into a variable first, or handed to a function that writes it: the values where they stand."""
        given = self._given(node.value, function, scene)
        if isinstance(given, str):
            return [given]
        if isinstance(given, Stars):
            return self._joined(
                [f"{key}: ", *self.take(value, where, scene)]
                for key, (value, where) in given.named
                if isinstance(value, cst.BaseExpression)
            )
        if given is not None and isinstance(given[0], cst.BaseExpression):
            return self.take(given[0], given[1], scene)
        _, bindings = self.resolver.find(node.value, function)
        items: list[Item] = []
        for binding in bindings:
            if binding.how in {"assign", "add"} and not binding.way and isinstance(binding.value, cst.BaseExpression):
                where = self.nodes.function_of(binding.node)
                if holds_values(binding.value) and self.is_text(binding.value, where):
                    items += self.take(binding.value, where, scene)
        if not items:
            lists = self.flows.texts_in(node, function, self)
            items = [
                item
                for value, where in lists
                if isinstance(value, cst.BaseExpression)
                for item in self.take(value, where, scene)
            ]
        return items or None

    def _given(self, name: str, function: Function, scene: Scene) -> Argument | Stars | str | None:
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
            if holds_values(value) and self.is_text(value, where):
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

    # ------------------------------------------------------------ texts

    def _template_text(self, node: cst.BaseExpression, function: Function) -> str | None:
        text = constant_text(node)
        if text is None and isinstance(node, cst.Name):
            scope, bindings = self.resolver.find(node.value, function)
            if len(bindings) == 1 and bindings[0].how == "assign" and isinstance(bindings[0].value, cst.BaseExpression):
                return self._template_text(bindings[0].value, scope) if not bindings[0].way else None
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
            scope, _ = self.resolver.find(node.value.value, function)
            owner = scope.owner if scope.receiver == node.value.value else None
            kept = owner.attributes.get(node.attr.value, []) if owner is not None else []
            if len(kept) == 1 and isinstance(kept[0][0].value, cst.BaseExpression):
                return constant_text(kept[0][0].value)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            values = self.flows.listed(positional(node)[0], function) if positional(node) else None
            if node.func.attr.value == "join" and values is not None:
                parts = [
                    self._template_text(value, where) if isinstance(value, cst.BaseExpression) else None
                    for value, where in values
                ]
                glue = constant_text(node.func.value)
                if glue is not None and all(part is not None for part in parts):
                    return glue.join(part for part in parts if part is not None)
        if text is None and isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            left = self._template_text(node.left, function)
            right = self._template_text(node.right, function)
            return None if left is None or right is None else left + right
        return text

    def is_text(self, node: cst.BaseExpression, function: Function, depth: int = DEEPEST) -> bool:
        """Whether an expression is surely a text."""
        if isinstance(node, cst.BaseString):
            return True
        if depth == 0:
            return False
        match node:
            case cst.BinaryOperation(operator=cst.Modulo()):
                return self._template_text(node.left, function) is not None
            case cst.BinaryOperation(operator=cst.Add()):
                return any(self.is_text(side, function, depth - 1) for side in (node.left, node.right))
            case cst.IfExp():
                return any(self.is_text(side, function, depth - 1) for side in (node.body, node.orelse))
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="format"))):
                base = node.func.value  # type: ignore[attr-defined]
                return dotted(base) == "str" or self._template_text(base, function) is not None
            case cst.Call(func=cst.Attribute()):
                method, base = node.func.attr.value, node.func.value  # type: ignore[attr-defined]
                if (method == "join" or method in TEXT_METHODS) and self.is_text(base, function, depth - 1):
                    return True
            case cst.Name():
                return self._is_text_variable(node, function, depth)
        if isinstance(node, cst.Call):
            if self.resolver.qualified(node.func, function) in ("builtins.str", "builtins.repr", "builtins.format"):
                return True
            return any(
                self.is_text(value, callee.function, depth - 4)
                for callee in self.resolver.functions(node.func, function)
                if depth > 4
                for value in callee.function.returns
            )
        return False

    def _is_text_variable(self, node: cst.Name, function: Function, depth: int) -> bool:
        _, bindings = self.resolver.find(node.value, function)
        values = [b.value for b in bindings if b.how in ("assign", "add") and not b.way]
        return bool(values) and any(
            self.is_text(value, self.nodes.function_of(value), depth - 3)
            for value in values
            if isinstance(value, cst.BaseExpression) and depth > 3
        )


def holds_values(node: cst.BaseExpression) -> bool:
    """Whether a text is more than a constant."""
    return constant_text(node) is None

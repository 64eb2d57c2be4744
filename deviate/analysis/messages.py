"""Messages taken apart: which values stand in a text that a script reports, with the text around each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import libcst as cst

from deviate.model import TapForm

from .index import Function, Index
from .templates import Field, format_fields, percent_fields
from .tree import constant_text, dotted, keywords, listed, positional

TEXT_METHODS = listed(
    "ljust rjust center strip lstrip rstrip upper lower title capitalize expandtabs replace encode decode zfill"
)
ROUNDING = frozenset(
    {"builtins.round", "builtins.format", "builtins.str", "builtins.repr", "numpy.round", "numpy.around"}
)
DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a message.

    Attributes:
        node: the expression that is tapped; for a template that takes attributes, the callee `"…".format`.
        source: the expression whose origin and words matter.
        spelled: the expression as the user would write it.
        fields: for a template that takes attributes: the field, with an explicit argument.
        is_tappable: False for values that no expression in the file stands for.
    """

    node: cst.BaseExpression
    source: cst.BaseExpression
    function: Function
    spelled: str
    spec: str = ""
    style: str = "plain argument"
    form: TapForm = "value"
    fields: tuple[str, ...] = ()
    path: str = ""
    is_tappable: bool = True


class Taker:
    """Takes expressions apart into text and values."""

    def __init__(self, index: Index, call_sites: Callable[[Function], list[tuple[cst.Call, Function]]]) -> None:
        self.index = index
        self.call_sites = call_sites
        self.active: set[cst.CSTNode] = set()

    def take(self, node: cst.BaseExpression, function: Function, depth: int = DEEPEST) -> list[str | Value]:
        """The text and the values of an expression that is shown to a reader."""
        text = constant_text(node)
        if text is not None:
            return [text]
        if depth > 0 and node not in self.active:  # a text may be built from what it was before
            self.active.add(node)
            parts = self._parts(node, function, depth - 1)
            self.active.discard(node)
            if parts is not None:
                return parts
        return [Value(node, node, function, self.index.source.code(node))]

    def fill(
        self, template: cst.BaseExpression, arguments: list[cst.BaseExpression], function: Function
    ) -> list[str | Value]:
        """A `%` template with arguments apart, as `logging` takes them; without arguments it is a plain message."""
        text = constant_text(template)
        if not arguments or text is None:
            return [*self.take(template, function), *(i for a in arguments for i in self.take(a, function))]
        return self._percent(text, arguments, None, function)

    def _parts(self, node: cst.BaseExpression, function: Function, depth: int) -> list[str | Value] | None:
        if isinstance(node, cst.FormattedString):
            return self._formatted(node, function, depth)
        if isinstance(node, cst.ConcatenatedString):
            return self.take(node.left, function, depth) + self.take(node.right, function, depth)
        if isinstance(node, cst.BinaryOperation):
            return self._operation(node, function, depth)
        if isinstance(node, cst.IfExp) and (self.is_text(node.body, function) or self.is_text(node.orelse, function)):
            return self.take(node.body, function, depth) + self.take(node.orelse, function, depth)
        if isinstance(node, cst.Call):
            return self._call(node, function, depth)
        if isinstance(node, cst.Name):
            return self._variable(node, function, depth)
        return None

    def _formatted(self, node: cst.FormattedString, function: Function, depth: int) -> list[str | Value]:
        items: list[str | Value] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                items.append(part.value.replace("{{", "{").replace("}}", "}").replace("\\n", "\n").replace("\\t", "\t"))
                continue
            if not isinstance(part, cst.FormattedStringExpression):
                continue
            spec = _spec_text(part.format_spec)
            if part.equal is not None:
                items.append(self.index.source.code(part.expression) + "=")
                spelled = self.index.source.code(part.expression)
                items.append(Value(part.expression, part.expression, function, spelled, spec, "f-string", "shown"))
            else:
                items += self._styled(self.take(part.expression, function, depth), "f-string", spec)
        return items

    def _operation(self, node: cst.BinaryOperation, function: Function, depth: int) -> list[str | Value] | None:
        if isinstance(node.operator, cst.Modulo):
            text = self._template_text(node.left, function)
            if text is None:
                return None
            if isinstance(node.right, cst.Tuple):
                if any(isinstance(item, cst.StarredElement) for item in node.right.elements):
                    return [text]
                return self._percent(text, [item.value for item in node.right.elements], None, function)
            mapping = _text_keys(node.right)
            if mapping is not None:
                return self._percent(text, [], mapping, function)
            return self._percent(text, [node.right], None, function)
        if isinstance(node.operator, cst.Add) and self.is_text(node, function):
            return self.take(node.left, function, depth) + self.take(node.right, function, depth)
        if isinstance(node.operator, cst.Multiply) and (constant_text(node.left) or constant_text(node.right)):
            return [constant_text(node.left) or constant_text(node.right) or ""]
        return None

    def _call(self, node: cst.Call, function: Function, depth: int) -> list[str | Value] | None:
        arguments = positional(node)
        if isinstance(node.func, cst.Attribute):
            method, base = node.func.attr.value, node.func.value
            if method == "format":
                text = self._template_text(base, function)
                return None if text is None else self._format(text, node, function)
            if method == "join" and constant_text(base) is not None and arguments:
                if isinstance(arguments[0], cst.List | cst.Tuple):
                    found = [item.value for item in arguments[0].elements if isinstance(item, cst.Element)]
                    return [
                        part
                        for value in found
                        for part in [*self.take(value, function, depth), constant_text(base) or ""]
                    ]
                return None
            if method in TEXT_METHODS and self.is_text(base, function):
                return self.take(base, function, depth)
        if arguments and self.index.qualified(node.func, function) in ROUNDING:
            name = dotted(node.func).split(".")[-1]
            spec = (constant_text(arguments[1]) or "") if name == "format" and len(arguments) > 1 else ""
            if name in ("round", "around") and len(arguments) > 1 and isinstance(arguments[1], cst.Integer):
                spec = f".{arguments[1].value}f"
            return self._styled(self.take(arguments[0], function, depth), f"{name}()", spec)
        return None

    def _variable(self, node: cst.Name, function: Function, depth: int) -> list[str | Value] | None:
        """A text put into a variable first, or handed to a function that writes it: the values where they stand."""
        scope, bindings = self.index.find(node.value, function)
        items: list[str | Value] = []
        for binding in bindings:
            if binding.how == "parameter" and node.value in scope.parameters:
                for given, caller in self._given(node.value, scope):
                    if _holds_values(given) and self.is_text(given, caller):
                        items += self.take(given, caller, depth)
            elif binding.how in {"assign", "add"} and not binding.way and isinstance(binding.value, cst.BaseExpression):
                where = self.index.function_of(binding.node)
                if _holds_values(binding.value) and self.is_text(binding.value, where):
                    items += self.take(binding.value, where, depth)
        return items or None

    def _given(self, name: str, function: Function) -> list[tuple[cst.BaseExpression, Function]]:
        position = function.parameters.index(name) - (function.class_name is not None)
        found = []
        for call, caller in self.call_sites(function):
            named, given = keywords(call), positional(call)
            if name in named:
                found.append((named[name], caller))
            elif 0 <= position < len(given):
                found.append((given[position], caller))
        return found

    def _percent(
        self,
        text: str,
        arguments: list[cst.BaseExpression],
        mapping: dict[str, cst.BaseExpression] | None,
        function: Function,
    ) -> list[str | Value]:
        items: list[str | Value] = []
        for part in percent_fields(text):
            if isinstance(part, str):
                items.append(part)
            elif isinstance(part.argument, int) and part.argument < len(arguments):
                items += self._styled(self.take(arguments[part.argument], function), "% template", part.spec)
            elif mapping is not None and part.argument in mapping:
                items += self._styled(self.take(mapping[str(part.argument)], function), "% template", part.spec)
            elif isinstance(part.argument, str) and arguments:
                items.append(_inside(arguments[0], part, function, self.index))
        return items

    def _format(self, text: str, call: cst.Call, function: Function) -> list[str | Value]:
        given, named = positional(call), keywords(call)
        stars = {argument.star: argument.value for argument in call.args if argument.star}
        items: list[str | Value] = []
        for part in format_fields(text):
            if isinstance(part, str):
                items.append(part)
                continue
            argument: cst.BaseExpression | None
            if isinstance(part.argument, int):
                argument = given[part.argument] if part.argument < len(given) else None
            else:
                argument = named.get(part.argument)
            name = f"{part.argument}{part.path}"
            if argument is None:
                container = stars.get("*" if isinstance(part.argument, int) else "**")
                if container is not None:
                    spelled = f"{self.index.source.code(container)}[{part.argument!r}]{part.path}"
                    items.append(
                        Value(
                            call.func,
                            container,
                            function,
                            spelled,
                            part.spec,
                            "str.format",
                            "format",
                            (name,),
                            part.path,
                        )
                    )
            elif part.path:
                spelled = _attributed(argument, part.path, self.index)
                items.append(
                    Value(call.func, argument, function, spelled, part.spec, "str.format", "format", (name,), part.path)
                )
            else:
                items += self._styled(self.take(argument, function), "str.format", part.spec)
        return items

    def _styled(self, items: list[str | Value], style: str, spec: str) -> list[str | Value]:
        """Give a lone value the style and spec of what shows it, unless something inside was more telling."""
        return [
            replace(item, style=style, spec=spec or item.spec)
            if isinstance(item, Value) and (len(items) == 1 and (item.style == "plain argument" or not item.spec))
            else item
            for item in items
        ]

    def _template_text(self, node: cst.BaseExpression, function: Function) -> str | None:
        text = constant_text(node)
        if text is None and isinstance(node, cst.Name):
            _, bindings = self.index.find(node.value, function)
            values = [b.value for b in bindings if b.how == "assign" and not b.way]
            if len(bindings) == 1 and len(values) == 1:
                return constant_text(values[0])
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
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, cst.Modulo):
                return self._template_text(node.left, function) is not None
            if isinstance(node.operator, cst.Add):
                sides = (node.left, node.right)
                return any(self.is_text(side, function, depth - 1) for side in sides)
        if isinstance(node, cst.IfExp):
            return self.is_text(node.body, function, depth - 1) or self.is_text(node.orelse, function, depth - 1)
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute):
                method, base = node.func.attr.value, node.func.value
                if method == "format":
                    return self._template_text(base, function) is not None
                return (method == "join" or method in TEXT_METHODS) and self.is_text(base, function, depth - 1)
            return self.index.qualified(node.func, function) in ("builtins.str", "builtins.repr", "builtins.format")
        return False


def _holds_values(node: cst.BaseExpression) -> bool:
    return constant_text(node) is None


def _spec_text(spec: object) -> str:
    if not isinstance(spec, tuple | list):
        return ""
    return "".join(part.value if isinstance(part, cst.FormattedStringText) else "{}" for part in spec)


def _text_keys(node: cst.BaseExpression) -> dict[str, cst.BaseExpression] | None:
    if isinstance(node, cst.Dict):
        found = {constant_text(item.key): item.value for item in node.elements if isinstance(item, cst.DictElement)}
        return {key: value for key, value in found.items() if key is not None}
    if isinstance(node, cst.Call) and dotted(node.func) == "dict":
        return keywords(node)
    return None


def _inside(container: cst.BaseExpression, part: Field, function: Function, index: Index) -> Value:
    """A value that a `%` template takes out of a dict by itself: no expression of the file stands for it."""
    is_locals = isinstance(container, cst.Call) and dotted(container.func) in ("locals", "vars", "globals")
    spelled = str(part.argument) if is_locals else _attributed(container, f"[{part.argument!r}]", index)
    return Value(container, container, function, spelled, part.spec, "% template", is_tappable=False)


def _attributed(argument: cst.BaseExpression, path: str, index: Index) -> str:
    code = index.source.code(argument)
    simple = isinstance(argument, cst.Name | cst.Attribute | cst.Call | cst.Subscript)
    quoted = path.replace("[", "['").replace("]", "']") if "[" in path and "'" not in path else path
    parts = [quoted] if not _is_index(path) else [path]
    return (code if simple else f"({code})") + "".join(parts)


def _is_index(path: str) -> bool:
    inside = [piece.split("]")[0] for piece in path.split("[")[1:]]
    return all(piece.isdigit() or piece[:1] in "'\"" for piece in inside)

"""Parses reported messages into values and the text around each."""

from collections.abc import Iterable
from dataclasses import replace

import libcst as cst

from deviate.analysis.metrics.displays import Displays
from deviate.analysis.metrics.flows import arguments_of
from deviate.analysis.metrics.texts import DEEPEST, DUMPING, TEXT_METHODS, ProjectTexts, holds_values
from deviate.analysis.resolve.abstract_values import Placed
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.message_items import (
    Field,
    FormatStyle,
    MessageItem,
    ReportedValue,
    Scene,
    Substitute,
    format_fields,
    percent_fields,
)
from deviate.analysis.resolve.origins import Origins
from deviate.analysis.resolve.tree import constant_text, dotted_name, keywords, last_name, named_items, positional

ROUNDING = frozenset(
    {"builtins.round", "builtins.format", "builtins.str", "builtins.repr", "numpy.round", "numpy.around"}
)
ARRAYS = ("array", "asarray", "tensor", "Tensor", "FloatTensor")
CLOCKWORK = ("time.gmtime", "time.localtime", "datetime.timedelta")
"""Functions from seconds to time objects, which are formatted soon after."""
WRITTEN = "repr()"
"""Style of what is written as a program would have to read it."""


def as_name(items: list[MessageItem]) -> list[MessageItem]:
    """Items of a name: the values in it are no measurements."""
    return [replace(item, style=FormatStyle.NAME) if isinstance(item, ReportedValue) else item for item in items]


class MessageParser:
    """Parses expressions into text and values.

    Attributes:
        scene: what the parameters stand for in the call that is looked at.
        open: parameters that hold a reported value or its name: (function, parameter).
    """

    def __init__(self, graph: CallGraph, origins: Origins) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.origins = origins
        self.displays = Displays(graph)
        self.texts = ProjectTexts(self.displays)
        self.meters = origins.meters
        self.scene: Scene = {}
        self.open: dict[tuple[Function, str], None] = {}
        self._active: list[object] = []

    # ------------------------------------------------------------ kinds of arguments

    def take(self, node: cst.BaseExpression, function: Function) -> list[MessageItem]:
        """The text and the values of an expression that is shown to a reader."""
        text = constant_text(node)
        if text is not None:
            return [text]
        key = (node, id(self.scene))
        if key in self._active:
            return []  # a text may be built from its previous value
        if len(self._active) < DEEPEST:
            self._active.append(key)
            parts = self._parts(node, function)
            if parts is None:
                parts = self._object(node, function)
            self._active.pop()
            if parts is not None:
                return parts
        return [self.plain(node, function)]

    def plain(self, node: cst.BaseExpression, function: Function) -> ReportedValue:
        return ReportedValue(node, node, function, self.nodes.code(node))

    def template(
        self, text: cst.BaseExpression, arguments: list[cst.BaseExpression], function: Function
    ) -> list[MessageItem]:
        """A `%` template with separate arguments, as for `logging`; a plain message without arguments."""
        template = self.texts.template(text, function)
        if not arguments or template is None:
            parts = [self.take(value, function) for value in (text, *arguments)]
            return [item for part in parts for item in part]
        mapping = _text_keys(arguments[0]) if len(arguments) == 1 else None
        return self._percent_template(template, arguments, mapping, function)

    def format_template(
        self,
        text: cst.BaseExpression,
        arguments: list[cst.BaseExpression],
        by_name: dict[str, cst.BaseExpression],
        function: Function,
    ) -> list[MessageItem]:
        """A `str.format` template with separate arguments."""
        template = self.texts.template(text, function)
        if template is None or not (arguments or by_name):
            return self.take(text, function)
        return self._format_template(template, text, (arguments, by_name, {}), function)

    def scalar(self, node: cst.BaseExpression, function: Function) -> list[MessageItem]:
        """A value passed to a tracker: whole, as the script spells it."""
        argument = self._argument(node, function)
        if argument is not None:
            return self.scalar(*argument)
        if self.texts.is_text(node, function):
            return self.take(node, function)
        return self._object(node, function) or [self.plain(node, function)]

    def record(self, node: cst.BaseExpression, function: Function, prefix: str = "") -> list[list[MessageItem]]:
        """The named values of a mapping, one message each; a single message if its items are unknown."""
        argument = self._argument(node, function)
        if argument is not None:
            return self.record(*argument, prefix)
        items = self.displays.mapping_items(node, function)
        if items is None:
            whole = self.scalar(node, function)
            parts = [
                replace(item, style=FormatStyle.MAPPING)
                if isinstance(item, ReportedValue) and item.style == FormatStyle.PLAIN
                else item
                for item in whole
            ]
            return [[prefix, *parts]]
        messages: list[list[MessageItem]] = []
        for key, value, where in items:
            if key is None:
                messages += self.record(value, where, prefix)
                continue
            parts = [key] if isinstance(key, str) else as_name(self.take(key, where))
            if isinstance(value, cst.Dict):
                key_text = "".join(item for item in parts if isinstance(item, str))
                messages += self.record(value, where, f"{prefix}{key_text} ")
            else:
                messages.append([prefix, *parts, ": ", *self.scalar(value, where)])
        return messages

    def row(self, node: cst.BaseExpression, function: Function) -> list[list[MessageItem]]:
        """The values of a row of a table."""
        argument = self._argument(node, function)
        if argument is not None:
            return self.row(*argument)
        items = self.displays.sequence_items(node, function)
        if items is None:
            return self.record(node, function)
        return [self.take(value, where) for value, where in items]

    def table(self, node: cst.BaseExpression, function: Function) -> list[list[MessageItem]]:
        """The values of table rows that were built before; none if the rows are unknown."""
        if isinstance(node, cst.Call) and last_name(node.func) in ARRAYS and positional(node):
            node = positional(node)[0]
        return [
            message
            for value, where in self.displays.sequence_items(node, function) or ()
            if self.displays.sequence_items(value, where) or self.displays.mapping_items(value, where)
            for message in self.row(value, where)
        ]

    def join_messages(self, messages: Iterable[list[MessageItem]]) -> list[MessageItem]:
        return [item for message in messages for item in (*message, ", ")]

    # ------------------------------------------------------------ expressions

    def _parts(self, node: cst.BaseExpression, function: Function) -> list[MessageItem] | None:
        is_text = self.texts.is_text
        match node:
            case cst.FormattedString():
                return self._f_string(node, function)
            case cst.ConcatenatedString():
                return [item for part in _joined(node) for item in self.take(part, function)]
            case cst.BinaryOperation():
                return self._operation(node, function)
            case cst.IfExp() if is_text(node.body, function) or is_text(node.orelse, function):
                return self.take(node.body, function) + self.take(node.orelse, function)
            case cst.BooleanOperation() if is_text(node.right, function):
                return self.take(node.left, function) + self.take(node.right, function)
            case cst.Call():
                return self._call(node, function)
            case cst.Name():
                return self._variable(node, function)
            case cst.Dict():
                return self.join_messages(self.record(node, function))
            case cst.List() | cst.Tuple() if node.elements:
                return self.join_messages(self.row(node, function))
        return None

    # ------------------------------------------------------------ variables

    def _variable(self, node: cst.Name, function: Function) -> list[MessageItem] | None:
        """The values behind a variable that is reported: those assigned to it, or passed to the reporting function."""
        argument_value = self.argument_value(node.value, function)
        if isinstance(argument_value, str):
            return [argument_value]
        _, bindings = self.resolver.find(node.value, function)
        items: list[MessageItem] = []
        for binding in bindings:
            value = binding.whole("assign", "add")
            if value is not None and holds_values(value):
                where = self.nodes.function_of(binding.node)
                items += self.take(value, where) if self.texts.is_text(value, where) else []
        argument = _expression(argument_value)
        if argument is not None:
            return items + [item for item in self.take(*argument) if item not in items]
        return items or None

    def argument_value(self, name: str, function: Function) -> Substitute | None:
        """The expression behind a parameter or loop variable; an unknown parameter is added to `open`."""
        scope, bindings = self.resolver.find(name, function)
        argument_value = self.scene.get((scope, name))
        if argument_value is not None or not bindings:
            return argument_value
        if bindings[0].how == "parameter" and name != scope.receiver:
            self.open[(scope, name)] = None
        return None

    def _argument(self, node: cst.BaseExpression, function: Function) -> Placed | None:
        """The expression behind a parameter or loop variable; None for any other expression."""
        return _expression(self.argument_value(node.value, function)) if isinstance(node, cst.Name) else None

    def _object(self, node: cst.BaseExpression, function: Function) -> list[MessageItem] | None:
        """An object of the project that formats itself: the values that were fed to it."""
        if not isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            return None
        if any(map(self.meters.writes_itself, self.resolver.classes(node, function))):
            return self.meters.fed_values(node, function) or None
        return None

    # ------------------------------------------------------------ templates

    def _f_string(self, node: cst.FormattedString, function: Function) -> list[MessageItem]:
        """Items of an f-string."""
        items: list[MessageItem] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                items.append(part.value.replace("{{", "{").replace("}}", "}").replace("\\n", "\n").replace("\\t", "\t"))
                continue
            if not isinstance(part, cst.FormattedStringExpression):
                continue
            spec = _spec_text(part.format_spec)
            if part.equal is not None:
                spelled = self.nodes.code(part.expression)
                items.append(spelled + "=")
                items.append(
                    ReportedValue(
                        part.expression, part.expression, function, spelled, spec, FormatStyle.F_STRING, "shown"
                    )
                )
            else:
                style = WRITTEN if part.conversion == "r" else FormatStyle.F_STRING
                items += _set_style(self.take(part.expression, function), style, spec)
        return items

    def _percent_template(
        self,
        text: str,
        arguments: list[cst.BaseExpression],
        mapping: dict[str, cst.BaseExpression] | None,
        function: Function,
    ) -> list[MessageItem]:
        """Items of a `%` template; `mapping` where the right side is a dict display."""
        parts = percent_fields(text)
        places = [
            place for place, part in enumerate(parts) if isinstance(part, Field) and isinstance(part.argument, int)
        ]
        if len(arguments) == 1 and len(places) > 1:
            before = [part for part in parts[: places[0]] if isinstance(part, str)]
            after = [part for part in parts[places[-1] + 1 :] if isinstance(part, str)]
            return [*before, self._of_several_fields(arguments[0], function), *after]
        items: list[MessageItem] = []
        for part in parts:
            if isinstance(part, str):
                items.append(part)
            elif isinstance(part.argument, int) and part.argument < len(arguments):
                items += _set_style(self.take(arguments[part.argument], function), FormatStyle.PERCENT, part.spec)
            elif mapping is not None and part.argument in mapping:
                items += _set_style(self.take(mapping[str(part.argument)], function), FormatStyle.PERCENT, part.spec)
            elif isinstance(part.argument, str) and arguments:
                items.append(self._of_mapping(arguments[0], part, function))
        return items

    def _format_template(
        self,
        text: str,
        callee: cst.BaseExpression,
        arguments: tuple[list[cst.BaseExpression], dict[str, cst.BaseExpression], dict[str, cst.BaseExpression]],
        function: Function,
    ) -> list[MessageItem]:
        """Items of a `str.format` template.

        Args:
            callee: what is called, for values that only the template itself takes out of its arguments.
            arguments: positional, named, and starred ones by their stars.
        """
        arguments_by_place, by_name, stars = arguments
        items: list[MessageItem] = []
        for part in format_fields(text):
            if isinstance(part, str):
                items.append(part)
                continue
            is_counted = isinstance(part.argument, int)
            argument: cst.BaseExpression | None
            if isinstance(part.argument, int):
                argument = arguments_by_place[part.argument] if part.argument < len(arguments_by_place) else None
            else:
                argument = by_name.get(part.argument)
            name = f"{part.argument}{part.path}"
            if argument is None:
                container = stars.get("*" if is_counted else "**")
                if container is None:
                    continue
                spelled = f"{self.nodes.code(container)}[{part.argument!r}]{part.path}"
                path = part.path
            elif part.path:
                container, path = argument, part.path
                spelled = _spell_path(self.nodes.code(argument), argument, path)
            else:
                items += _set_style(self.take(argument, function), FormatStyle.FORMAT, part.spec)
                continue
            items.append(
                ReportedValue(
                    callee,
                    container,
                    function,
                    spelled,
                    part.spec,
                    FormatStyle.FORMAT,
                    "format",
                    (name,),
                    path or f".{name}",
                )
            )
        return items

    def _of_several_fields(self, node: cst.BaseExpression, function: Function) -> ReportedValue:
        """One value that fills several fields: recorded item by item, or as a duration split into units."""
        if isinstance(node, cst.Call) and dotted_name(node.func) in ("tuple", "list") and len(node.args) == 1:
            node = node.args[0].value
        value = node
        if isinstance(node, cst.Call) and len(node.args) == 1:
            argument = node.args[0].value
            value = argument if self.origins.of(argument, function).kind == "duration" else node
        return ReportedValue(value, value, function, self.nodes.code(node), style=FormatStyle.PERCENT)

    def _of_mapping(self, container: cst.BaseExpression, part: Field, function: Function) -> ReportedValue:
        """A value that a template looks up in a mapping; the file has no expression for it."""
        is_scope = isinstance(container, cst.Call) and dotted_name(container.func) in ("locals", "vars", "globals")
        key = str(part.argument)
        spelled = key if is_scope else _spell_path(self.nodes.code(container), container, f"[{key!r}]")
        source = cst.Name(key) if is_scope else container
        path = "" if is_scope else f".{key}"
        return ReportedValue(
            container, source, function, spelled, part.spec, FormatStyle.PERCENT, "mapping", (key,), path
        )

    # ------------------------------------------------------------ operations and calls

    def _operation(self, node: cst.BinaryOperation, function: Function) -> list[MessageItem] | None:
        """Items of `template % values`, of concatenated strings, and of a repeated string."""
        if isinstance(node.operator, cst.Modulo):
            text = self.texts.template(node.left, function)
            if text is None and not self.texts.is_text(node.left, function):
                return None
            values = [item.value for item in node.right.elements] if isinstance(node.right, cst.Tuple) else [node.right]
            if text is None:  # `"%10.4g" * n_losses`: which field a value fills is open
                return self.join_messages(self.take(value, function) for value in values)
            mapping = _text_keys(node.right)
            return self._percent_template(text, [] if mapping else values, mapping, function)
        if isinstance(node.operator, cst.Add) and self.texts.is_text(node, function):
            return [item for part in self._summands(node, function) for item in self.take(part, function)]
        if isinstance(node.operator, cst.Multiply) and (constant_text(node.left) or constant_text(node.right)):
            return [constant_text(node.left) or constant_text(node.right) or ""]
        return None

    def _summands(self, node: cst.BaseExpression, function: Function) -> list[cst.BaseExpression]:
        """The texts that `+` joins; a sum of numbers is one of them."""
        summands: list[cst.BaseExpression] = []
        while (
            isinstance(node, cst.BinaryOperation)
            and isinstance(node.operator, cst.Add)
            and self.texts.is_text(node, function)
        ):
            summands.append(node.right)
            node = node.left
        return [node, *reversed(summands)]

    def _call(self, node: cst.Call, function: Function) -> list[MessageItem] | None:
        """Items of a call whose result is shown."""
        arguments = positional(node)
        if isinstance(node.func, cst.Attribute):
            method, base = node.func.attr.value, node.func.value
            if method == "format":
                return self._format_call(node, base, function)
            if method == "join" and arguments and self.texts.is_text(node, function):
                return self._join(arguments[0], constant_text(base) or " ", function)
            if method in TEXT_METHODS and self.texts.is_text(base, function):
                return self.take(base, function)
        name = self.resolver.qualified_name(node.func, function)
        if name == "time.strftime" and len(arguments) == 2 and isinstance(arguments[1], cst.Call):
            return self._call(arguments[1], function)
        if name in CLOCKWORK and len(node.args) == 1:
            seconds = node.args[0].value
            return [ReportedValue(seconds, seconds, function, self.nodes.code(node), style=f"{last_name(node.func)}()")]
        if arguments and name in ROUNDING:
            short = (name or "").split(".")[-1]
            spec = (constant_text(arguments[1]) or "") if short == "format" and len(arguments) > 1 else ""
            if short in ("round", "around") and len(arguments) > 1 and isinstance(arguments[1], cst.Integer):
                spec = f".{arguments[1].value}f"
            return _set_style(self.take(arguments[0], function), f"{short}()", spec)
        if arguments and name in DUMPING:
            rows = self.table(arguments[0], function) or self.row(arguments[0], function)
            return self.join_messages(rows)
        return self._text_of_project(node, function)

    def _format_call(self, node: cst.Call, base: cst.BaseExpression, function: Function) -> list[MessageItem] | None:
        arguments, by_name = positional(node), keywords(node)
        if dotted_name(base) == "str" and arguments:  # str.format("…", x)
            base, arguments = arguments[0], arguments[1:]
        text = self.texts.template(base, function)
        if text is None:
            return None
        return self._format_template(text, node.func, (arguments, by_name, _starred_arguments(node)), function)

    def _join(self, values: cst.BaseExpression, glue: str, function: Function) -> list[MessageItem] | None:
        if isinstance(values, cst.Call) and dotted_name(values.func) == "map" and len(values.args) == 2:
            values = values.args[1].value
            if self.displays.sequence_items(values, function) is None:
                return self.take(values, function)
        values, function = self._argument(values, function) or (values, function)
        items = self.displays.sequence_items(values, function)
        if items is None:
            return None
        return [part for value, where in items for part in (*self.take(value, where), glue)]

    def _text_of_project(self, node: cst.Call, function: Function) -> list[MessageItem] | None:
        """The parts of the string that a function of the project returns."""
        for callee in self.resolver.functions(node.func, function):
            inner = callee.function
            returned = [value for value in inner.returns if self.texts.is_text(value, inner)]
            if inner.name == "__init__" or not returned:
                continue
            if self.texts.is_formatter(inner):
                return self._formatter_call(node, function)
            edge = next((edge for edge in self.graph.edges_into(inner) if edge.node is node), None)
            around, inside = self.scene, {} if edge is None else arguments_of(edge)
            self.scene = {**around, **inside}
            items = [item for value in returned for item in self.take(value, inner)]
            self.scene = around
            return items
        return None

    def _formatter_call(self, node: cst.Call, function: Function) -> list[MessageItem]:
        """A call of a formatting function: its argument is the value, as the result is a string."""
        arguments = [argument.value for argument in node.args if constant_text(argument.value) is None]
        spelled = self.nodes.code(node)
        if not arguments:
            return [spelled]
        if isinstance(arguments[0], cst.Name) and self.argument_value(arguments[0].value, function) is not None:
            return self.take(arguments[0], function)
        return [ReportedValue(arguments[0], arguments[0], function, spelled, style=f"{last_name(node.func)}()")]


def _expression(argument: Substitute | None) -> Placed | None:
    if isinstance(argument, tuple) and isinstance(argument[0], cst.BaseExpression):
        return argument[0], argument[1]
    return None


def _joined(node: cst.ConcatenatedString) -> list[cst.BaseExpression]:
    """The texts that stand side by side; a long message has more of them than may be nested."""
    pieces: list[cst.BaseExpression] = []
    rest: cst.BaseExpression = node
    while isinstance(rest, cst.ConcatenatedString):
        pieces.append(rest.left)
        rest = rest.right
    return [*pieces, rest]


def _starred_arguments(call: cst.Call) -> dict[str, cst.BaseExpression]:
    return {argument.star: argument.value for argument in call.args if argument.star}


def _set_style(items: list[MessageItem], style: str, spec: str) -> list[MessageItem]:
    """Set style and spec of a lone value, unless an inner expression already set more specific ones."""
    return [
        replace(item, style=style, spec=spec or item.spec)
        if isinstance(item, ReportedValue)
        and len(items) == 1
        and (item.style == FormatStyle.PLAIN or not item.spec)
        and item.style != WRITTEN
        else item
        for item in items
    ]


def _text_keys(node: cst.BaseExpression) -> dict[str, cst.BaseExpression] | None:
    """The items of a dict display or `dict(a=…)` with constant keys; None otherwise."""
    if isinstance(node, cst.Dict):
        return dict(named_items(node))
    if isinstance(node, cst.Call) and dotted_name(node.func) == "dict" and not positional(node):
        return keywords(node)
    return None


def _spell_path(code: str, argument: cst.BaseExpression, path: str) -> str:
    """An argument with the attributes and items that a template takes of it, spelled as in Python."""
    simple = isinstance(argument, cst.Name | cst.Attribute | cst.Call | cst.Subscript)
    inside = [piece.split("]")[0] for piece in path.split("[")[1:]]
    if not all(piece.isdigit() or piece[:1] in "'\"" for piece in inside) and "'" not in path:
        path = path.replace("[", "['").replace("]", "']")
    return (code if simple else f"({code})") + path


def _spec_text(spec: object) -> str:
    if not isinstance(spec, tuple | list):
        return ""
    return "".join(part.value if isinstance(part, cst.FormattedStringText) else "{}" for part in spec)

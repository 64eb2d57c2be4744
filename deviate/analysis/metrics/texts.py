"""Strings: which expressions are strings, their templates, and which functions only format their arguments."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.metrics.displays import Displays
from deviate.analysis.resolve.identifier_words import PHASES
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.message_items import Field, decimals, format_fields, percent_fields
from deviate.analysis.resolve.tree import constant_text, dotted_name, positional, walk
from deviate.model.metric_vocabulary import QUALITY, SPEEDS, split_identifier, word_set

TEXT_METHODS = word_set(
    "ljust rjust center strip lstrip rstrip upper lower title capitalize expandtabs replace encode decode zfill"
)
DUMPING = frozenset(
    {"json.dumps", "pprint.pformat", "builtins.str", "builtins.repr", "tabulate.tabulate", "yaml.dump", "ujson.dumps"}
)
TEXT_CALLS = DUMPING | {"builtins.format"}
ANYTHING = " "
"""Stands for an unknown part of a template."""

DEEPEST = 14


class ProjectTexts:
    """Queries about the strings of a project."""

    def __init__(self, displays: Displays) -> None:
        self.displays = displays
        self.nodes = displays.nodes
        self.resolver = displays.resolver

    # ------------------------------------------------------------ templates

    def template(self, node: cst.BaseExpression, function: Function, depth: int = DEEPEST) -> str | None:
        """The text of a template, here or where its variable is assigned; None if unknown."""
        text = constant_text(node)
        if text is not None or depth <= 0:
            return text
        match node:
            case cst.Name():
                _, bindings = self.resolver.find(node.value, function)
                return self._fullest(bindings, depth)
            case cst.Attribute(value=cst.Name()):
                scope, _ = self.resolver.find(node.value.value, function)  # type: ignore[attr-defined]
                owner = scope.owner if scope.receiver == node.value.value else None  # type: ignore[attr-defined]
                attribute_bindings = owner.attributes.get(node.attr.value, []) if owner is not None else []
                return self._fullest([binding for binding, _ in attribute_bindings], depth)
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="join"))):
                return self._join(node, node.func.value, function, depth - 1)  # type: ignore[attr-defined]
            case cst.BinaryOperation(operator=cst.Add()):
                left_text, right_text = (self.template(side, function, depth - 1) for side in (node.left, node.right))
                return None if left_text is None or right_text is None else left_text + right_text
        return None

    def _fullest(self, bindings: list[Binding], depth: int) -> str | None:
        """The assigned template with the most fields, if it has the fields of all others."""
        templates = []
        for binding in bindings:
            value = binding.whole("assign")
            if value is None:
                return None
            templates.append(self.template(value, self.nodes.function_of(value), depth - 3))
        known_templates = [text for text in templates if text is not None]
        if not templates or len(known_templates) != len(templates):
            return None
        fullest = max(known_templates, key=len)
        return fullest if all(_fields(text) <= _fields(fullest) for text in known_templates) else None

    def _join(self, node: cst.Call, base: cst.BaseExpression, function: Function, depth: int) -> str | None:
        """A template joined from a list of strings, some of which may be unknown."""
        values = self.displays.sequence_items(positional(node)[0], function) if positional(node) else None
        parts = [self.template(value, where, depth) for value, where in values or ()]
        if all(part is None for part in parts):
            return None
        return (constant_text(base) or ANYTHING).join(ANYTHING if part is None else part for part in parts)

    # ------------------------------------------------------------ texts

    def is_text(self, node: cst.BaseExpression, function: Function, depth: int = DEEPEST) -> bool:
        """Whether an expression is certainly a string."""
        if isinstance(node, cst.BaseString):
            return True
        if depth <= 0:
            return False
        match node:
            case cst.BinaryOperation(operator=cst.Modulo()):
                is_known = self.template(node.left, function) is not None
                return is_known or self.is_text(node.left, function, depth - 1)
            case cst.BinaryOperation(operator=cst.Add()):
                return any(self.is_text(part, function, depth - 1) for part in _summands(node))
            case cst.BinaryOperation(operator=cst.Multiply()):
                return constant_text(node.left) is not None or constant_text(node.right) is not None
            case cst.IfExp():
                return any(self.is_text(side, function, depth - 1) for side in (node.body, node.orelse))
            case cst.Subscript() if any(isinstance(piece.slice, cst.Slice) for piece in node.slice):
                return self.is_text(node.value, function, depth - 1)
            case cst.Name():
                return self._is_text_variable(node, function, depth)
            case cst.Call():
                return self._is_text_call(node, function, depth)
        return False

    def shows_number(self, node: cst.BaseExpression, function: Function) -> bool:
        """Whether an expression is a text with words and a number that is shown with decimals, also by its variable."""
        values = [node]
        if isinstance(node, cst.Name):
            bindings = self.resolver.find(node.value, function)[1]
            values = [value for binding in bindings if (value := binding.whole("assign", "add")) is not None]
        pieces = [piece for value in values for part in walk(value) for piece in _pieces(part)]
        words = [word for piece in pieces if isinstance(piece, str) for word in split_identifier(piece)]
        is_named = any(len(word) > 1 and not word.isdigit() for word in words)
        return is_named and any(decimals(piece.spec) for piece in pieces if isinstance(piece, Field))

    def _is_text_call(self, node: cst.Call, function: Function, depth: int) -> bool:
        if isinstance(node.func, cst.Attribute):
            method, base = node.func.attr.value, node.func.value
            if method == "format":
                is_template = dotted_name(base) == "str" or self.template(base, function) is not None
                return is_template or self.is_text(base, function, depth - 1)
            if method == "join" and constant_text(base) is not None:
                return True
            if (method == "join" or method in TEXT_METHODS) and self.is_text(base, function, depth - 1):
                return True
        if self.resolver.qualified_name(node.func, function) in TEXT_CALLS:
            return True
        return any(
            self.is_text(value, callee.function, depth - 4)
            for callee in self.resolver.functions(node.func, function)
            if depth > 4
            for value in callee.function.returns
        )

    def _is_text_variable(self, node: cst.Name, function: Function, depth: int) -> bool:
        _, bindings = self.resolver.find(node.value, function)
        values = [value for binding in bindings if (value := binding.whole("assign", "add")) is not None]
        return depth > 3 and any(self.is_text(value, self.nodes.function_of(value), depth - 3) for value in values)

    # ------------------------------------------------------------ formatters

    def is_formatter(self, function: Function) -> bool:
        """Whether a function only formats its arguments and does not name them.

        Only its arguments are reported: `format_time(seconds)`.
        """
        if not [name for name in function.parameters if name != function.receiver]:
            return False
        seen: set[str] = set()
        waiting: list[cst.CSTNode] = list(function.returns)
        while waiting:
            for part in walk(waiting.pop()):
                if isinstance(part, cst.BaseString | cst.FormattedStringText) and _names_a_value(part):
                    return False
                if not isinstance(part, cst.Name) or part.value in seen:
                    continue
                seen.add(part.value)
                scope, bindings = self.resolver.find(part.value, function)
                if part.value == function.receiver:
                    return False
                if scope is function:
                    waiting += [
                        binding.value
                        for binding in bindings
                        if binding.how != "parameter" and binding.value is not None
                    ]
        return True


def _summands(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield node.right
        node = node.left
    yield node


def _pieces(node: cst.CSTNode) -> list[str | Field]:
    """Text and fields of a string, in which fields of an f-string have no argument to speak of."""
    if isinstance(node, cst.FormattedString):
        return [
            part.value if isinstance(part, cst.FormattedStringText) else Field("", "", _spec(part))
            for part in node.parts
            if isinstance(part, cst.FormattedStringText | cst.FormattedStringExpression)
        ]
    text = constant_text(node) if isinstance(node, cst.SimpleString) else None
    if text is None:
        return []
    return percent_fields(text) if "%" in text else format_fields(text)


def _spec(part: cst.FormattedStringExpression) -> str:
    return "".join(piece.value for piece in part.format_spec or () if isinstance(piece, cst.FormattedStringText))


def _fields(template: str) -> set[object]:
    parts = [*format_fields(template), *percent_fields(template)]
    return {part.argument for part in parts if isinstance(part, Field)}


def _names_a_value(text: cst.CSTNode) -> bool:
    written = (text.value if isinstance(text, cst.FormattedStringText) else constant_text(text)) or ""
    is_speed = "/s" in written or " per " in written  # `12.3 it/s` says what it is; `3 min 12 s` only how long
    return is_speed or bool((QUALITY | SPEEDS | PHASES.keys()) & set(split_identifier(written)))


def holds_values(node: cst.BaseExpression) -> bool:
    """Whether a string is more than a constant."""
    return constant_text(node) is None

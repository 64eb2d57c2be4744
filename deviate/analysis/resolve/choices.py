"""Choices by name: the texts that an expression can be, from constants, command-line defaults and configuration."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument, Edge
from deviate.analysis.resolve.config_files import ConfigFiles
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.tree import argument, constant_key, constant_text, keywords, last_name, positional

MOST_TEXTS = 40
DEEPEST = 12
SHORTEST_PATTERN = 3
"""Letters that a composed name must have in common with a candidate, where its other parts are unknown."""

CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "capitalize": str.capitalize,
    "strip": str.strip,
}
OPTIONS = frozenset({"add_argument", "option", "Option", "DEFINE_string", "DEFINE_enum", "add_flag"})


class Scopes(Protocol):
    """What the resolver knows of names: who binds them, and which calls pass arguments to them."""

    chosen: dict[tuple[Function, str], str]

    def enter(self, key: object) -> bool: ...
    def leave(self, key: object) -> None: ...
    def find(self, name: str, function: Function) -> tuple[Function, list[Binding]]: ...
    def edges_into(self, function: Function) -> tuple[Edge, ...]: ...
    def loop_items(self, node: cst.BaseExpression, position: tuple[int, ...], function: Function) -> list[Argument]: ...


class Choices:
    """Finds the texts that expressions can be."""

    def __init__(self, project: Project, resolver: Scopes) -> None:
        self.project = project
        self.resolver = resolver
        self.config = ConfigFiles(project.root)
        self._options: dict[str, dict[str, None]] = {}
        self._n_modules = 0

    def choose(self, node: cst.BaseExpression, function: Function, names: Iterable[str]) -> list[str] | None:
        """Which of these names an expression can be; None if that is unknown."""
        names = list(names)
        texts = self.texts(node, function)
        chosen = [name for name in names if name in texts]
        if chosen:
            return chosen
        pattern = self._pattern(node, function)
        return [name for name in names if re.fullmatch(pattern, name)] or None if pattern is not None else None

    def texts(self, node: cst.BaseExpression, function: Function, depth: int = DEEPEST) -> dict[str, None]:
        """The texts that an expression can be, as far as they are known; empty if none is."""
        if depth == 0 or not self.resolver.enter(("texts", node)):
            return {}
        try:
            return dict.fromkeys(itertools.islice(self._texts(node, function, depth - 1), MOST_TEXTS))
        finally:
            self.resolver.leave(("texts", node))

    def _texts(self, node: cst.BaseExpression, function: Function, depth: int) -> Iterator[str]:
        text = constant_text(node)
        if text is not None:
            yield text
            return
        match node:
            case cst.Name():
                yield from self._texts_of_name(node.value, function, depth)
            case cst.Attribute():
                yield from self._texts_of_attribute(node, function, depth)
            case cst.Subscript():
                yield from self.texts_under(constant_key(node) or "")
            case cst.Call():
                yield from self._texts_of_call(node, function, depth)
            case cst.IfExp():
                yield from (*self.texts(node.body, function, depth), *self.texts(node.orelse, function, depth))
            case cst.BooleanOperation():
                yield from (*self.texts(node.left, function, depth), *self.texts(node.right, function, depth))
            case cst.FormattedString() | cst.BinaryOperation(operator=cst.Add()):
                pieces = [
                    {part: None} if isinstance(part, str) else self.texts(part, function, depth)
                    for part in _pieces(node)
                ]
                yield from ("".join(parts) for parts in itertools.product(*pieces))

    def _texts_of_attribute(self, node: cst.Attribute, function: Function, depth: int) -> Iterator[str]:
        method = function.method
        if method is None or method.owner is None or last_name(node.value) != method.receiver:
            yield from self.texts_under(node.attr.value)
            return
        for binding, where in method.owner.attributes.get(node.attr.value, ()):
            yield from self._texts_bound(binding, where, depth)

    def texts_under(self, key: str) -> Iterator[str]:
        """The defaults and choices of an option of the command line, and texts under a key of configuration files."""
        yield from self._list_options().get(key, ())
        yield from self.config.texts_under(key)

    def _texts_of_name(self, name: str, function: Function, depth: int) -> Iterator[str]:
        scope, bindings = self.resolver.find(name, function)
        if (text := self.resolver.chosen.get((scope, name))) is not None:
            yield text
            return
        for binding in bindings:
            if binding.how == "parameter":
                for edge in self.resolver.edges_into(scope):
                    handed = edge.argument(name)
                    if handed is not None and isinstance(handed[0], cst.BaseExpression):
                        yield from self.texts(handed[0], handed[1], depth)
            yield from self._texts_bound(binding, scope, depth)

    def _texts_bound(self, binding: Binding, scope: Function, depth: int) -> Iterator[str]:
        value = binding.whole("assign", "parameter")
        if value is not None:
            yield from self.texts(value, self.project.nodes.function_of(value), depth)
        elif binding.how == "for" and isinstance(binding.value, cst.BaseExpression):
            for item, where in self.resolver.loop_items(binding.value, binding.position, scope):
                if isinstance(item, cst.BaseExpression):
                    yield from self.texts(item, where, depth)

    def _texts_of_call(self, call: cst.Call, function: Function, depth: int) -> Iterator[str]:
        name, arguments = last_name(call.func), positional(call)
        if name == "str" and arguments:
            yield from self.texts(arguments[0], function, depth)
        elif name == "get" and arguments and (key := constant_text(arguments[0])) is not None:
            yield from self.texts_under(key)
            for default in arguments[1:2]:
                yield from self.texts(default, function, depth)
        elif name in CASES and isinstance(call.func, cst.Attribute) and not arguments:
            yield from (CASES[name](text) for text in self.texts(call.func.value, function, depth))

    def _pattern(self, node: cst.BaseExpression, function: Function) -> str | None:
        """A pattern of a composed text whose other parts are unknown; None if too little of it is known."""
        if isinstance(node, cst.Name):
            values = [binding.whole("assign") for binding in self.resolver.find(node.value, function)[1]]
            composed = [value for value in values if isinstance(value, cst.FormattedString | cst.BinaryOperation)]
            return self._pattern(composed[0], function) if len(composed) == 1 else None
        pieces = [part if isinstance(part, str) else constant_text(part) for part in _pieces(node)]
        if sum(len(part) for part in pieces if part) < SHORTEST_PATTERN:
            return None
        return "".join(".+" if part is None else re.escape(part) for part in pieces)

    def _list_options(self) -> dict[str, dict[str, None]]:
        """Texts of the options that the files read so far declare: defaults and choices, by the option's name."""
        if self._n_modules != len(self.project.modules):
            modules = list(self.project.modules.values())
            for module in modules[self._n_modules :]:
                for scope in module.scopes:
                    for call in scope.calls:
                        if last_name(call.func) in OPTIONS:
                            self._add_option(call)
                for cls in module.classes.values():  # fields with defaults
                    for name, bound in cls.attributes.items():
                        for binding, where in bound:
                            if where.owner is None and (text := constant_text(binding.whole("assign"))) is not None:
                                self._options.setdefault(name, {})[text] = None
            self._n_modules = len(modules)
        return self._options

    def _add_option(self, call: cst.Call) -> None:
        named = [text for value in positional(call) if (text := constant_text(value)) is not None]
        is_flag = last_name(call.func).startswith("DEFINE_")
        names = named[:1] if is_flag else [text for text in named if text.startswith("--")] or named[:1]
        default = argument(call, 1 if is_flag else None, "default")
        values = [default] if default is not None else []
        for choices in (keywords(call).get("choices"), keywords(call).get("type"), argument(call, 2, "enum_values")):
            if isinstance(choices, cst.Call) and last_name(choices.func) == "Choice":
                choices = next(iter(positional(choices)), None)  # noqa: PLW2901
            if isinstance(choices, cst.List | cst.Tuple | cst.Set):
                values += [item.value for item in choices.elements]
            elif isinstance(choices, cst.Call) and last_name(choices.func) == "keys":
                continue
        for name in names:
            texts = self._options.setdefault(name.lstrip("-").replace("-", "_"), {})
            texts.update(dict.fromkeys(text for value in values if (text := constant_text(value)) is not None))


def _pieces(node: cst.BaseExpression) -> list[str | cst.BaseExpression]:
    """The parts of a composed text, those inside braces as expressions; none of what is no text."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [node.left, node.right]
    parts = node.parts if isinstance(node, cst.FormattedString) else ()
    return [
        part.value if isinstance(part, cst.FormattedStringText) else part.expression
        for part in parts
        if isinstance(part, cst.FormattedStringText | cst.FormattedStringExpression)
    ]

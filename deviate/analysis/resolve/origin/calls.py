"""Origins of calls: what a function of the project, a library or a method gives back."""

from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.abstract_values import Instance, Routine, Type
from deviate.analysis.resolve.callables import (
    CLOCK_NAMES,
    CLOCKS,
    JOINING,
    MEASURES,
    MEMORY_CALLS,
    NUMBERS,
    PARSERS,
    PASSING,
    RATE_CALLS,
    SIZE_PARTS,
    SIZES,
    STOPWATCHES,
    TEXT_PARTS,
    TEXTS,
    WRITING,
)
from deviate.analysis.resolve.identifier_words import NEUTRAL, QUALITY, all_words, words
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.meters import FEEDS
from deviate.analysis.resolve.origin.kinds import UNKNOWN, Origin, strongest
from deviate.analysis.resolve.tree import constant_text, dotted, element, identifiers, keywords, last_name, positional

if TYPE_CHECKING:
    from deviate.analysis.resolve.origin.origins import Origins

FRAMES = ("pandas.DataFrame", "pandas.Series", "pandas.concat")
"""Tables: they are what is put into them."""
MEASURING = (QUALITY - NEUTRAL) | {"evaluate", "validate"}


class Results:
    """Answers for calls."""

    def __init__(self, origins: "Origins") -> None:
        self.origins = origins
        self.nodes = origins.nodes
        self.resolver = origins.resolver

    def call(self, node: cst.Call, function: Function, depth: int) -> Origin:
        """The origin of what a call gives."""
        qualified = self.resolver.qualified(node.func, function) or ""
        name = last_name(node.func)
        if qualified in FRAMES and node.args:
            held = self.origins.of(node.args[0].value, function, depth)
            return held if held.kind in ("quality", "duration", "speed") else UNKNOWN
        told = self._named(node, qualified, name) or self._written(node, qualified, function, depth)
        if told is not None:
            return told
        told = self.returned(node, function, depth)
        if isinstance(node.func, cst.Attribute) and (told is None or told.kind not in ("text", "duration")):
            told = self.origins.holders.fed(node.func.value, name, function, depth) or told
        if told is not None:
            return told
        if name in PASSING or name in NUMBERS:
            inner = strongest(self.origins.of(value, function, depth) for value in self._passed(node, function))
            open_kinds = {"unknown", "object", "text"} if name in NUMBERS else {"unknown", "object"}
            return Origin("computed", f"computed by {name}()") if inner.kind in open_kinds else inner
        if MEASURING.intersection(words(name)) or MEASURING.intersection(words(qualified.rpartition(".")[2])):
            return Origin("quality", f"result of {dotted(node.func)}()")
        return UNKNOWN

    def _named(self, node: cst.Call, qualified: str, name: str) -> Origin | None:
        """The origin that the name of a callee tells."""
        spelled = f"{dotted(node.func)}()"
        if qualified in CLOCKS or name in CLOCK_NAMES:
            return Origin("clock", f"clock reading: {spelled}")
        if qualified in SIZES or name in SIZE_PARTS:
            return Origin("size", f"size: {self.nodes.code(node)}")
        if qualified in TEXTS or qualified.startswith("os.path."):
            return Origin("text", "a name or text")
        if name in PARSERS:
            return Origin("setting", f"setting: read by {spelled}")
        if name in RATE_CALLS:
            return Origin("rate", "setting: learning rate, read from the scheduler")
        if name in MEMORY_CALLS:
            return Origin("memory", f"memory: {spelled}")
        if name in STOPWATCHES and not self._is_of_project(node):
            return Origin("duration", f"time: {spelled}")
        if qualified.startswith(MEASURES):
            return Origin("quality", f"result of {spelled}, from {qualified.partition('.')[0]}")
        if name[:1].isupper() and not name.isupper() and name not in NUMBERS and not self._is_of_project(node):
            return Origin("object", f"object: made by {spelled}")
        return None

    def _is_of_project(self, node: cst.Call) -> bool:
        things = self.resolver.of(node.func, self.nodes.function_of(node))
        return any(isinstance(thing, Type | Routine | Instance) for thing in things)

    def _written(self, node: cst.Call, qualified: str, function: Function, depth: int) -> Origin | None:
        """The origin of a text that a library makes: that of a duration stays one."""
        name = last_name(node.func)
        given = positional(node)
        if qualified in WRITING or name in WRITING:
            values = [*given, *keywords(node).values()]
            found = [self.origins.of(value, function, depth) for value in values]
            duration = next((origin for origin in found if origin.kind == "duration"), None)
            return duration or Origin("text", "a text")
        if name == "format" and isinstance(node.func, cst.Attribute):
            template = constant_text(node.func.value)
            if template is not None:
                return self.origins.texts.formatted(template, [*given, *keywords(node).values()], function, depth)
        return Origin("text", "a name or text") if name in TEXT_PARTS else None

    def _passed(self, node: cst.Call, function: Function) -> list[cst.BaseExpression]:
        """The expressions whose kind the result of a call has."""
        arguments, name = positional(node), last_name(node.func)
        if isinstance(node.func, cst.Attribute) and not self._is_module(node.func.value, function):
            return [node.func.value]
        return arguments if name in JOINING else arguments[:1]

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

    def returned(self, call: cst.Call, function: Function, depth: int, item: int | None = None) -> Origin | None:
        """The origin of what a function of the project returns (or of one item of it); None for any other."""
        origins = self.origins
        callee = next((it.function for it in self.resolver.functions(call.func, function)), None)
        if callee is None or callee.name == "__init__" or depth <= 0 or callee in origins.active:
            return None
        if callee.name in FEEDS and not callee.returns:
            return None
        origins.active.add(callee)
        found = []
        for value in callee.returns:
            part = element(value, item) if item is not None else value
            found.append(origins.of(part, callee, depth) if part is not None else UNKNOWN)
        origins.active.discard(callee)
        result = strongest(found)
        if result.kind == "constant" and len(found) > 1:
            result = Origin("computed", f"one of several results of {callee.name}()")
        if result.kind in {"unknown", "computed"} and item is None:
            told = all_words([callee.name, *(name for value in callee.returns for name in identifiers(value))])
            if MEASURING.intersection(told):
                return Origin("quality", f"result of {callee.name}()")
        return result if found else None

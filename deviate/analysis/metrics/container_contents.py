"""Contents of containers that are reported whole: the keys and values put into them anywhere in the source."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.displays import Displays
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.message_items import ReportedValue
from deviate.analysis.resolve.meters import Meters
from deviate.analysis.resolve.tree import constant_text, last_name, walk

ContainerItem = tuple[str, cst.BaseExpression, Function]
"""Text of a key, its value, and the function in which both are written."""

DEEPEST = 6
VIEWS = ("items", "keys", "values", "copy")


class ContainerContents:
    """Finds the items that the source puts into a container."""

    def __init__(self, displays: Displays, meters: Meters) -> None:
        self.displays = displays
        self.meters = meters
        self.resolver = displays.resolver
        self.nodes = displays.nodes

    def of(self, node: cst.CSTNode | None, function: Function, depth: int = DEEPEST) -> Iterator[ContainerItem]:
        """The items of a container, as far as known; keys may be partly built at run time."""
        if depth == 0:
            return
        match node:
            case cst.Dict():
                for item in node.elements:
                    if isinstance(item, cst.DictElement):
                        yield _text(item.key), item.value, function
                    else:
                        yield from self.of(item.value, function, depth - 1)
            case cst.DictComp():
                yield _text(node.key), node.value, function
                yield from self.of(node.for_in.iter, function, depth - 1)  # `{f"val_{k}": v for k, v in stats.items()}`
            case cst.Name():
                yield from self._of_variable(node.value, function, depth - 1)
            case cst.Attribute():
                yield from self._of_attribute(node, function, depth - 1)
            case cst.Call():
                yield from self._of_call(node, function, depth - 1)

    def _of_variable(self, name: str, function: Function, depth: int) -> Iterator[ContainerItem]:
        scope, bindings = self.resolver.find(name, function)
        yield from self._of_bindings(bindings, depth)
        for key, value, where in self.displays.update_items(name, scope):
            if isinstance(key, str):
                yield key, value, where
            else:
                yield from self.of(value, where, depth)

    def _of_attribute(self, node: cst.Attribute, function: Function, depth: int) -> Iterator[ContainerItem]:
        for cls in self.resolver.classes(node.value, function):
            for base in self.resolver.order(cls)[0]:
                bindings = [binding for binding, _ in base.attributes.get(node.attr.value, ())]
                yield from self._of_bindings(bindings, depth)

    def _of_bindings(self, bindings: list[Binding], depth: int) -> Iterator[ContainerItem]:
        for binding in bindings:
            value = binding.value
            if not isinstance(value, cst.BaseExpression):
                continue
            where = self.nodes.function_of(value)
            is_value_of_item = binding.how == "for" and binding.position == (1,)
            if binding.how == "item":
                yield _text(binding.key), value, where
            elif is_value_of_item or (binding.how == "assign" and not binding.position):
                yield from self.of(value, where, depth)
            elif binding.how == "assign":
                for part, inside in self.resolver.unpacked_items(value, binding.position, where):
                    yield from self.of(part, inside, depth)

    def _of_call(self, call: cst.Call, function: Function, depth: int) -> Iterator[ContainerItem]:
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in VIEWS and not call.args:
            yield from self.of(call.func.value, function, depth)
            fed = (
                item for item in self.meters.fed_values(call.func.value, function) if isinstance(item, ReportedValue)
            )
            yield from ((item.name, item.source, item.function) for item in fed)
            return
        for key, value, where in self.displays.mapping_items(call, function) or ():
            if isinstance(key, str):
                yield key, value, where
        for callee in self.resolver.functions(call.func, function):
            if callee.function.name != "__init__":
                for value in callee.function.returns:
                    yield from self.of(value, callee.function, depth)


def _text(key: cst.CSTNode | None) -> str:
    """The known part of the text of a key."""
    if key is None:
        return ""
    parts = (part.value if isinstance(part, cst.FormattedStringText) else constant_text(part) for part in walk(key))
    return " ".join(part for part in parts if part) or last_name(key)

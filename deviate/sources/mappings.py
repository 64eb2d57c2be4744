"""Items of mappings, as far as the source shows them: parameters of a library that are passed in one dict."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.metrics.displays import Displays
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.tree import constant_text, keywords, positional

DEEPEST = 6
VIEWS = ("items", "copy")


class Mappings:
    """Finds the items that the source puts into a mapping."""

    def __init__(self, graph: CallGraph) -> None:
        self.displays = Displays(graph)
        self.resolver = graph.resolver
        self.nodes = graph.nodes

    def items(
        self, node: cst.CSTNode | None, function: Function, depth: int = DEEPEST
    ) -> Iterator[tuple[str, cst.BaseExpression]]:
        """The items under constant keys."""
        if depth == 0:
            return
        match node:
            case cst.Dict():
                for item in node.elements:
                    if not isinstance(item, cst.DictElement):
                        yield from self.items(item.value, function, depth - 1)
                    elif (text := constant_text(item.key)) is not None:
                        yield text, item.value
            case cst.Name():
                yield from self._of_variable(node.value, function, depth - 1)
            case cst.Attribute():
                for cls in self.resolver.classes(node.value, function):
                    for base in self.resolver.order(cls)[0]:
                        bindings = [binding for binding, _ in base.attributes.get(node.attr.value, ())]
                        yield from self._of_bindings(bindings, depth - 1)
            case cst.Call():
                yield from self._of_call(node, function, depth - 1)

    def _of_variable(self, name: str, function: Function, depth: int) -> Iterator[tuple[str, cst.BaseExpression]]:
        scope, bindings = self.resolver.find(name, function)
        yield from self._of_bindings(bindings, depth)
        for call, where in scope.module.calls_of(name, "update"):
            if self.resolver.find(name, where)[0] is scope:
                yield from (item for value in positional(call) for item in self.items(value, where, depth))
                yield from keywords(call).items()

    def _of_bindings(self, bindings: list[Binding], depth: int) -> Iterator[tuple[str, cst.BaseExpression]]:
        for binding in bindings:
            if not isinstance(binding.value, cst.BaseExpression):
                continue
            if binding.how == "item" and (text := constant_text(binding.key)) is not None:
                yield text, binding.value
            elif binding.how == "assign" and not binding.position:
                yield from self.items(binding.value, self.nodes.function_of(binding.value), depth)

    def _of_call(self, call: cst.Call, function: Function, depth: int) -> Iterator[tuple[str, cst.BaseExpression]]:
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in VIEWS and not call.args:
            yield from self.items(call.func.value, function, depth)
            return
        for key, value, _ in self.displays.mapping_items(call, function) or ():
            if isinstance(key, str):
                yield key, value
        for callee in self.resolver.functions(call.func, function):
            if callee.function.name != "__init__":
                for value in callee.function.returns:
                    yield from self.items(value, callee.function, depth)

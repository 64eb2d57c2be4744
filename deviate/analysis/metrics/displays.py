"""Items of containers: those of displays, and what the source puts into them item by item."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.abstract_values import Placed
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import keywords, last_name, positional

Shown = tuple[cst.BaseExpression | str | None, cst.BaseExpression, Function]
"""An item of a mapping: key (None if unpacked into it), value, and the function in which both are written."""

MAPPINGS = ("dict", "OrderedDict")
ADDING = {"append": 0, "add": 0, "insert": 1, "write": 0, "extend": 0, "appendleft": 0}


class Displays:
    """Finds the expressions of the items of a container."""

    def __init__(self, graph: CallGraph) -> None:
        self.resolver = graph.resolver
        self.nodes = graph.nodes

    # ------------------------------------------------------------ mappings

    def mapping_items(self, node: cst.BaseExpression, function: Function, depth: int = 4) -> list[Shown] | None:
        """The items of a literal mapping, here or where its variable is assigned; None otherwise."""
        if isinstance(node, cst.Dict):
            if any(_is_empty(item.value) for item in node.elements):
                return None  # filled later: `{"loss": []}`
            return [
                (item.key if isinstance(item, cst.DictElement) else None, item.value, function)
                for item in node.elements
            ]
        if isinstance(node, cst.Call) and last_name(node.func) in MAPPINGS:
            return self._items_of_call(node, function)
        if isinstance(node, cst.Name) and depth:
            scope, bindings = self.resolver.find(node.value, function)
            value = bindings[0].whole("assign") if len(bindings) == 1 else None
            if value is not None:
                return self.mapping_items(value, scope, depth - 1)
        return None

    def _items_of_call(self, node: cst.Call, function: Function) -> list[Shown] | None:
        items: list[Shown] = [(key, value, function) for key, value in keywords(node).items()]
        items += [(None, argument.value, function) for argument in node.args if argument.star == "**"]
        items += [(None, argument, function) for argument in positional(node)]
        return items or None

    # ------------------------------------------------------------ sequences

    def sequence_items(self, node: cst.BaseExpression, function: Function, depth: int = 4) -> list[Placed] | None:
        """The items of a sequence that is a literal or filled item by item; None otherwise."""
        if isinstance(node, cst.List | cst.Tuple | cst.Set):
            items: list[Placed] = []
            for item in node.elements:
                if isinstance(item, cst.StarredElement):
                    items += self.sequence_items(item.value, function, depth - 1) or [(item.value, function)]
                else:
                    items.append((item.value, function))
            return items
        if isinstance(node, cst.GeneratorExp | cst.ListComp):
            return [(node.elt, function)]
        if isinstance(node, cst.Call) and last_name(node.func) in ("list", "tuple") and node.args and depth:
            return self.sequence_items(node.args[0].value, function, depth - 1)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add) and depth:
            left_items, right_items = (
                self.sequence_items(side, function, depth - 1) for side in (node.left, node.right)
            )
            return None if left_items is None and right_items is None else [*(left_items or ()), *(right_items or ())]
        if isinstance(node, cst.Name) and depth:
            return self._filled_items(node.value, function, depth)
        return None

    def _filled_items(self, name: str, function: Function, depth: int) -> list[Placed] | None:
        scope, bindings = self.resolver.find(name, function)
        items: list[Placed] = []
        is_list = False
        for binding in bindings:
            if (value := binding.whole("assign", "add")) is not None:
                inner = self.sequence_items(value, self.nodes.function_of(binding.node), depth - 1)
                is_list = is_list or inner is not None
                items += inner or []
        if not is_list:
            return None
        return [*items, *self._additions(name, scope)]

    def _additions(self, name: str, scope: Function) -> Iterator[Placed]:
        for call, function in scope.module.calls_of(name, *ADDING):
            arguments, method = positional(call), last_name(call.func)
            if ADDING[method] < len(arguments) and self.resolver.find(name, function)[0] is scope:
                value = arguments[ADDING[method]]
                inner = self.sequence_items(value, function, 1) if method == "extend" else None
                yield from inner or [(value, function)]


def _is_empty(node: cst.BaseExpression) -> bool:
    """Whether an expression is an empty literal container."""
    if isinstance(node, cst.List | cst.Dict):
        return not node.elements
    return isinstance(node, cst.Call) and last_name(node.func) in ("list", "dict", "deque") and not node.args

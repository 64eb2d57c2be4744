"""Items of containers: those of displays, and what the source puts into them item by item or anywhere."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.abstract_values import Placed
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.message_items import ReportedValue
from deviate.analysis.resolve.meters import Meters
from deviate.analysis.resolve.tree import constant_text, element, keywords, last_name, positional, walk

# ---------------------------------------------------------------- literal containers

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
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            return [(None, node.left, function), (None, node.right, function)]
        if isinstance(node, cst.Name) and depth:
            scope, bindings = self.resolver.find(node.value, function)
            value = bindings[0].whole("assign") if len(bindings) == 1 else None
            if value is not None:
                items = self.mapping_items(value, scope, depth - 1)
                return None if items is None else [*items, *self.update_items(node.value, scope)]
        return None

    def update_items(self, name: str, scope: Function) -> Iterator[Shown]:
        """The items that `update` adds to a mapping later."""
        for call, function in scope.module.calls_of(name, "update"):
            if self.resolver.find(name, function)[0] is scope:
                yield from ((None, value, function) for value in positional(call))
                yield from ((key, value, function) for key, value in keywords(call).items())

    def _items_of_call(self, node: cst.Call, function: Function) -> list[Shown] | None:
        items: list[Shown] = [(key, value, function) for key, value in keywords(node).items()]
        items += [(None, argument.value, function) for argument in node.args if argument.star == "**"]
        for argument in positional(node):
            if isinstance(argument, cst.Dict):
                items += self.mapping_items(argument, function) or []
            elif isinstance(argument, cst.List | cst.Tuple):
                pairs = [(element(item.value, 0), element(item.value, 1)) for item in argument.elements]
                if any(key is None or value is None for key, value in pairs):
                    return None
                items += [(key, value, function) for key, value in pairs if value is not None]
            else:
                items.append((None, argument, function))
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

    def literal_items(self, node: cst.BaseExpression, function: Function) -> list[Placed]:
        """The items of a literal list or tuple, here or where its variable is assigned."""
        if isinstance(node, cst.Name):
            scope, bindings = self.resolver.find(node.value, function)
            value = bindings[0].whole("assign") if len(bindings) == 1 else None
            if value is None or next(self._additions(node.value, scope), None):
                return []
            node = value
        return self.sequence_items(node, function) or [] if isinstance(node, cst.List | cst.Tuple) else []


def _is_empty(node: cst.BaseExpression) -> bool:
    """Whether an expression is an empty literal container."""
    if isinstance(node, cst.List | cst.Dict):
        return not node.elements
    return isinstance(node, cst.Call) and last_name(node.func) in ("list", "dict", "deque") and not node.args


# ---------------------------------------------------------------- contents from anywhere in the source

ContainerItem = tuple[str, cst.BaseExpression, Function]
"""Text of a key, its value, and the function in which both are written."""

DEEPEST = 6
FRAME_METHODS = ("round", "to_string", "to_markdown", "transpose", "fillna", "sort_values", "sort_index", "to_dict")
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
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in FRAME_METHODS:
            yield from self.of(call.func.value, function, depth)
            return
        if call.args and self.resolver.qualified_name(call.func, function) == "pandas.DataFrame":
            yield from self.of(call.args[0].value, function, depth)
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

"""How values flow into what is reported: through displays, lists filled before, parameters and loops over them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from .calls import CallGraph
from .index import Binding, Function
from .things import Argument, Edge
from .tree import constant_text, element, keywords, last_name, positional, walk
from .values import Given, Scene, Stars

if TYPE_CHECKING:
    from .messages import Taker

Shown = tuple[cst.BaseExpression | str | None, cst.BaseExpression, Function]
"""An item of a mapping: key (None for one unpacked into it), value, and the function they stand in."""

PEELED = ("sorted", "list", "tuple", "reversed", "iter", "tqdm", "map")
MAPPINGS = ("dict", "OrderedDict")
ADDING = {"append": 0, "add": 0, "insert": 1, "write": 0, "extend": 0, "appendleft": 0}


class Flows:
    """Answers where the parts of a container, a parameter or a loop variable are written down."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.resolver = graph.resolver
        self.nodes = graph.nodes

    # ------------------------------------------------------------ displays

    def display(self, node: cst.BaseExpression, function: Function, depth: int = 4) -> list[Shown] | None:
        """The items of a mapping that is written down, here or where its variable is set; None for any other."""
        if isinstance(node, cst.Dict):
            return [
                (item.key if isinstance(item, cst.DictElement) else None, item.value, function)
                for item in node.elements
            ]
        if isinstance(node, cst.Call) and last_name(node.func) in MAPPINGS:
            return self._made(node, function)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            return [(None, node.left, function), (None, node.right, function)]
        if isinstance(node, cst.Name) and depth:
            scope, bindings = self.resolver.find(node.value, function)
            assigned = [binding for binding in bindings if binding.how == "assign" and not binding.way]
            if len(assigned) == len(bindings) == 1 and isinstance(assigned[0].value, cst.BaseExpression):
                return self.display(assigned[0].value, scope, depth - 1)
        return None

    def _made(self, node: cst.Call, function: Function) -> list[Shown] | None:
        shown: list[Shown] = [(key, value, function) for key, value in keywords(node).items()]
        for given in positional(node):
            if isinstance(given, cst.Dict):
                shown += self.display(given, function) or []
            elif isinstance(given, cst.List | cst.Tuple):
                pairs = [(element(item.value, 0), element(item.value, 1)) for item in given.elements]
                if any(key is None or value is None for key, value in pairs):
                    return None
                shown += [(key, value, function) for key, value in pairs if value is not None]
            else:
                shown.append((None, given, function))
        return shown or None

    def listed(self, node: cst.BaseExpression, function: Function, depth: int = 4) -> list[Argument] | None:
        """The items of a sequence that is written down or filled item by item; None for any other."""
        if isinstance(node, cst.List | cst.Tuple | cst.Set):
            found: list[Argument] = []
            for item in node.elements:
                if isinstance(item, cst.StarredElement):
                    found += self.listed(item.value, function, depth - 1) or [(item.value, function)]
                else:
                    found.append((item.value, function))
            return found
        if isinstance(node, cst.GeneratorExp | cst.ListComp):
            return [(node.elt, function)]
        if isinstance(node, cst.Call) and last_name(node.func) in ("list", "tuple") and node.args and depth:
            return self.listed(node.args[0].value, function, depth - 1)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add) and depth:
            left, right = (self.listed(side, function, depth - 1) for side in (node.left, node.right))
            return None if left is None and right is None else [*(left or ()), *(right or ())]
        if isinstance(node, cst.Name) and depth:
            return self._filled(node.value, function, depth)
        return None

    def _filled(self, name: str, function: Function, depth: int) -> list[Argument] | None:
        scope, bindings = self.resolver.find(name, function)
        found: list[Argument] = []
        is_list = False
        for binding in bindings:
            if binding.how in ("assign", "add") and not binding.way and isinstance(binding.value, cst.BaseExpression):
                inner = self.listed(binding.value, self.nodes.function_of(binding.node), depth - 1)
                is_list = is_list or inner is not None
                found += inner or []
        if not is_list:
            return None
        return [*found, *self._added(name, scope)]

    def _added(self, name: str, scope: Function) -> Iterator[Argument]:
        for function in scope.module.scopes:
            for call in function.calls:
                if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ADDING:
                    continue
                given, place = positional(call), ADDING[call.func.attr.value]
                held = call.func.value
                if not isinstance(held, cst.Name) or held.value != name or place >= len(given):
                    continue
                if self.resolver.find(name, function)[0] is scope:
                    inner = self.listed(given[place], function, 1) if call.func.attr.value == "extend" else None
                    yield from inner or [(given[place], function)]

    def texts_in(self, node: cst.Name, function: Function, taker: "Taker") -> list[Argument]:
        """The items of a list variable that is shown as a whole, where they are texts with values."""
        items = self.listed(node, function) or []
        return [
            (value, where)
            for value, where in items
            if isinstance(value, cst.BaseExpression) and constant_text(value) is None and taker.is_text(value, where)
        ]

    # ------------------------------------------------------------ parameters

    def given(self, edge: Edge) -> dict[tuple[Function, str], Given]:
        """What each parameter of a function stands for in one call of it."""
        callee = edge.callee
        found: dict[tuple[Function, str], Given] = {}
        for name, bindings in callee.bindings.items():
            if bindings[0].how == "parameter" and name != callee.receiver:
                argument = edge.argument(name) or self._default(bindings[0], callee)
                if argument is not None:
                    found[callee, name] = argument
            elif bindings[0].how == "stars":
                rest = edge.given[max(0, len(callee.parameters) - edge.skipped) :]
                found[callee, name] = Stars(rest, tuple(it for it in edge.named if it[0] not in callee.parameters))
        return found

    def _default(self, binding: Binding, callee: Function) -> Argument | None:
        return (binding.value, callee) if isinstance(binding.value, cst.BaseExpression) else None

    def looped_parameter(self, binding: Binding, scope: Function) -> tuple[Function, str] | None:
        """The parameter whose items a loop variable takes; None where it is no parameter's."""
        root = binding.value
        while isinstance(root, cst.Call):
            if last_name(root.func) in ("items", "values", "keys") and isinstance(root.func, cst.Attribute):
                root = root.func.value
            elif root.args and last_name(root.func) in (*PEELED, "enumerate", "zip"):
                root = root.args[0].value
            else:
                return None
        if not isinstance(root, cst.Name):
            return None
        owner, bindings = self.resolver.find(root.value, scope)
        is_open = bool(bindings) and bindings[0].how in ("parameter", "stars") and root.value != owner.receiver
        return (owner, root.value) if is_open and len(bindings) == 1 else None

    def turns(self, node: cst.CSTNode, function: Function, scene: Scene) -> Iterator[Scene]:
        """The scene of each turn of the loops and comprehensions around a report that go over a given container."""
        scenes = [scene]
        for loop in self._loops(node):
            scenes = [more for one in scenes for more in self._turns_of(loop, function, one)]
        yield from scenes

    def _loops(self, node: cst.CSTNode) -> list[cst.For | cst.CompFor]:
        found: list[cst.For | cst.CompFor] = [it for it in self.nodes.loops_around(node) if isinstance(it, cst.For)]
        return found + [part for part in walk(node) if isinstance(part, cst.CompFor)]

    def _turns_of(self, loop: cst.For | cst.CompFor, function: Function, scene: Scene) -> Iterator[Scene]:
        iterable: cst.BaseExpression = loop.iter
        names: list[cst.BaseExpression | None] = [loop.target]
        if isinstance(iterable, cst.Call) and last_name(iterable.func) == "enumerate" and iterable.args:
            names, iterable = [element(loop.target, 1)], iterable.args[0].value
        while isinstance(iterable, cst.Call) and last_name(iterable.func) in PEELED and iterable.args:
            iterable = iterable.args[-1].value if last_name(iterable.func) == "map" else iterable.args[0].value
        kind = ""
        if isinstance(iterable, cst.Call) and isinstance(iterable.func, cst.Attribute) and not iterable.args:
            kind, iterable = iterable.func.attr.value, iterable.func.value
        given = self._given(iterable, function, scene)
        if given is None or names[0] is None:
            yield scene
            return
        target = names[0]
        turns = list(self._items(given, kind, target))
        for turn in turns:
            bound = {(self.resolver.find(name, function)[0], name): value for name, value in turn.items()}
            yield scene.extended(bound)
        if not turns:
            yield scene

    def _given(self, iterable: cst.BaseExpression, function: Function, scene: Scene) -> Given | None:
        if not isinstance(iterable, cst.Name):
            return None
        return scene.get(self.resolver.find(iterable.value, function)[0], iterable.value)

    def _items(self, given: Given, kind: str, target: cst.BaseExpression) -> Iterator[dict[str, Given]]:
        """What the names of a loop's target stand for in each turn."""
        pairs, plain = self._pairs(given)
        if isinstance(target, cst.Name):
            for value in [value for _, value in pairs] if kind == "values" else plain:
                yield {target.value: value}
            return
        first, second = element(target, 0), element(target, 1)
        if not isinstance(first, cst.Name) or not isinstance(second, cst.Name):
            return
        for key, value in pairs if kind == "items" else map(_pair, plain):
            if key is not None and value is not None:
                yield {first.value: key, second.value: value}

    def _pairs(self, given: Given) -> tuple[list[tuple[Given, Given]], list[Given]]:
        """The items of a container: by key, and in order."""
        if isinstance(given, str):
            return [], []
        if isinstance(given, Stars):
            return list(given.named), list(given.given)
        node, function = given
        if not isinstance(node, cst.BaseExpression):
            return [], []
        pairs: list[tuple[Given, Given]] = [
            (key if isinstance(key, str) else (key, where), (value, where))
            for key, value, where in self.display(node, function) or ()
            if key is not None
        ]
        plain: list[Given] = list(self.listed(node, function) or ())
        # Where its items stand nowhere, the whole is reported.
        return (pairs, plain) if pairs or plain else ([("", given)], [given])

    # ------------------------------------------------------------ formatters

    def is_formatter(self, function: Function) -> bool:
        """Whether a function makes a text of its arguments alone: nothing of it is reported but what it is given."""
        if not function.parameters or (function.receiver is not None and len(function.parameters) == 1):
            return False
        for value in function.returns:
            for part in walk(value):
                if not isinstance(part, cst.Name):
                    continue
                scope, bindings = self.resolver.find(part.value, function)
                is_outer = scope is not function and bindings and bindings[0].how in ("assign", "add", "for")
                if part.value == function.receiver or is_outer:
                    return False
        return True


def _pair(item: Given) -> tuple[Given | None, Given | None]:
    """A tuple of two that is an item of a list."""
    if not isinstance(item, tuple) or not isinstance(item[0], cst.BaseExpression):
        return None, None
    first, second = element(item[0], 0), element(item[0], 1)
    return (None, None) if first is None or second is None else ((first, item[1]), (second, item[1]))

"""Flow of values into reports, through parameters and loops over containers."""

from collections.abc import Iterator, Mapping

import libcst as cst

from deviate.analysis.metrics.containers import Displays
from deviate.analysis.resolve.abstract_values import Argument, Edge
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.message_items import EMPTY_SCENE, Scene, Stars, Substitute
from deviate.analysis.resolve.tree import constant_number, constant_text, element, last_name, positional, walk

PEELED = ("sorted", "list", "tuple", "reversed", "iter", "tqdm", "map")


class Flows:
    """Finds the expressions that a parameter or a loop variable stands for."""

    def __init__(self, graph: CallGraph, displays: Displays) -> None:
        self.displays = displays
        self.graph = graph
        self.resolver = graph.resolver
        self.nodes = graph.nodes
        self._known_loops: dict[cst.CSTNode, list[cst.For | cst.CompFor]] = {}

    # ------------------------------------------------------------ parameters

    def arguments_of(self, edge: Edge) -> dict[tuple[Function, str], Substitute]:
        """The expression behind each parameter of a function in one call of it."""
        callee = edge.callee
        arguments: dict[tuple[Function, str], Substitute] = {}
        for name, bindings in callee.bindings.items():
            if bindings[0].how == "parameter" and name != callee.receiver:
                argument, default = edge.argument(name), bindings[0].value
                if argument is not None:
                    arguments[callee, name] = argument
                elif isinstance(default, cst.BaseExpression):
                    arguments[callee, name] = default, callee
            elif bindings[0].how == "stars":
                mappings = [("", argument) for argument in _unpacked_arguments(edge, "**")]
                arguments[callee, name] = Stars(
                    (*edge.rest, *_unpacked_arguments(edge, "*")), (*edge.named_rest, *mappings)
                )
        return arguments

    def looped_parameter(self, binding: Binding, scope: Function) -> tuple[Function, str] | None:
        """The parameter whose items a loop variable takes; None if the loop is over something else."""
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

    def turns(self, node: cst.CSTNode, function: Function, scene: Scene) -> list[Scene]:
        """The scene of each iteration of the loops and comprehensions around a report that go over an argument."""
        scenes = [scene]
        for loop in self._loops(node):
            scenes = [more for one in scenes for more in self._turns_of(loop, function, one)]
        return scenes

    def turns_of_displays(self, node: cst.CSTNode, function: Function, reported: set[str]) -> list[Scene]:
        """The scene of each iteration of loops over literal containers around a report, if their items are reported.

        Args:
            reported: variables that are reported directly.
        """
        scenes = [EMPTY_SCENE]
        for loop in self._loops(node):
            turns = [turn for turn in self._turns_written_down(loop, function) if self._tells(turn, reported)]
            scenes = [scene.extend(turn) for scene in scenes for turn in turns] or scenes
        return scenes if scenes != [EMPTY_SCENE] else []

    def _tells(self, turn: Mapping[tuple[Function, str], Substitute], reported: set[str]) -> bool:
        """Whether an iteration gives a reported variable more than a constant."""
        reported_values = [
            value[0] for (_, name), value in turn.items() if name in reported and isinstance(value, tuple)
        ]
        return any(constant_text(value) is None and constant_number(value) is None for value in reported_values)

    def _loops(self, node: cst.CSTNode) -> list[cst.For | cst.CompFor]:
        if node not in self._known_loops:
            around: list[cst.For | cst.CompFor] = [
                loop for loop in self.nodes.loops_around(node) if isinstance(loop, cst.For)
            ]
            self._known_loops[node] = around + [part for part in walk(node) if type(part) is cst.CompFor]
        return self._known_loops[node]

    def _turns_of(self, loop: cst.For | cst.CompFor, function: Function, scene: Scene) -> list[Scene]:
        target, iterable, kind = _peel(loop)
        iterated = (
            scene.get(self.resolver.find(iterable.value, function)[0], iterable.value)
            if isinstance(iterable, cst.Name)
            else None
        )
        if iterated is None or target is None:
            return [scene]
        return [scene.extend(turn) for turn in self._bind_turns(iterated, kind, target, function)] or [scene]

    def _turns_written_down(
        self, loop: cst.For | cst.CompFor, function: Function
    ) -> Iterator[dict[tuple[Function, str], Substitute]]:
        target, iterable, kind = _peel(loop)
        if target is None:
            return
        if isinstance(iterable, cst.Call) and last_name(iterable.func) == "zip":
            columns = [self.displays.literal_items(value, function) for value in positional(iterable)]
            for row in zip(*columns, strict=False):
                turn: dict[tuple[Function, str], Substitute] = {}
                for place, value in enumerate(row):
                    name = element(target, place)
                    if isinstance(name, cst.Name):
                        turn[self.resolver.find(name.value, function)[0], name.value] = value
                yield turn
        elif self.displays.literal_items(iterable, function) or self._is_known(iterable, function):
            yield from self._bind_turns((iterable, function), kind, target, function)

    def _is_known(self, node: cst.BaseExpression, function: Function) -> bool:
        """Whether all keys of a mapping are known from the source."""
        items = self.displays.mapping_items(node, function)
        return bool(items) and all(key is not None for key, _, _ in items or ())

    def _bind_turns(
        self, iterated: Substitute, kind: str, target: cst.BaseExpression, function: Function
    ) -> Iterator[dict[tuple[Function, str], Substitute]]:
        for turn in self._items(iterated, kind, target):
            yield {(self.resolver.find(name, function)[0], name): value for name, value in turn.items()}

    def _items(self, iterated: Substitute, kind: str, target: cst.BaseExpression) -> Iterator[dict[str, Substitute]]:
        """The values of a loop's targets in each iteration."""
        pairs, plain = self._pairs(iterated)
        if isinstance(target, cst.Name):
            for value in [value for _, value in pairs] if kind == "values" else plain:
                yield {target.value: value}
            return
        first, second = element(target, 0), element(target, 1)
        if not isinstance(first, cst.Name) or not isinstance(second, cst.Name):
            return
        for key, value_node in pairs if kind == "items" else map(_pair, plain):
            if key is not None and value_node is not None:
                yield {first.value: key, second.value: value_node}

    def _pairs(self, iterated: Substitute) -> tuple[list[tuple[Substitute, Substitute]], list[Substitute]]:
        """The items of a container: by key, and in order."""
        if isinstance(iterated, str):
            return [], []
        if isinstance(iterated, Stars):
            return list(iterated.by_name), list(iterated.arguments)
        node, function = iterated
        if not isinstance(node, cst.BaseExpression):
            return [], []
        pairs: list[tuple[Substitute, Substitute]] = [
            (key if isinstance(key, str) else (key, where), (value, where))
            for key, value, where in self.displays.mapping_items(node, function) or ()
            if key is not None
        ]
        plain: list[Substitute] = list(self.displays.sequence_items(node, function) or ())
        # If its items are unknown, the container is reported as a whole.
        return (pairs, plain) if pairs or plain else ([("", iterated)], [iterated])


def _unpacked_arguments(edge: Edge, star: str) -> list[Argument]:
    """The values that a call unpacks, each as a whole."""
    arguments = edge.node.args if isinstance(edge.node, cst.Call) else ()
    return [(argument.value, edge.caller) for argument in arguments if argument.star == star]


def _peel(loop: cst.For | cst.CompFor) -> tuple[cst.BaseExpression | None, cst.BaseExpression, str]:
    """Target and container of a loop, without `enumerate`, `sorted` and the like, and the mapping view it uses."""
    target: cst.BaseExpression | None = loop.target
    iterable, kind = loop.iter, ""
    if isinstance(iterable, cst.Call) and last_name(iterable.func) == "enumerate" and iterable.args:
        target, iterable = element(loop.target, 1), iterable.args[0].value
    while isinstance(iterable, cst.Call) and last_name(iterable.func) in PEELED and iterable.args:
        iterable = iterable.args[-1].value if last_name(iterable.func) == "map" else iterable.args[0].value
    if isinstance(iterable, cst.Call) and isinstance(iterable.func, cst.Attribute) and not iterable.args:
        kind, iterable = iterable.func.attr.value, iterable.func.value
    return target, iterable, kind


def _pair(item: Substitute) -> tuple[Substitute | None, Substitute | None]:
    """The two elements of a list item that is a pair."""
    if not isinstance(item, tuple) or not isinstance(item[0], cst.BaseExpression):
        return None, None
    first, second = element(item[0], 0), element(item[0], 1)
    return (None, None) if first is None or second is None else ((first, item[1]), (second, item[1]))

"""Lists, tuples and dicts: which expressions their items are."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument, Container, Instance, Outside, Routine, Thing, Type
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_key, constant_text, element, keywords, last_name, positional
from deviate.model.metric_vocabulary import listed

if TYPE_CHECKING:
    from deviate.analysis.resolve.resolve import Resolver

SAME_ITEMS = listed("list tuple set sorted reversed iter tqdm trange track prefetch_to_device cycle islice chain copy")
ADDING = {"append": 0, "add": 0, "insert": 1, "setdefault": 1, "appendleft": 0}


class Containers:
    """Answers for the items of containers, displays and what is added to them later."""

    def __init__(self, resolver: "Resolver") -> None:
        self.resolver = resolver
        self._added: dict[str, list[Argument]] = {}
        self._seen: set[str] = set()
        self.active: dict[cst.CSTNode, None] = {}

    def items(self, node: cst.BaseExpression, function: Function) -> list[Argument]:
        """Expressions of the items of a container."""
        found: list[Argument] = []
        for thing in self.resolver.of(node, function):
            if isinstance(thing, Container) and self.resolver.ask(self._enter, thing.node):  # `parts = list(parts)`
                found += self._displayed(thing)
                self.resolver.ask(self._leave, thing.node)
        if isinstance(node, cst.Name | cst.Attribute):
            found += self._added_to(node, function)
        return list(dict.fromkeys(found))

    def taken(self, node: cst.Subscript, function: Function) -> Iterator[Thing]:
        """What an item of a container, or of a library object, can stand for."""
        for thing in self.resolver.of(node.value, function):
            if isinstance(thing, Outside):
                yield Outside(f"{thing.name}[]")
            elif isinstance(thing, Container):
                yield from self._made_by_default(thing)
        key = constant_key(node)
        for item in self._keyed(node.value, key, function):
            yield from self.resolver.item(item)

    def iterated(self, node: cst.BaseExpression, way: tuple[int, ...], function: Function) -> list[Argument]:
        """What the target of a loop over a container stands for."""
        if isinstance(node, cst.Call):
            name, given = last_name(node.func), positional(node)
            if name == "enumerate" and given:
                return self.iterated(given[0], way[1:], function) if way[:1] == (1,) else []
            if name == "zip" and way and way[0] < len(given):
                return self.iterated(given[way[0]], way[1:], function)
            if name in SAME_ITEMS and given:
                return self.iterated(given[0], way, function)
            if name in ("items", "values") and isinstance(node.func, cst.Attribute) and not given:
                if name == "items" and way[:1] != (1,):
                    return []
                inside = self.items(node.func.value, function)
                return self._parts(inside, way[1:] if name == "items" else way)
        return self._parts(self.items(node, function), way)

    def part(self, value: cst.BaseExpression, way: tuple[int, ...], function: Function) -> list[Argument]:
        """The part of a value that an unpacking target takes."""
        item = element(value, way[0])
        if item is not None:
            return self.part(item, way[1:], function) if way[1:] else [(item, function)]
        if not isinstance(value, cst.Call):
            return self._parts(self.items(value, function)[way[0] :][:1], way[1:])
        found: list[Argument] = []
        for callee in self.resolver.functions(value.func, function):
            for returned in callee.function.returns:
                found += self.part(returned, way, callee.function) if isinstance(returned, cst.Tuple) else []
        given = positional(value)
        if not found and way[0] < len(given) and len(given) > 1 and self.resolver.qualified(value.func, function):
            return [(given[way[0]], function)]  # accelerator.prepare(model, optimizer) and the like
        return found

    # ------------------------------------------------------------ inside

    def _enter(self, node: cst.CSTNode) -> bool:
        if node in self.active:
            return False
        self.active[node] = None
        return True

    def _leave(self, node: cst.CSTNode) -> None:
        del self.active[node]

    def _parts(self, items: list[Argument], way: tuple[int, ...]) -> list[Argument]:
        if not way:
            return items
        return [
            part
            for node, function in items
            if isinstance(node, cst.BaseExpression)
            for part in self.part(node, way, function)
        ]

    def _displayed(self, container: Container) -> list[Argument]:
        node, function = container.node, container.function
        match node:
            case cst.Param():
                return self._unpacked(node, function)
            case cst.List() | cst.Tuple() | cst.Set():
                return [
                    inner
                    for item in node.elements
                    for inner in (
                        self.items(item.value, function)
                        if isinstance(item, cst.StarredElement)
                        else [(item.value, function)]
                    )
                ]
            case cst.Dict():
                return [(item.value, function) for item in node.elements]
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp():
                return [(node.elt, function)]
            case cst.DictComp():
                return [(node.value, function)]
            case cst.Call():
                inner = [item for value in positional(node) for item in self.items(value, function)]
                return inner + [(value, function) for value in keywords(node).values()]
        return []

    def _unpacked(self, node: cst.Param, function: Function) -> list[Argument]:
        """What the calls of a function give to its `*values` or `**options`."""
        found: list[Argument] = []
        for edge in self.resolver.ask(self.resolver.ways_into, function):
            if node.star == "*":
                found += edge.given[max(0, len(function.parameters) - edge.skipped) :]
            else:
                found += [given for name, given in edge.named if name not in function.parameters]
        return found

    def _made_by_default(self, container: Container) -> Iterator[Thing]:
        """`defaultdict(Meter)[key]` is a Meter."""
        node = container.node
        if not isinstance(node, cst.Call) or last_name(node.func) != "defaultdict" or not node.args:
            return
        factory = node.args[0].value
        if isinstance(factory, cst.Lambda):
            yield from self.resolver.of(factory.body, container.function)
            return
        for thing in self.resolver.of(factory, container.function):
            if isinstance(thing, Type):
                yield Instance(thing.cls)
            elif isinstance(thing, Routine):
                for value in thing.function.returns:
                    yield from self.resolver.of(value, thing.function)

    def _keyed(self, node: cst.BaseExpression, key: str | None, function: Function) -> list[Argument]:
        """The items with a constant key, or all of them when the key is computed or none has it."""
        items = self.items(node, function)
        if key is None:
            return items
        keyed: list[Argument] = [
            (item.value, thing.function)
            for thing in self.resolver.of(node, function)
            if isinstance(thing, Container) and isinstance(thing.node, cst.Dict)
            for item in thing.node.elements
            if isinstance(item, cst.DictElement) and constant_text(item.key) == key
        ]
        return keyed or items

    def _added_to(self, node: cst.Name | cst.Attribute, function: Function) -> list[Argument]:
        """What `append`, `setdefault`, item assignments and the like put into a container of that name."""
        name = last_name(node)
        added = list(self.resolver.ask(self._added_as, name))
        if isinstance(node, cst.Name):
            added = [item for item in added if item[1].module is function.module]
            _, bindings = self.resolver.find(name, function)
            added = added + [
                (binding.value, function)
                for binding in bindings
                if binding.how == "item" and isinstance(binding.value, cst.BaseExpression)
            ]
        return added

    def _added_as(self, name: str) -> tuple[Argument, ...]:
        if len(self._seen) != len(self.resolver.project.modules):
            self._gather()
        return tuple(self._added.get(name, ()))

    def _gather(self) -> None:
        for file, module in list(self.resolver.project.modules.items()):
            if file in self._seen:
                continue
            self._seen.add(file)
            for scope in module.scopes:
                for call in scope.calls:
                    self._note(call, scope)
            for cls in module.classes.values():
                for name, bound in cls.attributes.items():
                    self._added.setdefault(name, []).extend(
                        (binding.value, where)
                        for binding, where in bound
                        if binding.how == "item" and isinstance(binding.value, cst.BaseExpression)
                    )

    def _note(self, call: cst.Call, scope: Function) -> None:
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in ADDING:
            return
        given, place = positional(call), ADDING[call.func.attr.value]
        if place < len(given) and isinstance(call.func.value, cst.Name | cst.Attribute):
            self._added.setdefault(last_name(call.func.value), []).append((given[place], scope))

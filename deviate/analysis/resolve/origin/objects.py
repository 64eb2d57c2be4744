"""Origins of what objects and containers hold: attributes, items, and what meters were fed."""

from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument, Container, Instance
from deviate.analysis.resolve.callables import SETTINGS, SIZE_PARTS, STOPWATCHES, TEXT_PARTS
from deviate.analysis.resolve.identifier_words import COUNTERS, RATES, words
from deviate.analysis.resolve.index import Class, Function, Module
from deviate.analysis.resolve.meters import FEEDS, Meters
from deviate.analysis.resolve.origin.kinds import UNKNOWN, Origin, strongest
from deviate.analysis.resolve.tree import constant_key, constant_text, dotted, identifiers
from deviate.analysis.resolve.values import Value

if TYPE_CHECKING:
    from deviate.analysis.resolve.origin.origins import Origins

SHARED = ("setting", "rate", "memory", "quality", "computed")
"""Kinds of origin that an item has when what is known of its mapping has them; of others it has one of its own."""


class Holders:
    """Answers for attributes and items."""

    def __init__(self, origins: "Origins") -> None:
        self.origins = origins
        self.nodes = origins.nodes
        self.resolver = origins.resolver
        self.meters = Meters(origins.graph)
        self._stored: dict[Module, dict[str, list[Argument]]] = {}

    def attribute(self, node: cst.Attribute, function: Function, depth: int) -> Origin:
        """The origin of `base.name`."""
        name = node.attr.value
        if name in SIZE_PARTS:
            return Origin("size", "size: a shape or number of examples")
        if name in TEXT_PARTS:
            return Origin("text", "a name or text")
        if name.lower() in SETTINGS:
            return Origin("setting", f"setting: the program's options ({dotted(node)})")
        fed = self.fed(node.value, name, function, depth)
        if fed is not None:
            return fed
        classes = [thing.cls for thing in self.resolver.of(node.value, function) if isinstance(thing, Instance)]
        if classes:
            return self._kept(classes, name, depth)
        base = self.origins.of(node.value, function, depth)
        if base.kind == "setting":
            return Origin("setting", f"setting: read from {dotted(node.value)}")
        if base.kind in ("quality", "size", "memory", "clock", "text"):
            return base
        if name in STOPWATCHES:
            return Origin("duration", f"time: {dotted(node)}")
        return UNKNOWN

    def fed(self, node: cst.BaseExpression, name: str, function: Function, depth: int) -> Origin | None:
        """The origin of what an object of the project says of the values it was fed; None for other objects."""
        if name in FEEDS or not isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            return None
        things = self.resolver.of(node, function)
        if not any(isinstance(thing, Instance) and self._is_fed(thing.cls) for thing in things):
            return None
        key = (node, "fed")
        if key in self.origins.active:
            return None
        self.origins.active.add(key)
        sources = [item for item in self.meters.fed(node, function) if isinstance(item, Value)]
        found = [self.origins.of(value.source, value.function, depth) for value in sources]
        self.origins.active.discard(key)
        if not found:
            return None
        if COUNTERS.intersection(words(name)):
            return Origin("counter", f"counter: number of values in {dotted(node)}")
        result = strongest(found)
        return result if result.kind != "constant" else None

    def _is_fed(self, cls: Class) -> bool:
        return any(name in FEEDS for base in self.resolver.order(cls)[0] for name in base.methods)

    def _kept(self, classes: list[Class], name: str, depth: int) -> Origin:
        """The origin of what the methods of a class assign to `self.name`, or of what a property computes."""
        found: list[Origin] = []
        is_fixed = True
        for base in dict.fromkeys(base for cls in classes for base in self.resolver.order(cls)[0]):
            if (base, name) in self.origins.active:
                found.append(Origin("cycle"))
                continue
            self.origins.active.add((base, name))
            for binding, where in base.attributes.get(name, ()):
                if binding.how not in ("item", "declared"):
                    found.append(self.origins.binding(name, binding, where, depth))
            method = base.methods.get(name)
            if method is not None:
                found += [self.origins.of(value, method, depth) for value in method.returns]
                is_fixed = False
            self.origins.active.discard((base, name))
        moving = [origin for origin in found if origin.kind not in ("constant", "cycle")]
        if moving:
            return strongest(moving)
        if len(found) == 1 and found[0].kind == "constant" and is_fixed and not self._is_set_outside(name):
            return Origin("setting", f"setting: {name} is set to a constant")
        return UNKNOWN

    def _is_set_outside(self, name: str) -> bool:
        """Whether an attribute of that name is assigned anywhere but once."""
        targets = [
            target
            for function in self.origins.graph.functions
            for target, _ in function.assigned
            if target.attr.value == name
        ]
        return len(targets) > 1

    # ------------------------------------------------------------ items

    def item(self, node: cst.Subscript, function: Function, depth: int) -> Origin:
        """The origin of `base[key]`."""
        path = dotted(node)
        if "param_groups" in path:
            if RATES.intersection(words(" ".join(identifiers(node)))):
                return Origin("rate", "setting: learning rate, read from the optimizer")
            return Origin("setting", "setting: read from the optimizer")
        if path.startswith(("os.environ", "sys.argv")):
            return Origin("setting", "setting: read from the environment")
        key = constant_key(node)
        assigned = self._assigned(node, function) if key is not None else []
        told = self.origins.strongest(assigned, depth) if assigned else UNKNOWN
        if told.kind not in ("unknown", "constant", "cycle"):
            return told
        if key is not None:
            found = self._keyed(node.value, key, function)
            if found:
                told = self.origins.strongest(found, depth)
                if told.kind != "constant":
                    return told
                base = self.origins.of(node.value, function, depth)
                return base if base.kind == "setting" else UNKNOWN  # set anew by whoever holds the mapping
        base = self.origins.of(node.value, function, depth)
        return base if key is None or base.kind in SHARED else UNKNOWN

    def _assigned(self, node: cst.Subscript, function: Function) -> list[Argument]:
        """What is assigned, anywhere in the file, to the item that is spelled so: `args["best"]["loss"] = loss`."""
        nodes = self.origins.nodes
        if function.module not in self._stored:
            stored: dict[str, list[Argument]] = {}
            self._stored[function.module] = stored
            for scope in function.module.scopes:
                for place, value in scope.stored:
                    stored.setdefault(nodes.code(place), []).append((value, scope))
        return self._stored[function.module].get(nodes.code(node), [])

    def _keyed(
        self, node: cst.BaseExpression, key: str, function: Function
    ) -> list[tuple[cst.BaseExpression, Function]]:
        """What stands under a constant key: in the display of a dict, or assigned to it later."""
        found = [
            (item.value, thing.function)
            for thing in self.resolver.of(node, function)
            if isinstance(thing, Container) and isinstance(thing.node, cst.Dict)
            for item in thing.node.elements
            if isinstance(item, cst.DictElement) and constant_text(item.key) == key
        ]
        if isinstance(node, cst.Name):
            scope, bindings = self.resolver.find(node.value, function)
            found += [
                (binding.value, scope)
                for binding in bindings
                if binding.how == "item" and isinstance(binding.value, cst.BaseExpression)
                if binding.key is not None and constant_text(binding.key) == key
            ]
        return found

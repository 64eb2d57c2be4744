"""What names are bound to, in functions and at the top of modules: imports, definitions, parameters, assignments."""

import builtins
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.abstract_values import (
    Argument,
    Container,
    Instance,
    Namespace,
    Outside,
    Routine,
    Thing,
    Type,
)
from deviate.analysis.resolve.index import Binding, Function, Module
from deviate.analysis.resolve.tree import constant_text

if TYPE_CHECKING:
    from deviate.analysis.resolve.resolve import Resolver


class Bindings:
    """Answers for names. What a parameter stands for follows from the edges known so far."""

    def __init__(self, resolver: "Resolver") -> None:
        self.resolver = resolver
        self.project = resolver.project

    def in_module(self, module: Module, name: str) -> tuple[Thing, ...]:
        """What a name of a module's top level stands for; submodules and star imports included."""
        key = (module, name)
        if not self.resolver.ask(self.resolver.enter, key):
            return ()
        try:
            if name in module.top.bindings:
                return tuple(self.bound(name, module.top, module.top.bindings[name]))
            file = self.project.within(module.file, name)
            if file is not None:
                return (Namespace(file, self.project.load(file)),)
            return tuple(self._starred(module, name))
        finally:
            self.resolver.ask(self.resolver.leave, key)

    def named(self, name: str, function: Function) -> Iterable[Thing]:
        scope, bindings = self.resolver.find(name, function)
        if bindings:
            return self.bound(name, scope, bindings)
        if name in ("None", "True", "False"):
            return ()
        if name == "super" or (hasattr(builtins, name) and not function.module.stars):
            return (Outside(f"builtins.{name}"),)
        found = tuple(self._starred(function.module, name))
        return found or ((Outside(f"builtins.{name}"),) if hasattr(builtins, name) else ())

    def bound(self, name: str, scope: Function, bindings: list[Binding]) -> Iterator[Thing]:
        declared = None
        for binding in bindings:
            yield from self._binding(name, binding, scope)
            declared = declared or binding.annotation
        if declared is not None:
            yield from self._declared(declared, scope)

    def _starred(self, module: Module, name: str) -> Iterator[Thing]:
        outside = []
        for star in module.stars:
            place = self.resolver.ask(self.project.resolve, star, module)
            loaded = self.project.load(place[0]) if place is not None and not place[1] else None
            if loaded is None:
                outside.append(star)
                continue
            found = self.in_module(loaded, name)
            if found:
                yield from found
                return
        if len(outside) == 1 and not hasattr(builtins, name):
            yield Outside(f"{outside[0].lstrip('.')}.{name}")

    def _binding(self, name: str, binding: Binding, scope: Function) -> Iterable[Thing]:
        value = binding.value
        if binding.how == "import":
            return self._imported(binding.target, scope.module)
        if binding.how == "define":
            return self._defined(binding.node, scope)
        if binding.how == "parameter":
            return self._parameter(name, binding, scope)
        if binding.how == "stars" and isinstance(binding.node, cst.Param):
            return (Container(binding.node, scope),)
        if not isinstance(value, cst.BaseExpression):
            return ()
        where = self.project.nodes.function_of(value)
        if binding.how == "for":
            return self._items(self.resolver.containers.iterated(value, binding.way, where))
        if binding.how == "assign":
            return self._unpacked(value, binding.way, where)
        if binding.how == "with":
            return self._entered(value, where)
        return ()

    def _unpacked(self, value: cst.BaseExpression, way: tuple[int, ...], function: Function) -> Iterable[Thing]:
        if not way:
            return self.resolver.of(value, function)
        return self._items(self.resolver.containers.part(value, way, function))

    def _items(self, items: Iterable[Argument]) -> Iterable[Thing]:
        return [thing for item in items for thing in self.resolver.item(item)]

    def _entered(self, value: cst.BaseExpression, function: Function) -> Iterator[Thing]:
        for thing in self.resolver.of(value, function):
            enter = self.resolver.method(thing.cls, "__enter__") if isinstance(thing, Instance) else None
            given = self.resolver.results.returned(enter) if enter is not None else ()
            yield from given or (thing,)

    def _imported(self, target: str, module: Module) -> Iterable[Thing]:
        place = self.resolver.ask(self.project.resolve, target, module)
        if place is None:
            return (Outside(target.lstrip(".")),)
        file, rest = place
        package = self.project.package_of(file) if not rest else None
        if package is not None and package is not module:  # `from .monitor import monitor` in it hides the submodule
            name = target.rpartition(".")[2]
            hiding = [
                it for it in package.top.bindings.get(name, ()) if it.target.count(name) > 1 or it.how != "import"
            ]
            if hiding:
                return self.in_module(package, name)
        loaded = self.project.load(file)
        if loaded is None and not file.endswith("/"):
            return (Outside(target.lstrip(".")),)
        found: Iterable[Thing] = (Namespace(file, loaded),)
        for part in rest.split(".") if rest else ():
            found = [inner for thing in found for inner in self.resolver.attribute(thing, part)]
        return found

    def _defined(self, node: cst.CSTNode, scope: Function) -> Iterable[Thing]:
        if isinstance(node, cst.ClassDef):
            return (Type(scope.module.classes[node]),)
        if isinstance(node, cst.FunctionDef):
            return self.resolver.results.decorated(Routine(self.project.nodes.functions[node]))
        return ()

    def _parameter(self, name: str, binding: Binding, function: Function) -> Iterator[Thing]:
        if name == function.receiver and function.owner is not None:
            is_class = "classmethod" in function.marks
            for cls in self.resolver.derived(function.owner):
                yield Type(cls) if is_class else Instance(cls)
            return
        for edge in self.resolver.ask(self.resolver.ways_into, function):
            argument = edge.argument(name)
            if argument is not None:
                yield from self.resolver.item(argument)
        if isinstance(binding.value, cst.BaseExpression):
            yield from self.resolver.of(binding.value, function.parent or function)

    def _declared(self, annotation: cst.BaseExpression, scope: Function) -> Iterator[Thing]:
        text = constant_text(annotation)
        if text is not None:
            node: cst.BaseExpression = cst.Name(text) if text.isidentifier() else annotation
        else:
            node = annotation.left if isinstance(annotation, cst.BinaryOperation) else annotation
        if not isinstance(node, cst.Name | cst.Attribute):
            return
        key = ("declared", scope, node.value) if isinstance(node, cst.Name) else None
        if not self.resolver.ask(self.resolver.enter, key):  # `step: step`
            return
        things = tuple(self.named(node.value, scope) if isinstance(node, cst.Name) else self.resolver.of(node, scope))
        self.resolver.ask(self.resolver.leave, key)
        for thing in things:
            if isinstance(thing, Type):
                yield Instance(thing.cls)
            elif isinstance(thing, Outside) and not thing.name.startswith("builtins."):
                yield Outside(f"{thing.name}()")

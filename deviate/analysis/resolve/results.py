"""What a call gives: what functions of the project return, and what library functions make of their arguments."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.abstract_values import Container, Instance, Outside, Parent, Routine, Thing, Type
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_text, keywords, positional
from deviate.model.metric_vocabulary import listed

if TYPE_CHECKING:
    from deviate.analysis.resolve.resolve import Resolver

FLUENT = listed("to cuda cpu eval train double half float bfloat16 requires_grad_ share_memory compile unwrap bind")
PARTIALS = ("functools.partial", "functools.partialmethod", "jax.tree_util.Partial", "toolz.curry")
COPIES = ("copy.copy", "copy.deepcopy")
WRAPPED = ("model", "module", "fn", "func", "f", "fun", "function")
CONTAINERS = listed(
    "builtins.list builtins.tuple builtins.dict builtins.set collections.OrderedDict collections.defaultdict "
    "collections.deque torch.nn.ModuleList torch.nn.ModuleDict builtins.sorted builtins.reversed"
)


class Results:
    """Answers for calls."""

    def __init__(self, resolver: "Resolver") -> None:
        self.resolver = resolver

    def of_call(self, call: cst.Call, function: Function) -> Iterator[Thing]:
        for thing in self.resolver.of(call.func, function):
            if isinstance(thing, Type):
                yield Instance(thing.cls)
            elif isinstance(thing, Routine):
                yield from self.returned(thing.function)
            elif isinstance(thing, Outside):
                yield from self._outside(thing.name, call, function)
            elif isinstance(thing, Instance):
                for callee in self.resolver.called(thing):
                    yield from self.returned(callee.function)
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in FLUENT:
            yield from (thing for thing in self.resolver.of(call.func.value, function) if isinstance(thing, Instance))

    def returned(self, function: Function) -> tuple[Thing, ...]:
        if not self.resolver.ask(self.resolver.enter, function):
            return ()
        found = tuple(thing for value in function.returns for thing in self.resolver.of(value, function))
        self.resolver.ask(self.resolver.leave, function)
        return found

    def decorated(self, thing: Routine) -> Iterable[Thing]:
        """What a function is after its decorators: what those of the project return, else itself."""
        node = thing.function.node
        decorators = node.decorators if isinstance(node, cst.FunctionDef) else ()
        found: Iterable[Thing] = (thing,)
        for decorator in reversed(decorators):
            around = thing.function.parent or thing.function.module.top
            made = [
                given
                for callee in self.resolver.functions(decorator.decorator, around)
                if callee.function is not thing.function
                for given in self.returned(callee.function)
            ]
            wrappers = [it for it in made if isinstance(it, Routine)]
            if wrappers:
                found = [Routine(it.function, thing.receiver) for it in wrappers]
        return found

    def _outside(self, name: str, call: cst.Call, function: Function) -> Iterator[Thing]:
        given = positional(call)
        if name == "builtins.super":
            yield from self._super(function)
            return
        if name in CONTAINERS:
            yield Container(call, function)
            return
        if name == "builtins.getattr" and len(given) > 1:
            text = constant_text(given[1])
            if text is not None:
                yield from (
                    it for thing in self.resolver.of(given[0], function) for it in self.resolver.attribute(thing, text)
                )
            return
        if name in PARTIALS and given:
            more = tuple((value, function) for value in given[1:])
            named = tuple((key, (value, function)) for key, value in keywords(call).items())
            for callee in self.resolver.functions(given[0], function):
                yield Routine(callee.function, callee.receiver, (*callee.given, *more), (*callee.named, *named))
            return
        if name in COPIES and given:
            yield from self.resolver.of(given[0], function)
            return
        yield Outside(f"{name}()")
        if not name.startswith("builtins.") and name != "functools.wraps":
            yield from self._wrapped(call, function)

    def _wrapped(self, call: cst.Call, function: Function) -> Iterator[Thing]:
        """What a library gives back for a function or object of the project: most often the same with a coat."""
        named = keywords(call)
        inner = [*positional(call)[:1], *(named[name] for name in WRAPPED if name in named)]
        for value in inner:
            if isinstance(value, cst.Name | cst.Attribute | cst.Call):
                yield from (it for it in self.resolver.of(value, function) if isinstance(it, Routine | Instance))

    def _super(self, function: Function) -> Iterator[Thing]:
        scope: Function | None = function
        while scope is not None and scope.owner is None:
            scope = scope.parent
        if scope is not None and scope.owner is not None:
            yield from (Parent(cls, scope.owner) for cls in self.resolver.derived(scope.owner))
            yield from (Outside(f"{base}()") for base in self.resolver.order(scope.owner)[1])

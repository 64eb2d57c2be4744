"""Names resolved over files: which function, class, instance, module or library object an expression stands for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import libcst as cst

from deviate.analysis.resolve.abstract_values import (
    Argument,
    Container,
    Edge,
    Instance,
    Namespace,
    Outside,
    Parent,
    Routine,
    Thing,
    Type,
)
from deviate.analysis.resolve.bindings import Bindings
from deviate.analysis.resolve.containers import Containers
from deviate.analysis.resolve.index import Binding, Class, Function
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.results import Results

DEEPEST = 48
MOST_THINGS = 12
Question = tuple[Callable[..., Any] | None, tuple[Any, ...], Any]
"""What was asked for an answer: a function (None for `Resolver.of`), its arguments, and what it gave."""

T = TypeVar("T")
DISPLAYS = frozenset(
    {cst.List, cst.Tuple, cst.Set, cst.Dict, cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp}
)
TEXTS = frozenset(kind for kind in vars(cst).values() if isinstance(kind, type) and issubclass(kind, cst.BaseString))


class Resolver:
    """Resolves expressions. What a parameter stands for follows from the edges known so far.

    Attributes:
        edges: the ways into each function; the call graph adds to them.
        made: classes that some reached call makes instances of.
        active: what is being answered right now, so that no question waits for itself.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.edges: dict[Function, list[Edge]] = {}
        self.made: dict[Class, None] = {}
        self.bindings = Bindings(self)
        self.results = Results(self)
        self.containers = Containers(self)
        self._known: dict[cst.CSTNode, tuple[Thing, ...]] = {}
        self._before: dict[cst.CSTNode, tuple[Thing, ...]] = {}
        self.active: dict[object, None] = {}
        self._orders: dict[Class, tuple[list[Class], list[str]]] = {}
        self._derived: dict[Class, list[Class]] = {}
        self._n_made = 0
        self._n_ordering = 0
        self._answers: dict[object, tuple[Any, list[Question]]] = {}
        self._log: list[Question] | None = None

    def forget(self) -> None:
        """Begin a round: new edges may have changed the answers."""
        self._before, self._known = self._known, {}
        self._orders.clear()
        self._derived.clear()

    # ------------------------------------------------------------ answers that are kept over rounds

    def computed(self, key: object, compute: Callable[[], T]) -> T:
        """The answer to a question: that of an earlier round, if all that it followed from is as it was then.

        All that an answer follows from, but for what never changes, is asked through `ask` or by methods that note
        themselves (`of`, `order`). Asking the same in the same order shows whether the answer would be another.
        """
        before, log = self._answers.get(key, (None, None))
        if log is not None and self._is_as_before(log):
            return before  # type: ignore[return-value]
        outer, self._log = self._log, []
        answer = compute()
        if answer == before:
            answer = before
        self._answers[key] = answer, self._log
        self._log = outer
        return answer

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Ask for something that may change, or change what is being answered right now."""
        answer = function(*arguments)
        if self._log is not None:
            self._log.append((function, arguments, answer))
        return answer

    def _is_as_before(self, log: Sequence[Question]) -> bool:
        outer, self._log = self._log, None
        is_same = True
        marks = [(marked, len(marked)) for marked in (self.active, self.containers.active)]
        answers = self._known
        for function, arguments, before in log:
            if function is None:
                answer = answers.get(arguments[0])
                if answer is before:
                    continue
                answer = self.of(*arguments)
            else:
                answer = function(*arguments)
            if answer is not before and answer != before:
                is_same = False
                break
        for marked, number in marks:
            while len(marked) > number:
                marked.popitem()
        self._log = outer
        return is_same

    def enter(self, key: object) -> bool:
        """Mark that something is being answered; False when it is already."""
        if key in self.active:
            return False
        self.active[key] = None
        return True

    def leave(self, key: object) -> None:
        self.active.pop(key, None)

    def ways_into(self, function: Function) -> tuple[Edge, ...]:
        """The edges into a function that are known so far."""
        return tuple(self.edges.get(function, ()))

    # ------------------------------------------------------------ questions

    def of(self, node: cst.CSTNode, function: Function) -> tuple[Thing, ...]:
        """What an expression in a function can stand for; empty when that cannot be told.

        An expression that depends on itself (`x = f(x)`) stands meanwhile for what was known of it a round ago.
        """
        things = self._known.get(node)
        if things is None:
            if node in self.active or len(self.active) > DEEPEST:
                things = self._before.get(node, ())
            else:
                self.active[node] = None
                things = self.computed(node, lambda: tuple(dict.fromkeys(self._of(node, function)))[:MOST_THINGS])
                del self.active[node]
                self._known[node] = things
        if self._log is not None:
            self._log.append((None, (node, function), things))
        return things

    def names(self, node: cst.CSTNode, function: Function) -> list[str]:
        """Full names of the library objects that an expression can stand for."""
        return [thing.name for thing in self.of(node, function) if isinstance(thing, Outside)]

    def qualified(self, node: cst.CSTNode, function: Function) -> str | None:
        """The first of its full names."""
        return next(iter(self.names(node, function)), None)

    def functions(self, node: cst.CSTNode, function: Function) -> list[Routine]:
        """The functions of the project that a call of an expression runs; constructors and calls of objects too."""
        return [called for thing in self.of(node, function) for called in self.called(thing)]

    def called(self, thing: Thing) -> Iterator[Routine]:
        """What runs when a thing is called."""
        if isinstance(thing, Routine):
            yield thing
        elif isinstance(thing, Type):
            for name in ("__init__", "__post_init__"):
                method = self.method(thing.cls, name)
                if method is not None:
                    yield Routine(method, thing.cls)
        elif isinstance(thing, Instance):
            found = (self.method(thing.cls, name) for name in ("__call__", "forward", "call"))
            method = next((it for it in found if it is not None), None)
            if method is not None:
                yield Routine(method, thing.cls)

    def find(self, name: str, function: Function) -> tuple[Function, list[Binding]]:
        """Where a name is bound, seen from a function: the scope and its bindings, ([], top level) when nowhere."""
        scope: Function | None = function
        while scope is not None:
            if name in scope.bindings and name not in scope.globals:
                return scope, scope.bindings[name]
            scope = scope.parent
        return function.module.top, []

    def method(self, cls: Class, name: str) -> Function | None:
        """A method of a class or of its bases in the project."""
        return next((base.methods[name] for base in self.order(cls)[0] if name in base.methods), None)

    def order(self, cls: Class) -> tuple[list[Class], list[str]]:
        """A class and its bases in the project, nearest first, and the full names of those outside."""
        if cls not in self._orders:
            self._orders[cls] = ([cls], [])  # for a class that inherits from itself
            self._n_ordering += 1
            self._orders[cls] = self.computed(cls, lambda: self._order(cls))
            self._n_ordering -= 1
        order = self._orders[cls]
        if self._log is not None:
            self._log.append((self.order, (cls,), order))
        return order

    def _order(self, cls: Class) -> tuple[list[Class], list[str]]:
        inside, outside = [cls], []
        for base in cls.bases:
            for thing in self.of(base, cls.function):
                if isinstance(thing, Type):
                    nearer, further = self.order(thing.cls)
                    inside += [it for it in nearer if it not in inside]
                    outside += further
                elif isinstance(thing, Outside):
                    outside.append(thing.name)
        return inside, outside

    def derived(self, cls: Class) -> list[Class]:
        """The classes whose instances run a method of a class: those made somewhere, or the class itself."""
        return self.ask(self._derived_now, cls)

    def _derived_now(self, cls: Class) -> list[Class]:
        if self._n_made != len(self.made):
            self._n_made = len(self.made)
            self._derived.clear()
        if cls in self._derived:
            return self._derived[cls]
        outer, self._log = self._log, None  # it is asked for as a whole
        classes = [made for made in self.made if cls in self.order(made)[0]] or [cls]
        self._log = outer
        if not self._n_ordering:
            self._derived[cls] = classes
        return classes

    def item(self, argument: Argument) -> tuple[Thing, ...]:
        return self.of(*argument)

    def _of(self, node: cst.CSTNode, function: Function) -> Iterable[Thing]:
        kind = type(node)  # compared by hand: the classes of libcst are slow to match
        if kind in DISPLAYS:
            return (Container(node, function),)  # type: ignore[arg-type]
        if kind in TEXTS:
            return (Outside("builtins.str()"),)
        if type(node) is cst.Name:
            return self.bindings.named(node.value, function)
        if type(node) is cst.Attribute:
            name = node.attr.value
            return [found for thing in self.of(node.value, function) for found in self.attribute(thing, name)]
        if type(node) is cst.Call:
            return self.results.of_call(node, function)
        if type(node) is cst.FunctionDef:
            return (Routine(self.project.nodes.functions[node]),)
        if type(node) is cst.Subscript:
            return self.containers.taken(node, function)
        if type(node) is cst.IfExp:
            return (*self.of(node.body, function), *self.of(node.orelse, function))
        if type(node) is cst.BooleanOperation:
            return (*self.of(node.left, function), *self.of(node.right, function))
        if type(node) is cst.Await:
            return self.of(node.expression, function)
        if type(node) is cst.NamedExpr:
            return self.of(node.value, function)
        return ()

    def attribute(self, thing: Thing, name: str) -> Iterable[Thing]:
        """What an attribute of a thing stands for."""
        match thing:
            case Outside():
                return (Outside(f"{thing.name}.{name}"),)
            case Namespace(module=None):
                file = self.project.within(thing.file, name)
                return (Namespace(file, self.project.load(file)),) if file is not None else ()
            case Namespace():
                return self.bindings.in_module(thing.module, name) if thing.module is not None else ()
            case Instance() | Type():
                return self._member(thing.cls, name, self.order(thing.cls)[0], is_bound=isinstance(thing, Instance))
            case Parent():
                order = self.order(thing.cls)[0]
                behind = order[order.index(thing.behind) + 1 :] if thing.behind in order else []
                return self._member(thing.cls, name, behind, is_bound=True)
        return ()

    def _member(self, cls: Class, name: str, order: list[Class], *, is_bound: bool) -> Iterable[Thing]:
        for base in order:
            if name in base.methods:
                method = base.methods[name]
                if {"property", "cached_property", "functools.cached_property"} & set(method.marks):
                    return self.results.returned(method)
                is_unbound = "staticmethod" in method.marks or not (is_bound or "classmethod" in method.marks)
                return self.results.decorated(Routine(method, None if is_unbound else cls))
            if name in base.attributes:
                return [
                    thing
                    for binding, function in base.attributes[name]
                    for thing in self.bindings.bound(name, function, [binding])
                ]
        return [Outside(f"{base}().{name}") for base in self.order(cls)[1]]

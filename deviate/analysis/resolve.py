"""Names resolved over files: which function, class, instance, module or library object an expression stands for."""

import builtins
from collections.abc import Iterable, Iterator

import libcst as cst

from deviate.wording import listed

from .containers import Containers
from .index import Binding, Class, Function, Module
from .project import Project
from .things import Argument, Container, Edge, Instance, Namespace, Outside, Parent, Routine, Thing, Type
from .tree import constant_text, keywords, positional

DEEPEST = 48
MOST_THINGS = 12
FLUENT = listed("to cuda cpu eval train double half float bfloat16 requires_grad_ share_memory compile unwrap bind")
PARTIALS = ("functools.partial", "functools.partialmethod", "jax.tree_util.Partial", "toolz.curry")
COPIES = ("copy.copy", "copy.deepcopy")
WRAPPED = ("model", "module", "fn", "func", "f", "fun", "function")
DISPLAYS = (cst.List, cst.Tuple, cst.Set, cst.Dict, cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp)
CONTAINERS = listed(
    "builtins.list builtins.tuple builtins.dict builtins.set collections.OrderedDict collections.defaultdict "
    "collections.deque torch.nn.ModuleList torch.nn.ModuleDict builtins.sorted builtins.reversed"
)


class Resolver:
    """Resolves expressions. What a parameter stands for follows from the edges known so far.

    Attributes:
        edges: the ways into each function; the call graph adds to them.
        made: classes that some reached call makes instances of.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.edges: dict[Function, list[Edge]] = {}
        self.made: dict[Class, None] = {}
        self.containers = Containers(self)
        self._known: dict[cst.CSTNode, tuple[Thing, ...]] = {}
        self._before: dict[cst.CSTNode, tuple[Thing, ...]] = {}
        self._active: set[object] = set()
        self._orders: dict[Class, tuple[list[Class], list[str]]] = {}

    def forget(self) -> None:
        """Begin a round: new edges may have changed the answers."""
        self._before, self._known = self._known, {}
        self._orders.clear()

    # ------------------------------------------------------------ questions

    def of(self, node: cst.CSTNode, function: Function) -> tuple[Thing, ...]:
        """What an expression in a function can stand for; empty when that cannot be told.

        An expression that depends on itself (`x = f(x)`) stands meanwhile for what was known of it a round ago.
        """
        if node in self._known:
            return self._known[node]
        if node in self._active or len(self._active) > DEEPEST:
            return self._before.get(node, ())
        self._active.add(node)
        found = tuple(dict.fromkeys(self._of(node, function)))[:MOST_THINGS]
        self._active.discard(node)
        self._known[node] = found
        return found

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
            inside, outside = [cls], []
            for base in cls.bases:
                for thing in self.of(base, cls.function):
                    if isinstance(thing, Type):
                        nearer, further = self.order(thing.cls)
                        inside += [it for it in nearer if it not in inside]
                        outside += further
                    elif isinstance(thing, Outside):
                        outside.append(thing.name)
            self._orders[cls] = (inside, outside)
        return self._orders[cls]

    def lookup(self, module: Module, name: str) -> tuple[Thing, ...]:
        """What a name of a module's top level stands for; submodules and star imports included."""
        key = (module, name)
        if key in self._active:
            return ()
        self._active.add(key)
        try:
            if name in module.top.bindings:
                return tuple(self._bound(name, module.top, module.top.bindings[name]))
            file = self.project.within(module.file, name)
            if file is not None:
                return (Namespace(file, self.project.load(file)),)
            return tuple(self._starred(module, name))
        finally:
            self._active.discard(key)

    def item(self, argument: Argument) -> tuple[Thing, ...]:
        return self.of(*argument)

    # ------------------------------------------------------------ expressions

    def _of(self, node: cst.CSTNode, function: Function) -> Iterable[Thing]:
        if isinstance(node, DISPLAYS):
            return (Container(node, function),)
        match node:
            case cst.Name():
                return self._name(node.value, function)
            case cst.Attribute():
                return [
                    found for thing in self.of(node.value, function) for found in self.attribute(thing, node.attr.value)
                ]
            case cst.Call():
                return self._call(node, function)
            case cst.FunctionDef():
                return (Routine(self.project.nodes.functions[node]),)
            case cst.Subscript():
                return self.containers.taken(node, function)
            case cst.IfExp():
                return (*self.of(node.body, function), *self.of(node.orelse, function))
            case cst.BooleanOperation():
                return (*self.of(node.left, function), *self.of(node.right, function))
            case cst.Await():
                return self.of(node.expression, function)
            case cst.NamedExpr():
                return self.of(node.value, function)
            case cst.BaseString():
                return (Outside("builtins.str()"),)
        return ()

    def _name(self, name: str, function: Function) -> Iterable[Thing]:
        scope, bindings = self.find(name, function)
        if bindings:
            return self._bound(name, scope, bindings)
        if name in ("None", "True", "False"):
            return ()
        if name == "super" or (hasattr(builtins, name) and not function.module.stars):
            return (Outside(f"builtins.{name}"),)
        found = tuple(self._starred(function.module, name))
        return found or ((Outside(f"builtins.{name}"),) if hasattr(builtins, name) else ())

    def _starred(self, module: Module, name: str) -> Iterator[Thing]:
        outside = []
        for star in module.stars:
            place = self.project.resolve(star, module)
            loaded = self.project.load(place[0]) if place is not None and not place[1] else None
            if loaded is None:
                outside.append(star)
                continue
            found = self.lookup(loaded, name)
            if found:
                yield from found
                return
        if len(outside) == 1 and not hasattr(builtins, name):
            yield Outside(f"{outside[0].lstrip('.')}.{name}")

    def _bound(self, name: str, scope: Function, bindings: list[Binding]) -> Iterator[Thing]:
        declared = None
        for binding in bindings:
            yield from self._binding(name, binding, scope)
            declared = declared or binding.annotation
        if declared is not None:
            yield from self._declared(declared, scope)

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
            return [thing for item in self.containers.iterated(value, binding.way, where) for thing in self.item(item)]
        if binding.how == "assign":
            return self._unpacked(value, binding.way, where)
        if binding.how == "with":
            return self._entered(value, where)
        return ()

    def _unpacked(self, value: cst.BaseExpression, way: tuple[int, ...], function: Function) -> Iterable[Thing]:
        if not way:
            return self.of(value, function)
        return [thing for item in self.containers.part(value, way, function) for thing in self.item(item)]

    def _entered(self, value: cst.BaseExpression, function: Function) -> Iterator[Thing]:
        for thing in self.of(value, function):
            enter = self.method(thing.cls, "__enter__") if isinstance(thing, Instance) else None
            given = self._returned(enter) if enter is not None else ()
            yield from given or (thing,)

    def _imported(self, target: str, module: Module) -> Iterable[Thing]:
        place = self.project.resolve(target, module)
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
                return self.lookup(package, name)
        loaded = self.project.load(file)
        if loaded is None and not file.endswith("/"):
            return (Outside(target.lstrip(".")),)
        found: Iterable[Thing] = (Namespace(file, loaded),)
        for part in rest.split(".") if rest else ():
            found = [inner for thing in found for inner in self.attribute(thing, part)]
        return found

    def _defined(self, node: cst.CSTNode, scope: Function) -> Iterable[Thing]:
        if isinstance(node, cst.ClassDef):
            return (Type(scope.module.classes[node]),)
        if isinstance(node, cst.FunctionDef):
            return self.decorated(Routine(self.project.nodes.functions[node]))
        return ()

    def decorated(self, thing: Routine) -> Iterable[Thing]:
        """What a function is after its decorators: what those of the project return, else itself."""
        node = thing.function.node
        decorators = node.decorators if isinstance(node, cst.FunctionDef) else ()
        found: Iterable[Thing] = (thing,)
        for decorator in reversed(decorators):
            around = thing.function.parent or thing.function.module.top
            made = [
                given
                for callee in self.functions(decorator.decorator, around)
                if callee.function is not thing.function
                for given in self._returned(callee.function)
            ]
            wrappers = [it for it in made if isinstance(it, Routine)]
            if wrappers:
                found = [Routine(it.function, thing.receiver) for it in wrappers]
        return found

    def _parameter(self, name: str, binding: Binding, function: Function) -> Iterator[Thing]:
        if name == function.receiver and function.owner is not None:
            is_class = "classmethod" in function.marks
            for cls in self._derived(function.owner):
                yield Type(cls) if is_class else Instance(cls)
            return
        for edge in self.edges.get(function, ()):
            argument = edge.argument(name)
            if argument is not None:
                yield from self.item(argument)
        if isinstance(binding.value, cst.BaseExpression):
            yield from self.of(binding.value, function.parent or function)

    def _derived(self, cls: Class) -> list[Class]:
        """The classes whose instances run a method of a class: those made somewhere, or the class itself."""
        return [made for made in self.made if cls in self.order(made)[0]] or [cls]

    def _declared(self, annotation: cst.BaseExpression, scope: Function) -> Iterator[Thing]:
        text = constant_text(annotation)
        if text is not None:
            node: cst.BaseExpression = cst.Name(text) if text.isidentifier() else annotation
        else:
            node = annotation.left if isinstance(annotation, cst.BinaryOperation) else annotation
        if not isinstance(node, cst.Name | cst.Attribute):
            return
        key = ("declared", scope, node.value) if isinstance(node, cst.Name) else None
        if key in self._active:  # `step: step`
            return
        self._active.add(key)
        things = tuple(self._name(node.value, scope) if isinstance(node, cst.Name) else self.of(node, scope))
        self._active.discard(key)
        for thing in things:
            if isinstance(thing, Type):
                yield Instance(thing.cls)
            elif isinstance(thing, Outside) and not thing.name.startswith("builtins."):
                yield Outside(f"{thing.name}()")

    # ------------------------------------------------------------ attributes and calls

    def attribute(self, thing: Thing, name: str) -> Iterable[Thing]:
        """What an attribute of a thing stands for."""
        match thing:
            case Outside():
                return (Outside(f"{thing.name}.{name}"),)
            case Namespace(module=None):
                file = self.project.within(thing.file, name)
                return (Namespace(file, self.project.load(file)),) if file is not None else ()
            case Namespace():
                return self.lookup(thing.module, name) if thing.module is not None else ()
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
                    return self._returned(method)
                is_unbound = "staticmethod" in method.marks or not (is_bound or "classmethod" in method.marks)
                return self.decorated(Routine(method, None if is_unbound else cls))
            if name in base.attributes:
                return [
                    thing
                    for binding, function in base.attributes[name]
                    for thing in self._bound(name, function, [binding])
                ]
        return [Outside(f"{base}().{name}") for base in self.order(cls)[1]]

    def _call(self, call: cst.Call, function: Function) -> Iterator[Thing]:
        for thing in self.of(call.func, function):
            if isinstance(thing, Type):
                yield Instance(thing.cls)
            elif isinstance(thing, Routine):
                yield from self._returned(thing.function)
            elif isinstance(thing, Outside):
                yield from self._outside_call(thing.name, call, function)
            elif isinstance(thing, Instance):
                for callee in self.called(thing):
                    yield from self._returned(callee.function)
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in FLUENT:
            yield from (thing for thing in self.of(call.func.value, function) if isinstance(thing, Instance))

    def _returned(self, function: Function) -> tuple[Thing, ...]:
        if function in self._active:
            return ()
        self._active.add(function)
        found = tuple(thing for value in function.returns for thing in self.of(value, function))
        self._active.discard(function)
        return found

    def _outside_call(self, name: str, call: cst.Call, function: Function) -> Iterator[Thing]:
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
                yield from (it for thing in self.of(given[0], function) for it in self.attribute(thing, text))
            return
        if name in PARTIALS and given:
            more = tuple((value, function) for value in given[1:])
            named = tuple((key, (value, function)) for key, value in keywords(call).items())
            for callee in self.functions(given[0], function):
                yield Routine(callee.function, callee.receiver, (*callee.given, *more), (*callee.named, *named))
            return
        if name in COPIES and given:
            yield from self.of(given[0], function)
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
                yield from (it for it in self.of(value, function) if isinstance(it, Routine | Instance))

    def _super(self, function: Function) -> Iterator[Thing]:
        scope: Function | None = function
        while scope is not None and scope.owner is None:
            scope = scope.parent
        if scope is not None and scope.owner is not None:
            yield from (Parent(cls, scope.owner) for cls in self._derived(scope.owner))
            yield from (Outside(f"{base}()") for base in self.order(scope.owner)[1])

"""Resolves names across files: to functions, classes, instances, modules and library objects."""

import builtins
from collections.abc import Iterable, Iterator

import libcst as cst

from deviate.analysis.resolve.abstract_values import (
    Argument,
    ClassRef,
    Container,
    Edge,
    External,
    FunctionRef,
    Instance,
    ModuleRef,
    Placed,
    SuperRef,
    Value,
)
from deviate.analysis.resolve.index import PUTTING, Binding, Class, Function, Module
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.tree import (
    constant_text,
    element,
    index_of,
    keywords,
    last_name,
    name_of_container,
    named_items,
    positional,
)
from deviate.model.metric_vocabulary import word_set

DEEPEST = 48
MOST_REFERENTS = 12
"""Maximum number of values of an expression."""

DISPLAYS = frozenset(
    {cst.List, cst.Tuple, cst.Set, cst.Dict, cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp}
)
DEFINITIONS = frozenset({cst.FunctionDef, cst.ClassDef})
TEXTS = frozenset(kind for kind in vars(cst).values() if isinstance(kind, type) and issubclass(kind, cst.BaseString))

FLUENT = word_set("to cuda cpu eval train double half float bfloat16 requires_grad_ share_memory compile unwrap bind")
PARTIALS = ("functools.partial", "functools.partialmethod", "jax.tree_util.Partial", "toolz.curry")
WRAPPED = ("model", "module", "fn", "func", "f", "fun", "function")
WRAPPED_AS = ("module", "_orig_mod")
"""Attributes by which a wrapper gives back the model that it wraps, and resolves to."""
CONTAINERS = word_set(
    "builtins.list builtins.tuple builtins.dict builtins.set collections.OrderedDict collections.defaultdict "
    "collections.deque torch.nn.ModuleList torch.nn.ModuleDict builtins.sorted builtins.reversed"
)
TAKING = ("get", "pop", "__getitem__", "popleft")
"""Methods of containers that return an item."""

_Answer = tuple[cst.CSTNode | None, tuple[Value, ...]]
"""A node, which lives as long as its answer, and its values."""

NO_ANSWER: _Answer = (None, ())

SAME_ITEMS = word_set(
    "list tuple set sorted reversed iter tqdm trange track prefetch_to_device cycle islice chain copy"
)


class Resolver:
    """Resolves expressions. Parameters resolve to the arguments of the edges known so far.

    Attributes:
        edges: those into each function; the call graph adds to them. instantiated: classes instantiated by reached
            calls. active: questions being answered, to detect recursion.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.edges: dict[Function, list[Edge]] = {}
        self.instantiated: dict[Class, None] = {}
        self._known: dict[int, _Answer] = {}  # by the node's id, as hashing a node is slow
        self._before: dict[int, _Answer] = {}
        self.active: set[object] = set()
        self._orders: dict[Class, tuple[list[Class], list[str]]] = {}
        self._open_containers: set[cst.CSTNode] = set()

    def forget(self) -> None:
        """Begin a new round, as new edges may have changed the answers."""
        self._before, self._known = self._known, {}
        self._orders.clear()

    def enter(self, key: object) -> bool:
        """Mark a question as being answered; False if it already is."""
        if key in self.active:
            return False
        self.active.add(key)
        return True

    def leave(self, key: object) -> None:
        self.active.discard(key)

    def edges_into(self, function: Function) -> tuple[Edge, ...]:
        """The edges into a function that are known so far."""
        return tuple(self.edges.get(function, ()))

    def is_decorated(self, function: Function, decorator: Function) -> bool:
        """Whether a function is decorated with another one."""
        edges = self.edges_into(decorator)
        return any(argument[0] is function.node for edge in edges for argument in edge.arguments[:1])

    # ------------------------------------------------------------ questions

    def resolve(self, node: cst.CSTNode, function: Function) -> tuple[Value, ...]:
        """The values that an expression in a function can have; empty if unknown.

        An expression that depends on itself (`x = f(x)`) resolves to its values of the previous round meanwhile.
        """
        key = id(node)
        answer = self._known.get(key)
        if answer is None:
            if key in self.active or len(self.active) > DEEPEST:
                answer = self._before.get(key, NO_ANSWER)
            else:
                self.active.add(key)
                referents = tuple(dict.fromkeys(self._resolve(node, function)))
                referents = referents[:MOST_REFERENTS]
                self.active.remove(key)
                answer = self._known[key] = (node, referents)
        return answer[1]

    def names(self, node: cst.CSTNode, function: Function) -> list[str]:
        """Full names of the library objects that an expression can be."""
        return [referent.name for referent in self.resolve(node, function) if type(referent) is External]

    def qualified_name(self, node: cst.CSTNode, function: Function) -> str | None:
        """The first full name of the library objects that an expression can be."""
        return next(iter(self.names(node, function)), None)

    def classes(self, node: cst.CSTNode, function: Function) -> list[Class]:
        """The classes of the project whose objects an expression can be."""
        return [referent.cls for referent in self.resolve(node, function) if isinstance(referent, Instance)]

    def functions(self, node: cst.CSTNode, function: Function) -> list[FunctionRef]:
        """The functions of the project that a call of an expression runs, including constructors and `__call__`."""
        return [called for referent in self.resolve(node, function) for called in self.callees(referent)]

    def callees(self, referent: Value) -> Iterator[FunctionRef]:
        """The functions that run when a value is called."""
        if type(referent) is FunctionRef:  # types compared directly, as most values are library objects
            yield referent
        elif type(referent) is ClassRef:
            for name in ("__init__", "__post_init__"):
                method = self.method(referent.cls, name)
                if method is not None:
                    yield FunctionRef(method, referent.cls)
        elif type(referent) is Instance:
            methods = (self.method(referent.cls, name) for name in ("__call__", "forward", "call"))
            method = next((candidate for candidate in methods if candidate is not None), None)
            if method is not None:
                yield FunctionRef(method, referent.cls)

    def find(self, name: str, function: Function) -> tuple[Function, list[Binding]]:
        """The scope that binds a name, seen from a function, and its bindings; the top level and [] if none does.

        Assignments of items bind no name: they are listed with the bindings of the scope further out that does.
        """
        scope: Function | None = function
        stored: list[Binding] = []
        nearest: Function | None = None
        while scope is not None:
            if name in scope.bindings and name not in scope.globals:
                bindings = scope.bindings[name]
                if scope.parent is None or any(binding.how not in PUTTING for binding in bindings):
                    return scope, [*bindings, *stored] if stored else bindings
                stored += bindings
                nearest = nearest or scope
            scope = scope.parent
        return nearest or function.module.top, stored

    def method(self, cls: Class, name: str) -> Function | None:
        """A method of a class or of its bases in the project."""
        return next((base.methods[name] for base in self.order(cls)[0] if name in base.methods), None)

    def order(self, cls: Class) -> tuple[list[Class], list[str]]:
        """A class and its bases in the project, nearest first, and the full names of those outside."""
        if cls not in self._orders:
            self._orders[cls] = ([cls], [])  # for a class that inherits from itself
            self._orders[cls] = self._order(cls)
        return self._orders[cls]

    def _order(self, cls: Class) -> tuple[list[Class], list[str]]:
        inside, outside = [cls], []
        for base in cls.bases:
            for referent in self.resolve(base, cls.function):
                if isinstance(referent, ClassRef):
                    nearer, further = self.order(referent.cls)
                    inside += [ancestor for ancestor in nearer if ancestor not in inside]
                    outside += further
                elif isinstance(referent, External):
                    outside.append(referent.name)
        return inside, outside

    def receiver_classes(self, cls: Class) -> list[Class]:
        """The classes whose instances run a method of a class: those instantiated, or the class itself."""
        return [each for each in self.instantiated if cls in self.order(each)[0]] or [cls]

    def _resolve(self, node: cst.CSTNode, function: Function) -> Iterable[Value]:
        kind = type(node)  # types compared directly: the classes of libcst are slow to match
        if kind in DISPLAYS:
            return (Container(node, function),)  # type: ignore[arg-type]
        if kind in TEXTS:
            return (External("builtins.str()"),)
        if type(node) is cst.Name:
            return self._of_name(node.value, function)
        if type(node) is cst.Attribute:
            name = node.attr.value
            return [
                member for referent in self.resolve(node.value, function) for member in self.attribute(referent, name)
            ]
        if type(node) is cst.Call:
            return self._of_call(node, function)
        if kind in DEFINITIONS:  # decorated, and so the argument of a call
            is_class = kind is cst.ClassDef
            return (
                ClassRef(function.module.classes[node])
                if is_class
                else FunctionRef(self.project.nodes.functions[node]),
            )
        if type(node) is cst.Subscript:
            return self._of_subscript(node, function)
        if type(node) is cst.IfExp:
            return (*self.resolve(node.body, function), *self.resolve(node.orelse, function))
        if type(node) is cst.BooleanOperation:
            return (*self.resolve(node.left, function), *self.resolve(node.right, function))
        if type(node) is cst.Await:
            return self.resolve(node.expression, function)
        return self.resolve(node.value, function) if type(node) is cst.NamedExpr else ()

    def attribute(self, referent: Value, name: str) -> Iterable[Value]:
        """The values that an attribute of a value can have."""
        match referent:
            case External():
                return (External(f"{referent.name}.{name}"),)
            case ModuleRef(module=None):
                file = self.project.within(referent.file, name)
                return (ModuleRef(file, self.project.load(file)),) if file is not None else ()
            case ModuleRef():
                return self.in_module(referent.module, name) if referent.module is not None else ()
            case Instance() | ClassRef():
                return self._member(
                    referent.cls, name, self.order(referent.cls)[0], is_bound=isinstance(referent, Instance)
                )
            case SuperRef():
                order = self.order(referent.cls)[0]
                behind = order[order.index(referent.behind) + 1 :] if referent.behind in order else []
                return self._member(referent.cls, name, behind, is_bound=True)
        return ()

    def _member(self, cls: Class, name: str, order: list[Class], *, is_bound: bool) -> Iterable[Value]:
        for base in order:
            if name in base.methods:
                method = base.methods[name]
                if {"property", "cached_property", "functools.cached_property"} & set(method.marks):
                    return self._of_return(method)
                is_unbound = "staticmethod" in method.marks or not (is_bound or "classmethod" in method.marks)
                return self._after_decorators(FunctionRef(method, None if is_unbound else cls))
            if name in base.attributes:
                return [
                    referent
                    for binding, function in base.attributes[name]
                    for referent in self._of_bindings(name, function, [binding])
                ]
        if is_bound and name in WRAPPED_AS:
            return (Instance(cls),)
        return [External(f"{base}().{name}") for base in self.order(cls)[1]]

    # ------------------------------------------------------------ names

    def in_module(self, module: Module, name: str) -> tuple[Value, ...]:
        """The values of a name at a module's top level, including submodules and star imports."""
        key = (module, name)
        if not self.enter(key):
            return ()
        try:
            if name in module.top.bindings:
                return tuple(self._of_bindings(name, module.top, module.top.bindings[name]))
            file = self.project.within(module.file, name)
            if file is not None:
                return (ModuleRef(file, self.project.load(file)),)
            return tuple(self._of_star_import(module, name))
        finally:
            self.leave(key)

    def _of_name(self, name: str, function: Function) -> Iterable[Value]:
        scope, bindings = self.find(name, function)
        if bindings:
            return self._of_bindings(name, scope, bindings)
        if name in ("None", "True", "False"):
            return ()
        if name == "super" or (hasattr(builtins, name) and not function.module.stars):
            return (External(f"builtins.{name}"),)
        imported = tuple(self._of_star_import(function.module, name))
        return imported or ((External(f"builtins.{name}"),) if hasattr(builtins, name) else ())

    def _of_bindings(self, name: str, scope: Function, bindings: list[Binding]) -> Iterator[Value]:
        declared = None
        for binding in bindings:
            yield from self._of_binding(name, binding, scope)
            declared = declared or binding.annotation
        if declared is not None:
            yield from self._of_annotation(declared, scope)

    def _of_star_import(self, module: Module, name: str) -> Iterator[Value]:
        outside = []
        for star in module.stars:
            place = self.project.resolve(star, module)
            loaded = self.project.load(place[0]) if place is not None and not place[1] else None
            if loaded is None:
                outside.append(star)
                continue
            values = self.in_module(loaded, name)
            if values:
                yield from values
                return
        if len(outside) == 1 and not hasattr(builtins, name):
            yield External(f"{outside[0].lstrip('.')}.{name}")

    def _of_binding(self, name: str, binding: Binding, scope: Function) -> Iterable[Value]:
        value = binding.value
        if binding.how == "import":
            return self._of_import(binding.target, scope.module)
        if binding.how == "define":
            return self._of_definition(binding.node, scope)
        if binding.how == "parameter":
            return self._of_parameter(name, binding, scope)
        if binding.how == "stars" and isinstance(binding.node, cst.Param):
            return (Container(binding.node, scope),)
        if not isinstance(value, cst.BaseExpression):
            return ()
        where = self.project.nodes.function_of(value)
        if binding.how == "for":
            return self._resolve_each(self.loop_items(value, binding.position, where))
        if binding.how == "assign":
            if not binding.position:
                return self.resolve(value, where)
            return self._resolve_each(self.unpacked_items(value, binding.position, where))
        if binding.how == "with":
            return self._of_context(value, where)
        return ()

    def _resolve_each(self, items: Iterable[Argument]) -> Iterable[Value]:
        return [referent for item in items for referent in self.resolve(*item)]

    def _of_context(self, value: cst.BaseExpression, function: Function) -> Iterator[Value]:
        for referent in self.resolve(value, function):
            enter = self.method(referent.cls, "__enter__") if isinstance(referent, Instance) else None
            entered = self._of_return(enter) if enter is not None else ()
            yield from entered or (referent,)

    def _of_import(self, target: str, module: Module) -> Iterable[Value]:
        place = self.project.resolve(target, module)
        if place is None:
            return (External(target.lstrip(".")),)
        file, rest = place
        loaded = self.project.load(file)
        if loaded is None and not file.endswith("/"):
            return (External(target.lstrip(".")),)
        values: Iterable[Value] = (ModuleRef(file, loaded),)
        for part in rest.split(".") if rest else ():
            values = [inner for referent in values for inner in self.attribute(referent, part)]
        return values

    def _of_definition(self, node: cst.CSTNode, scope: Function) -> Iterable[Value]:
        if isinstance(node, cst.ClassDef):
            return (ClassRef(scope.module.classes[node]),)
        if isinstance(node, cst.FunctionDef):
            return self._after_decorators(FunctionRef(self.project.nodes.functions[node]))
        return ()

    def _of_parameter(self, name: str, binding: Binding, function: Function) -> Iterator[Value]:
        if name == function.receiver and function.owner is not None:
            is_class = "classmethod" in function.marks
            for cls in self.receiver_classes(function.owner):
                yield ClassRef(cls) if is_class else Instance(cls)
            return
        for edge in self.edges_into(function):
            argument = edge.argument(name)
            if argument is not None:
                yield from self.resolve(*argument)
        if isinstance(binding.value, cst.BaseExpression):
            yield from self.resolve(binding.value, function.parent or function)

    def _of_annotation(self, annotation: cst.BaseExpression, scope: Function) -> Iterator[Value]:
        node = annotation.left if isinstance(annotation, cst.BinaryOperation) else annotation
        if not isinstance(node, cst.Name | cst.Attribute):
            return
        key = ("declared", scope, node.value) if isinstance(node, cst.Name) else None
        if not self.enter(key):  # `step: step`
            return
        referents = tuple(self._of_name(node.value, scope) if isinstance(node, cst.Name) else self.resolve(node, scope))
        self.leave(key)
        for referent in referents:
            if isinstance(referent, ClassRef):
                yield from (Instance(cls) for cls in self.receiver_classes(referent.cls))
            elif isinstance(referent, External) and not referent.name.startswith("builtins."):
                yield External(f"{referent.name}()")

    # ------------------------------------------------------------ calls

    def _of_call(self, call: cst.Call, function: Function) -> Iterator[Value]:
        for referent in self.resolve(call.func, function):
            if type(referent) is External:
                yield from self._of_external_call(referent.name, call, function)
            else:
                yield from self._of_result(referent)
        if type(call.func) is not cst.Attribute:
            return
        method = call.func.attr.value
        if method in TAKING:
            arguments = positional(call)
            yield from self._of_item(call.func.value, arguments[0] if arguments else None, function)
            for default in arguments[1:2]:
                yield from self.resolve(default, function)
        if method in FLUENT:
            yield from (
                referent for referent in self.resolve(call.func.value, function) if isinstance(referent, Instance)
            )

    def _of_result(self, referent: Value) -> Iterator[Value]:
        """The values that a call of a value of the project, or of a library object, returns."""
        if isinstance(referent, ClassRef):
            yield Instance(referent.cls)
        elif isinstance(referent, FunctionRef):
            yield from self._of_return(referent.function)
        elif isinstance(referent, External):
            yield External(f"{referent.name}()")
        elif isinstance(referent, Instance):
            for callee in self.callees(referent):
                yield from self._of_return(callee.function)

    def _of_return(self, function: Function) -> tuple[Value, ...]:
        if not self.enter(function):
            return ()
        values = tuple(referent for value in function.returns for referent in self.resolve(value, function))
        self.leave(function)
        return values

    def _after_decorators(self, referent: FunctionRef) -> Iterable[Value]:
        """The function after its decorators: the results of decorators of the project, otherwise itself.

        A decorator that returns what is handed to it returns what is decorated elsewhere, too: that is none of them.
        """
        node = referent.function.node
        decorators = node.decorators if isinstance(node, cst.FunctionDef) else ()
        functions: Iterable[Value] = (referent,)
        for decorator in reversed(decorators):
            around = referent.function.parent or referent.function.module.top
            wrappers = [
                result
                for callee in self.functions(decorator.decorator, around)
                if callee.function is not referent.function
                for result in self._of_return(callee.function)
                if isinstance(result, FunctionRef) and not self.is_decorated(result.function, callee.function)
            ]
            if wrappers:
                functions = [FunctionRef(wrapper.function, referent.receiver) for wrapper in wrappers]
        return functions

    def _of_external_call(self, name: str, call: cst.Call, function: Function) -> Iterator[Value]:
        arguments = positional(call)
        if name == "builtins.super":
            yield from self._of_super(function)
            return
        if name in CONTAINERS:
            yield Container(call, function)
            return
        text = constant_text(arguments[-1]) if arguments else None
        if name == "builtins.getattr" and text is not None:
            for referent in self.resolve(arguments[0], function):
                yield from self.attribute(referent, text)
            return
        if name == "importlib.import_module" and text is not None:
            yield from self._of_import(text, function.module)
            return
        if name in PARTIALS and arguments:
            more = tuple((value, function) for value in arguments[1:])
            by_name = tuple((key, (value, function)) for key, value in keywords(call).items())
            for callee in self.functions(arguments[0], function):
                yield FunctionRef(
                    callee.function, callee.receiver, (*callee.arguments, *more), (*callee.by_name, *by_name)
                )
            return
        yield External(f"{name}()")
        if not name.startswith("builtins.") and name != "functools.wraps":
            yield from self._inside_wrapper(call, function)

    def _of_item(
        self, holder: cst.BaseExpression, key: cst.BaseExpression | None, function: Function
    ) -> Iterator[Value]:
        """The values that an item of a container can have: of those under known keys, or with known names, if any."""
        containers = [referent for referent in self.resolve(holder, function) if isinstance(referent, Container)]
        for container in containers:
            yield from self._default_value(container)
        text = constant_text(key)
        if text is not None:
            under_key: list[Argument] = [*self.values_under_key(holder, text, function)]
            if under_key:
                yield from self._resolve_each(under_key)
                return
        items = self.items(holder, function) if containers or not isinstance(holder, cst.Name) else []
        yield from self._resolve_each(items)

    def _inside_wrapper(self, call: cst.Call, function: Function) -> Iterator[Value]:
        """The result of a library call with a function or object of the project: most often a wrapper of it."""
        by_name = keywords(call)
        inner = [*positional(call)[:1], *(by_name[name] for name in WRAPPED if name in by_name)]
        for value in inner:
            if isinstance(value, cst.Name | cst.Attribute | cst.Call):
                yield from (
                    referent
                    for referent in self.resolve(value, function)
                    if isinstance(referent, FunctionRef | Instance)
                )

    def _of_super(self, function: Function) -> Iterator[Value]:
        owner = function.method.owner if function.method is not None else None
        if owner is not None:
            yield from (SuperRef(cls, owner) for cls in self.receiver_classes(owner))
            yield from (External(f"{base}()") for base in self.order(owner)[1])

    # ------------------------------------------------------------ items of containers

    def items(self, node: cst.BaseExpression, function: Function) -> list[Argument]:
        """Expressions of the items of a container."""
        items: list[Argument] = []
        for referent in self.resolve(node, function):
            if isinstance(referent, Container) and referent.node not in self._open_containers:  # `parts = list(parts)`
                self._open_containers.add(referent.node)
                items += self._container_items(referent)
                self._open_containers.remove(referent.node)
        if isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            items += self._added_items(node, function)
        return list(dict.fromkeys(items))

    def _of_subscript(self, node: cst.Subscript, function: Function) -> Iterator[Value]:
        """The values that an item of a container or a library object can have."""
        for referent in self.resolve(node.value, function):
            if isinstance(referent, External):
                yield External(f"{referent.name}[]")
        yield from self._of_item(node.value, index_of(node), function)

    def loop_items(self, node: cst.BaseExpression, position: tuple[int, ...], function: Function) -> list[Argument]:
        """The values of the target of a loop over a container."""
        if isinstance(node, cst.Call):
            name, arguments = last_name(node.func), positional(node)
            if name == "enumerate" and arguments:
                return self.loop_items(arguments[0], position[1:], function) if position[:1] == (1,) else []
            if name == "zip" and position and position[0] < len(arguments):
                return self.loop_items(arguments[position[0]], position[1:], function)
            if name in SAME_ITEMS and arguments:
                return self.loop_items(arguments[0], position, function)
            if name in ("items", "values") and isinstance(node.func, cst.Attribute) and not arguments:
                if name == "items" and position[:1] != (1,):
                    return []
                inside = self.items(node.func.value, function)
                return self._unpack_each(inside, position[1:] if name == "items" else position)
        return self._unpack_each(self.items(node, function), position)

    def unpacked_items(
        self, value: cst.BaseExpression, position: tuple[int, ...], function: Function
    ) -> list[Argument]:
        """The part of a value that an unpacking target takes."""
        item = element(value, position[0])
        if item is not None:
            return self.unpacked_items(item, position[1:], function) if position[1:] else [(item, function)]
        if not isinstance(value, cst.Call):
            return self._unpack_each(self.items(value, function)[position[0] :][:1], position[1:])
        items: list[Argument] = []
        for callee in self.functions(value.func, function):
            for returned in callee.function.returns:
                items += (
                    self.unpacked_items(returned, position, callee.function) if isinstance(returned, cst.Tuple) else []
                )
        arguments = positional(value)
        if (
            not items
            and position[0] < len(arguments)
            and len(arguments) > 1
            and self.qualified_name(value.func, function)
        ):
            return [(arguments[position[0]], function)]  # accelerator.prepare(model, optimizer) and the like
        return items

    def _unpack_each(self, items: list[Argument], position: tuple[int, ...]) -> list[Argument]:
        if not position:
            return items
        return [
            part
            for node, function in items
            if isinstance(node, cst.BaseExpression)
            for part in self.unpacked_items(node, position, function)
        ]

    def _container_items(self, container: Container) -> list[Argument]:
        node, function = container.node, container.function
        match node:
            case cst.Param():
                return [item for edge in self.edges_into(function) for item in edge.rest if node.star == "*"]
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

    def _default_value(self, container: Container) -> Iterator[Value]:
        """The default value of a container: `defaultdict(Meter)[key]` is a Meter."""
        node = container.node
        if isinstance(node, cst.Call) and last_name(node.func) == "defaultdict" and node.args:
            for referent in self.resolve(node.args[0].value, container.function):
                if isinstance(referent, ClassRef):
                    yield Instance(referent.cls)

    def values_under_key(self, node: cst.BaseExpression, key: str, function: Function) -> list[Placed]:
        """The values under a constant key in the dict displays that an expression can be."""
        return [
            (value, referent.function)
            for referent in self.resolve(node, function)
            if isinstance(referent, Container) and isinstance(referent.node, cst.Dict)
            for name, value in named_items(referent.node)
            if name == key
        ]

    def _added_items(self, node: cst.Name | cst.Attribute | cst.Subscript, function: Function) -> list[Argument]:
        """The items that `append`, `setdefault`, item assignments and the like add to a container variable."""
        name = name_of_container(node)
        bindings = self.find(name, function)[1] if isinstance(node, cst.Name) else []
        imported = next((binding.target for binding in bindings if binding.how == "import"), None)
        is_here = isinstance(node, cst.Name) and imported is None
        name = imported.rpartition(".")[2] if imported is not None else name
        modules = [function.module] if is_here else self.project.modules.values()
        added: list[Argument] = [item for module in modules for item in module.additions.get(name, ())]
        if is_here:
            added += [(value, function) for binding in bindings if (value := binding.whole(*PUTTING)) is not None]
        return added

"""Resolves names across files: to functions, classes, instances, modules and library objects."""

import builtins
from collections.abc import Iterable, Iterator, Sequence

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
    takes,
)
from deviate.analysis.resolve.choices import Choices
from deviate.analysis.resolve.index import Binding, Class, Function, Module
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.tree import (
    constant_key,
    constant_text,
    dotted_name,
    element,
    index_of,
    keywords,
    last_name,
    name_of_container,
    named_items,
    positional,
)
from deviate.model.metric_vocabulary import split_identifier, word_set

DEEPEST = 48
MOST_REFERENTS = 12
MOST_DEFINITIONS = 48
"""Maximum numbers of values of an expression: of all, and of functions and classes alone, as a registry has many."""

DISPLAYS = frozenset(
    {cst.List, cst.Tuple, cst.Set, cst.Dict, cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp}
)
DEFINITIONS = frozenset({cst.FunctionDef, cst.ClassDef})
TEXTS = frozenset(kind for kind in vars(cst).values() if isinstance(kind, type) and issubclass(kind, cst.BaseString))

FLUENT = word_set("to cuda cpu eval train double half float bfloat16 requires_grad_ share_memory compile unwrap bind")
PARTIALS = ("functools.partial", "functools.partialmethod", "jax.tree_util.Partial", "toolz.curry")
COPIES = ("copy.copy", "copy.deepcopy")
WRAPPED = ("model", "module", "fn", "func", "f", "fun", "function")
WRAPPED_AS = ("module", "_orig_mod")
"""Attributes by which a wrapper gives back the model that it wraps, and resolves to."""
CONTAINERS = word_set(
    "builtins.list builtins.tuple builtins.dict builtins.set collections.OrderedDict collections.defaultdict "
    "collections.deque torch.nn.ModuleList torch.nn.ModuleDict builtins.sorted builtins.reversed"
)
TAKING = ("get", "pop", "__getitem__", "popleft")
"""Methods of containers that return an item."""

BUILDING = word_set("build create make get lookup instantiate construct")
"""Methods of the registries of libraries that find or create what is registered."""

REGISTER = "regist"
"""In the names of functions of libraries that register what they decorate."""

NAMESPACES = ("builtins.globals()", "builtins.locals()", "builtins.vars()")
CREATING = word_set(
    "hydra.utils.instantiate hydra.utils.call hydra_zen.instantiate omegaconf.instantiate lightning.instantiate_class"
)
LOCATING = word_set(
    "hydra.utils.get_class hydra.utils.get_method hydra.utils.get_object pydoc.locate importlib.import_module()"
)
"""Functions that create, or find, what a configuration names."""

MOST_NAMESAKES = 16
"""An unknown name chooses among at most so many definitions of a module: of more, it tells nothing."""

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
            calls. chosen: texts of parameters in the call that is looked at. active:
            questions being answered, to detect recursion.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.edges: dict[Function, list[Edge]] = {}
        self.instantiated: dict[Class, None] = {}
        self._known: dict[int, _Answer] = {}  # by the node's id, as hashing a node is slow
        self._before: dict[int, _Answer] = {}
        self._returned: dict[tuple[Function, tuple[tuple[str, str], ...]], tuple[Value, ...]] = {}
        self.chosen: dict[tuple[Function, str], str] = {}
        self.active: set[object] = set()
        self._orders: dict[Class, tuple[list[Class], list[str]]] = {}
        self._open_containers: set[cst.CSTNode] = set()
        self.choices = Choices(project, self)
        self._registered: dict[str, dict[str, dict[Value, None]]] = {}

    def forget(self) -> None:
        """Begin a new round, as new edges may have changed the answers."""
        self._before, self._known = self._known, {}
        self._returned.clear()
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

    def register(self, name: str, node: cst.FunctionDef | cst.ClassDef, function: Function) -> None:
        """Note a definition that is decorated with a function of a library, in whose registry it may stand."""
        holder, _, last = name.removesuffix("()").rpartition(".")
        if REGISTER in last.lower():
            referents = self.resolve(node, function)
            self._registered.setdefault(holder, {}).setdefault(last, {}).update(dict.fromkeys(referents))

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
                if len(referents) > MOST_REFERENTS:
                    referents = _limited(referents)
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
                if scope.parent is None or any(binding.how != "item" for binding in bindings):
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
        return self._of_rare(node, function)

    def _of_rare(self, node: cst.CSTNode, function: Function) -> Iterable[Value]:
        if type(node) is cst.NamedExpr:
            return self.resolve(node.value, function)
        if type(node) is cst.BinaryOperation:
            return self._of_sum(node, function)
        return self._of_lambda(node, function) if type(node) is cst.Lambda else ()

    def _of_sum(self, node: cst.BinaryOperation, function: Function) -> Iterable[Value]:
        """The containers that are joined: `[Report()] + hooks`."""
        sides = [node.left, node.right] if isinstance(node.operator, cst.Add) else []
        if not any(type(side) in (cst.List, cst.Tuple) for side in sides):
            return ()
        values = [value for side in sides for value in self.resolve(side, function)]
        return [value for value in values if isinstance(value, Container)]

    def _of_lambda(self, node: cst.Lambda, function: Function) -> Iterable[Value]:
        """The function to which a lambda hands all that it takes, in its order: `lambda text: print(text)`."""
        call, parameters = node.body, [parameter.name.value for parameter in node.params.params]
        if not isinstance(call, cst.Call) or not (parameters or isinstance(node.params.star_arg, cst.Param)):
            return ()
        handed = [dotted_name(argument.value) for argument in call.args if argument.keyword is None]
        return self.resolve(call.func, function) if handed[: len(parameters)] == parameters else ()

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
        package = self.project.package_of(file) if not rest else None
        if package is not None and package is not module:  # `from .monitor import monitor` in it hides the submodule
            name = target.rpartition(".")[2]
            hiding = [
                binding
                for binding in package.top.bindings.get(name, ())
                if binding.target.count(name) > 1 or binding.how != "import"
            ]
            if hiding:
                return self.in_module(package, name)
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
        text = constant_text(annotation)
        if text is not None:
            node: cst.BaseExpression = cst.Name(text) if text.isidentifier() else annotation
        else:
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
        for referent in self.called(call, function):
            if type(referent) is External:
                yield from self._of_external_call(referent.name, call, function)
            elif type(referent) is FunctionRef and (keys := self._keys_passed(referent, call, function)):
                yield from self._of_return_under(referent.function, keys)
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

    def called(self, call: cst.Call, function: Function) -> list[Value]:
        """The values that a call can call: where there are several, those that take its arguments, if any does."""
        referents = self.resolve(call.func, function)
        if len(referents) < 2:
            return list(referents)
        return [
            referent for referent in referents if type(referent) is External or self._takes(referent, call)
        ] or list(referents)

    def _takes(self, referent: Value, call: cst.Call) -> bool:
        """Whether what runs when a value is called takes the arguments of a call, as far as that is known."""
        return all(takes(callee, call) for callee in self.callees(referent))

    def configured(self, function: Function) -> list[Value]:
        """All that configuration files name of the project."""
        return list(self._of_targets(None, function))

    def created(self, call: cst.Call, function: Function) -> list[Value]:
        """What a call of a library function creates or calls that finds it in the configuration."""
        return list(self._of_targets(next(iter([*positional(call), *keywords(call).values()]), None), function))

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

    def _keys_passed(self, callee: FunctionRef, call: cst.Call, function: Function) -> tuple[tuple[str, str], ...]:
        """The texts that a call passes to those parameters of a function by which it chooses among containers."""
        choosing = callee.function.keys
        if not choosing:
            return ()
        edge = Edge(
            call,
            function,
            callee.function,
            arguments=tuple((value, function) for value in positional(call)),
            by_name=tuple((key, (value, function)) for key, value in keywords(call).items()),
            skipped=int(callee.receiver is not None),
        )
        passed = ((name, edge.argument(name)) for name in choosing)
        texts = ((name, constant_text(argument[0])) for name, argument in passed if argument is not None)
        return tuple((name, text) for name, text in texts if text is not None)

    def _of_return_under(self, function: Function, keys: tuple[tuple[str, str], ...]) -> tuple[Value, ...]:
        """The values that a function returns to a call with these texts: what other calls choose is left out."""
        question = (function, keys)
        if question in self._returned:
            return self._returned[question]
        if not self.enter(question):
            return ()
        around = self._known, self.chosen
        self._known, self.chosen = {}, {**self.chosen, **{(function, name): text for name, text in keys}}
        values = tuple(referent for value in function.returns for referent in self.resolve(value, function))
        self._known, self.chosen = around
        self.leave(question)
        self._returned[question] = values
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
        chosen = self._of_choosing_call(name, call, function)
        if chosen is not None:
            yield from chosen
            return
        if name in PARTIALS and arguments:
            more = tuple((value, function) for value in arguments[1:])
            by_name = tuple((key, (value, function)) for key, value in keywords(call).items())
            for callee in self.functions(arguments[0], function):
                yield FunctionRef(
                    callee.function, callee.receiver, (*callee.arguments, *more), (*callee.by_name, *by_name)
                )
            return
        if name in COPIES and arguments:
            yield from self.resolve(arguments[0], function)
            return
        yield from self._of_library_call(name, next(iter(arguments), None), function)
        if not name.startswith("builtins.") and name != "functools.wraps":
            yield from self._inside_wrapper(call, function)

    # ------------------------------------------------------------ chosen by name

    def _of_choosing_call(self, name: str, call: cst.Call, function: Function) -> Iterable[Value] | None:
        """The results of a call of a library function that chooses by name; None for any other."""
        arguments = positional(call)
        if name == "builtins.getattr" and len(arguments) > 1:
            return self._of_getattr(arguments[0], arguments[1], function)
        if name == "importlib.import_module" and arguments:
            return self._of_import_by_name(arguments[0], function)
        if name == "builtins.eval" and arguments:
            chosen = self.choices.choose(arguments[0], function, function.module.top.bindings) or ()
            return [value for each in chosen for value in self.in_module(function.module, each)]
        if name in LOCATING:
            return self._of_targets(next(iter(arguments), None), function)
        if name in CREATING:
            return [result for referent in self.created(call, function) for result in self._of_result(referent)]
        return None

    def _of_library_call(self, name: str, key: cst.BaseExpression | None, function: Function) -> Iterator[Value]:
        """The result of a call of a library object, and what it may find or create by a key in its registry."""
        yield External(f"{name}()")
        if not self._registered:
            return
        holder, _, method = name.rpartition(".")
        is_taken = method in TAKING
        of_table = self._of_library_registry(holder, key, function) if is_taken else ()
        for referent in of_table or self._of_library_registry(name, key, function):
            yield from (referent,) if is_taken else self._of_result(referent)

    def _of_getattr(self, holder: cst.BaseExpression, name: cst.BaseExpression, function: Function) -> Iterator[Value]:
        """The attributes of a value that a name can choose."""
        text = constant_text(name)
        for referent in self.resolve(holder, function):
            if isinstance(referent, External) and referent.name == "sys.modules[]":
                yield from self._chosen_in_module(function.module, name, function)
            elif text is not None:
                yield from self.attribute(referent, text)
            elif isinstance(referent, ModuleRef) and referent.module is not None:
                yield from self._chosen_in_module(referent.module, name, function)
            elif isinstance(referent, Instance | ClassRef):
                methods = dict.fromkeys(method for cls in self.order(referent.cls)[0] for method in cls.methods)
                for chosen in self.choices.choose(name, function, methods) or ():
                    yield from self.attribute(referent, chosen)
            elif isinstance(referent, External) and referent.name == "importlib.import_module()":
                yield from self._of_targets(None, function)
            elif isinstance(referent, External):
                for chosen in self.choices.texts(name, function):
                    if chosen.isidentifier():
                        yield External(f"{referent.name}.{chosen}")

    def _chosen_in_module(self, module: Module, name: cst.BaseExpression, function: Function) -> Iterator[Value]:
        """The values of a module that a name can choose: all functions and classes of few if it is unknown."""
        chosen = self.choices.choose(name, function, module.top.bindings)
        if chosen is None:
            ways = ("define", "import") if module.is_package else ("define",)
            chosen = [
                bound
                for bound, bindings in module.top.bindings.items()
                if not bound.startswith("_") and any(binding.how in ways for binding in bindings)
            ]
            chosen = chosen if len(chosen) <= MOST_NAMESAKES else []
        for each in chosen:
            yield from self.in_module(module, each)

    def _of_import_by_name(self, name: cst.BaseExpression, function: Function) -> Iterator[Value]:
        modules = [
            referent
            for text in self.choices.texts(name, function)
            if text.strip(".").replace(".", "_").isidentifier()
            for referent in self._of_import(text, function.module)
            if isinstance(referent, ModuleRef) or constant_text(name) is not None
        ]
        yield from modules or (External("importlib.import_module()"),)

    def _of_targets(self, described: cst.BaseExpression | None, function: Function) -> Iterator[Value]:
        """What configuration files describe for a variable; what they name of the project if it says nothing."""
        if isinstance(described, cst.Call) and last_name(described.func) == "get":
            described = next(iter(positional(described)), None)
        key = constant_text(described) or (constant_key(described) if isinstance(described, cst.Subscript) else None)
        if key is None and described is not None:
            key = last_name(described)
        names = self.choices.config.targets_under(key or "")
        is_told = key in self.choices.config.targets
        for name in names:
            for referent in self._of_import(name, function.module):
                if isinstance(referent, ClassRef | FunctionRef) or (is_told and isinstance(referent, External)):
                    yield referent

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
            options = [container for container in containers if isinstance(container.node, cst.Param)]
            for container in options:
                under_key += self._option(text, container.function)
            if under_key or (options and len(options) == len(containers)):
                yield from self._resolve_each(under_key)
                return
        elif key is not None and any(_is_table(container.node) for container in containers):
            chosen = [
                item
                for known in self.choices.texts(key, function)
                for item in self.values_under_key(holder, known, function)
            ]
            if chosen:
                yield from self._resolve_each(chosen)
                return
        items = self.items(holder, function) if containers or not isinstance(holder, cst.Name) else []
        yield from self._with_names(list(dict.fromkeys(self._resolve_each(items))), key, function)

    def _of_library_registry(self, name: str, key: cst.BaseExpression | None, function: Function) -> Sequence[Value]:
        """What decorators of a library register under a key of its object with this full name."""
        holder, _, last = name.rpartition(".")
        if holder not in self._registered or REGISTER in last.lower():
            return ()
        by_name = self._registered[holder]
        told = set(split_identifier(last)) - set(split_identifier(holder))
        fitting = [way for way in by_name if told & set(split_identifier(way))]
        if not fitting and last in BUILDING:
            fitting = list(by_name)
        values = [value for way in fitting for value in by_name[way]]
        return self._with_names(values, key, function)

    def _with_names(
        self, values: Sequence[Value], key: cst.BaseExpression | None, function: Function
    ) -> Sequence[Value]:
        """Of the values in a registry, those under the names that a key can be; all of them where none is."""
        if key is None or sum(isinstance(value, ClassRef | FunctionRef) for value in values) < 2:
            return values
        texts = self.choices.texts(key, function).keys()
        return [value for value in values if not texts.isdisjoint(self._registered_names(value))] or values

    def _registered_names(self, value: Value) -> Iterator[str]:
        """The names under which a function or class may stand in a registry: its own and those told its decorators."""
        if not isinstance(value, ClassRef | FunctionRef):
            return
        node = value.cls.node if isinstance(value, ClassRef) else value.function.node
        if isinstance(node, cst.Module):
            return
        yield node.name.value
        for decorator in node.decorators:
            for argument in decorator.decorator.args if isinstance(decorator.decorator, cst.Call) else ():
                if (text := constant_text(argument.value)) is not None:
                    yield text

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
                first = self._first_variable(referent)
                if first is not None and first is not node:
                    items += self._added_items(first, referent.function)
        if isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            items += self._added_items(node, function)
        return list(dict.fromkeys(items))

    def _first_variable(self, container: Container) -> cst.Name | cst.Attribute | None:
        """The variable to which a container is assigned where it is made empty: other names may hold it later."""
        if isinstance(container.node, cst.Param) or not _is_empty(container.node):
            return None
        statement = self.project.nodes.parents.get(container.node)
        targets = statement.targets if isinstance(statement, cst.Assign) else ()
        target = targets[0].target if targets else statement.target if isinstance(statement, cst.AnnAssign) else None
        return target if isinstance(target, cst.Name | cst.Attribute) else None

    def _of_subscript(self, node: cst.Subscript, function: Function) -> Iterator[Value]:
        """The values that an item of a container, a namespace or a library object can have."""
        key = index_of(node)
        for referent in self.resolve(node.value, function):
            if isinstance(referent, External) and referent.name in NAMESPACES and key is not None:
                for chosen in self.choices.choose(key, function, function.module.top.bindings) or ():
                    yield from self.in_module(function.module, chosen)
            elif isinstance(referent, External):
                yield External(f"{referent.name}[]")
                if self._registered:
                    yield from self._of_library_registry(referent.name, key, function)
        yield from self._of_item(node.value, key, function)

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
                return self._star_parameter_items(node, function)
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

    def _star_parameter_items(self, node: cst.Param, function: Function) -> list[Argument]:
        """The arguments that the calls of a function pass to its `*values` or `**options`."""
        items: list[Argument] = []
        for edge in self.edges_into(function):
            items += edge.rest if node.star == "*" else [argument for _, argument in edge.named_rest]
        return items

    def _option(self, name: str, function: Function) -> list[Argument]:
        """The arguments of one name that the calls of a function pass to its `**options`."""
        return [argument for edge in self.edges_into(function) for key, argument in edge.named_rest if key == name]

    def _default_value(self, container: Container) -> Iterator[Value]:
        """The default value of a container: `defaultdict(Meter)[key]` is a Meter."""
        node = container.node
        if not isinstance(node, cst.Call) or last_name(node.func) != "defaultdict" or not node.args:
            return
        factory = node.args[0].value
        if isinstance(factory, cst.Lambda):
            yield from self.resolve(factory.body, container.function)
            return
        for referent in self.resolve(factory, container.function):
            if isinstance(referent, ClassRef):
                yield Instance(referent.cls)
            elif isinstance(referent, FunctionRef):
                for value in referent.function.returns:
                    yield from self.resolve(value, referent.function)

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
        names = [name]
        if type(node) is cst.Subscript and not name and (key := index_of(node)) is not None:
            names = [*self.choices.texts(key, function)]  # `kinds[kind].get(name)`
        added: list[Argument] = [
            item for name in names for module in modules for item in module.additions.get(name, ())
        ]
        if is_here:
            added += [(value, function) for binding in bindings if (value := binding.whole("item")) is not None]
        return added


def _limited(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The first values of an expression that has many, as many as are followed."""
    are_definitions = all(isinstance(value, ClassRef) or _is_bare(value) for value in values)
    return values[: MOST_DEFINITIONS if are_definitions else MOST_REFERENTS]


def _is_bare(value: Value) -> bool:
    """Whether a value is a function without bound arguments, and so no variant of one that is there already."""
    return isinstance(value, FunctionRef) and not value.arguments and not value.by_name


def _is_table(node: cst.CSTNode) -> bool:
    """Whether a container is a dict display of functions and the like, from which a name chooses."""
    return (
        isinstance(node, cst.Dict)
        and len(node.elements) > 1
        and isinstance(node.elements[0].value, cst.Name | cst.Attribute | cst.Lambda)
    )


def _is_empty(node: cst.BaseExpression) -> bool:
    """Whether a container is created without items."""
    return not node.elements if isinstance(node, cst.List | cst.Dict) else isinstance(node, cst.Call) and not node.args

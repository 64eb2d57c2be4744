"""Index of source files: functions, classes, bindings, calls and loops, and the position of each node.

A file is indexed in a single walk over its tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from deviate.analysis.resolve.source import SourceFile
from deviate.analysis.resolve.tree import (
    LEAVES,
    argument,
    children,
    dotted_name,
    imported_names,
    index_of,
    last_name,
    name_of_container,
)
from deviate.model.analysis import Place

LoopNode = cst.For | cst.While
PUTTING = ("item", "part")
"""Ways of binding that bind no name: items are put into a container, or added to (`sums[key] += loss`)."""
IMPORTS = frozenset({cst.Import, cst.ImportFrom})
BINDING = frozenset(
    {cst.For, cst.CompFor, cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.AugAssign, cst.WithItem, cst.ExceptHandler}
)
RECORDED = IMPORTS | BINDING | {cst.Call, cst.While, cst.Global, cst.Nonlocal, cst.Return, cst.Yield, cst.If}
ADDING = {"append": 0, "add": 0, "insert": 1, "setdefault": 1, "appendleft": 0}
"""Methods that add an argument to a container, with its place."""
BLOCKS = frozenset({cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite})
EXITS = ("sys.exit", "exit", "quit", "os._exit")


@dataclass(frozen=True, slots=True)
class Binding:
    """A statement or parameter that binds a name.

    Attributes:
        how: `assign`, `add` (augmented assignment), `item` (`name[key] = value`), `part` (`name[key] += value`), `for`
            (target of a loop), `with`,
            `parameter`, `stars` (`*args`, `**options`), `import`, `define`, `caught` (an exception).
        value: assigned expression, iterable, context, default of a parameter, or definition; None when there is none.
        position: place in the unpacked target, outermost first; empty for a plain target.
        target: imported name; relative ones begin with dots.
        annotation: the declared type.
        key: of an item.
    """

    how: str
    value: cst.CSTNode | None
    node: cst.CSTNode
    position: tuple[int, ...] = ()
    target: str = ""
    annotation: cst.BaseExpression | None = None
    key: cst.BaseExpression | None = None

    def whole(self, *ways: str) -> cst.BaseExpression | None:
        """The expression that a plain target gets in one of these ways (values of `how`); None for any other."""
        is_whole = self.how in ways and not self.position
        return self.value if is_whole and isinstance(self.value, cst.BaseExpression) else None


@dataclass(eq=False)
class Function:
    """A function of a file, or the top level of one (node is the module then).

    Attributes:
        owner: the class, if it is a method.
        parent: the function around it; None for a top level.
        n_positional: how many of its parameters, the first ones, are filled by arguments without names.
        calls: calls that run in its frame, in source order; imports likewise.
        assigned: assignments to attributes in its frame. stored: assignments to items in its frame. contexts:
            expressions of its `with` statements.
    """

    name: str
    node: cst.FunctionDef | cst.Module
    module: "Module"
    parent: "Function | None" = None
    owner: "Class | None" = None
    parameters: list[str] = field(default_factory=list)
    n_positional: int = 0
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    returns: list[cst.BaseExpression] = field(default_factory=list)
    calls: list[cst.Call] = field(default_factory=list)
    assigned: list[tuple[cst.Attribute, cst.BaseExpression]] = field(default_factory=list)
    stored: list[tuple[cst.Subscript, cst.BaseExpression]] = field(default_factory=list)
    imports: list[cst.Import | cst.ImportFrom] = field(default_factory=list)
    contexts: list[cst.BaseExpression] = field(default_factory=list)

    @property
    def is_module(self) -> bool:
        return self.parent is None

    @property
    def source(self) -> SourceFile:
        return self.module.source

    @property
    def marks(self) -> list[str]:
        """Names of its decorators, without their arguments."""
        decorators = self.node.decorators if isinstance(self.node, cst.FunctionDef) else ()
        return [dotted_name(decorator.decorator).removesuffix("()") for decorator in decorators]

    @property
    def method(self) -> "Function | None":
        """The method that it is or is defined in; None outside of classes."""
        return self if self.owner is not None else self.parent.method if self.parent is not None else None

    @property
    def receiver(self) -> str | None:
        """Name of the parameter that takes the instance (or class) of a method."""
        is_bound = self.owner is not None and self.parameters and "staticmethod" not in self.marks
        return self.parameters[0] if is_bound else None


@dataclass(eq=False)
class Class:
    """A class of a file; `attributes` holds what is assigned in its body and to `self.x` anywhere in it."""

    name: str
    node: cst.ClassDef
    function: Function
    methods: dict[str, Function] = field(default_factory=dict)
    attributes: dict[str, list[tuple[Binding, Function]]] = field(default_factory=dict)

    @property
    def bases(self) -> list[cst.BaseExpression]:
        return [base.value for base in self.node.bases if not base.star]


class Nodes:
    """Relations between the nodes of all files that were read.

    Attributes:
        parents: of each node; functions: of each definition and top level, the function.
    """

    def __init__(self) -> None:
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.functions: dict[cst.CSTNode, Function] = {}
        self._function_of: dict[cst.CSTNode, Function] = {}
        self._codes: dict[cst.CSTNode, str] = {}
        self._loops_around: dict[cst.CSTNode, list[LoopNode]] = {}
        self._behind_exit: dict[cst.CSTNode, frozenset[cst.CSTNode]] = {}
        self._is_dead: dict[cst.CSTNode, bool] = {}

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The parent, its parent, and so on to the module."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def around(self, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        """What stands around a node within its function, innermost first, each with its part that holds the node."""
        while (parent := self.parents.get(node)) is not None and type(parent) is not cst.FunctionDef:
            yield parent, node
            node = parent

    def function_of(self, node: cst.CSTNode) -> Function:
        """The function in whose frame a node runs."""
        function = self._function_of.get(node)  # looked up once: hashing a node is slow
        if function is None:
            function = self._function_of[node] = self._find_function_of(node)
        return function

    def _find_function_of(self, node: cst.CSTNode) -> Function:
        below = node
        while type(below) is not cst.Module:
            parent = self.parents[below]
            if type(parent) is cst.IndentedBlock:
                return self.function_of(parent)
            if type(parent) is cst.FunctionDef and below is parent.body:
                return self.functions[parent]
            below = parent
        return self.functions[below]

    def source(self, node: cst.CSTNode) -> SourceFile:
        return self.function_of(node).source

    def line(self, node: cst.CSTNode) -> int:
        return self.source(node).line(node)

    def place(self, node: cst.CSTNode) -> Place:
        source = self.source(node)
        return Place(source.file, source.line(node))

    def code(self, node: cst.CSTNode) -> str:
        """An expression as it is spelled, on one line."""
        if node not in self._codes:
            self._codes[node] = self.source(node).code(node)
        return self._codes[node]

    def statement_line(self, node: cst.CSTNode) -> int:
        """First line of the simple statement, or of the compound statement's header, in which a node stands."""
        for parent in (node, *self.ancestors(node)):
            if isinstance(parent, cst.BaseSmallStatement | cst.BaseCompoundStatement | cst.Decorator):
                return self.line(parent)
        return self.line(node)

    def loops_around(self, node: cst.CSTNode) -> list[LoopNode]:
        """Loops of the same frame in whose body a node stands, outermost first."""
        loops = self._loops_around.get(node)
        if loops is None:
            loops = self._loops_around[node] = self._find_loops_around(node)
        return loops

    def _find_loops_around(self, node: cst.CSTNode) -> list[LoopNode]:
        loops: list[LoopNode] = []
        below = node
        for parent in self.ancestors(node):
            if (type(parent) is cst.For or type(parent) is cst.While) and below is parent.body:
                loops.append(parent)
            if type(parent) is cst.While and below is parent.test:
                loops.append(parent)
            if (type(parent) is cst.FunctionDef or type(parent) is cst.ClassDef) and below is parent.body:
                break
            below = parent
        return loops[::-1]

    def is_dead(self, node: cst.CSTNode) -> bool:
        """Whether a node follows a statement of an enclosing block that always leaves it (`return`, `sys.exit()`)."""
        is_dead = self._is_dead.get(node)
        if is_dead is None:
            place = next(((parent, below) for parent, below in self.around(node) if type(parent) in BLOCKS), None)
            is_dead = place is not None and (
                place[1] in self._statements_behind_exit(place[0]) or self.is_dead(place[0])
            )
            self._is_dead[node] = is_dead
        return is_dead

    def _statements_behind_exit(self, block: cst.CSTNode) -> frozenset[cst.CSTNode]:
        statements = self._behind_exit.get(block)
        if statements is None:
            body = block.body if isinstance(block, cst.BaseSuite | cst.Module) else ()
            exits = (place for place, statement in enumerate(body, 1) if is_exit(statement))
            statements = self._behind_exit[block] = frozenset(body[next(exits, len(body)) :])
        return statements


def is_exit(statement: cst.CSTNode) -> bool:
    """Whether a statement leaves its function, or the program."""
    parts = statement.body if type(statement) is cst.SimpleStatementLine else (statement,)
    return any(
        type(part) is cst.Return
        or type(part) is cst.Raise
        or (type(part) is cst.Expr and type(part.value) is cst.Call and dotted_name(part.value.func) in EXITS)
        for part in parts
    )


class Module:
    """Definitions, calls and assignments of one file.

    Args:
        nodes: those of all files of a project, shared by its modules.
    """

    def __init__(self, source: SourceFile, nodes: Nodes) -> None:
        self.source = source
        self.nodes = nodes
        self.top = Function("<module>", source.tree, self)
        self.functions: list[Function] = []
        self.classes: dict[cst.CSTNode, Class] = {}
        self.loops: list[tuple[LoopNode, Function]] = []
        self.stars: list[str] = []
        self.used: set[str] = set()
        self.guards: list[cst.If] = []
        nodes.functions[source.tree] = self.top
        self._walk()

    @property
    def file(self) -> str:
        return self.source.file

    @property
    def is_package(self) -> bool:
        return self.file.rpartition("/")[2] == "__init__.py"

    @property
    def scopes(self) -> Iterator[Function]:
        """The top level and every function."""
        yield self.top
        yield from self.functions

    def calls_of(self, name: str, *methods: str) -> list[tuple[cst.Call, Function]]:
        """Calls of these methods of a variable, in source order of each function."""
        method_calls = self._calls_of.get(name, ())
        return [(call, function) for method, call, function in method_calls if method in methods]

    @cached_property
    def _calls_of(self) -> dict[str, list[tuple[str, cst.Call, Function]]]:
        calls: dict[str, list[tuple[str, cst.Call, Function]]] = {}
        for function in self.scopes:
            for call in function.calls:
                if isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Name):
                    calls.setdefault(call.func.value.value, []).append((call.func.attr.value, call, function))
        return calls

    @cached_property
    def additions(self) -> dict[str, list[tuple[cst.BaseExpression, Function]]]:
        """The items that calls and item assignments to attributes add to containers, by the last name of these."""
        additions: dict[str, list[tuple[cst.BaseExpression, Function]]] = {}
        for function in self.scopes:
            for name, item in _items_put(function):
                additions.setdefault(name, []).append((item, function))
        for cls in self.classes.values():
            for name, bound in cls.attributes.items():
                for binding, where in bound:
                    value = binding.whole("item")
                    items = [value] if value is not None else _items_joined(binding)
                    additions.setdefault(name, []).extend((item, where) for item in items)
        for function in self.functions:
            for target, value in function.stored:
                if self._stores_outside(target, function) and (name := name_of_container(target.value)):
                    additions.setdefault(name, []).append((value, function))
        return additions

    def _stores_outside(self, target: cst.Subscript, function: Function) -> bool:
        """Whether an item is assigned to a container of the module, or to one that is itself an item."""
        if isinstance(target.value, cst.Name):
            name = target.value.value
            return name in self.top.bindings and all(
                binding.how in PUTTING for scope in _scopes_within(function) for binding in scope.bindings.get(name, ())
            )
        return isinstance(target.value, cst.Subscript)

    def _walk(self) -> None:
        parents = self.nodes.parents
        waiting: list[tuple[cst.CSTNode, Function, Class | None]] = [(self.source.tree, self.top, None)]
        while waiting:
            node, function, around = waiting.pop()
            kind = type(node)
            if type(node) is cst.Name:
                self.used.add(node.value)
                continue
            if kind in LEAVES:
                continue
            if type(node) is cst.FunctionDef:
                below = self._define(node, function, around)
                for child in reversed(children(node)):
                    parents[child] = node
                    is_inside = child is node.body or child is node.params
                    waiting.append((child, below, None) if is_inside else (child, function, around))
                continue
            if type(node) is cst.ClassDef:
                cls = self.classes[node] = Class(node.name.value, node, function)
                self._bind(function, around, node.name.value, Binding("define", node, node))
                around = cls
            elif kind in RECORDED:  # tested first: matching libcst's abstract classes is slow
                self._record(node, function, around)
                if kind in IMPORTS:
                    continue  # the names in it are not uses
            for child in reversed(children(node)):
                parents[child] = node
                waiting.append((child, function, around))

    def _define(self, node: cst.FunctionDef, parent: Function, owner: Class | None) -> Function:
        function = Function(node.name.value, node, self, parent, owner)
        for parameter in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params):
            declared = parameter.annotation.annotation if parameter.annotation else None
            function.parameters.append(parameter.name.value)
            function.bindings[parameter.name.value] = [
                Binding("parameter", parameter.default, parameter, annotation=declared)
            ]
        function.n_positional = len(function.parameters) - len(node.params.kwonly_params)
        for star in (node.params.star_arg, node.params.star_kwarg):
            if isinstance(star, cst.Param):
                function.bindings[star.name.value] = [Binding("stars", None, star)]
        self.functions.append(function)
        self.nodes.functions[node] = function
        if owner is None:
            self._bind(parent, None, function.name, Binding("define", node, node))
        else:
            owner.methods[function.name] = function
        return function

    def _record(self, node: cst.CSTNode, function: Function, around: Class | None) -> None:
        if type(node) is cst.Call:  # most of them, and none of the others
            function.calls.append(node)
            return
        match node:
            case cst.For() | cst.While():
                self.loops.append((node, function))
            case cst.Global() | cst.Nonlocal():
                function.globals.update(item.name.value for item in node.names)
            case cst.Return(value=cst.BaseExpression() as value) | cst.Yield(value=cst.BaseExpression() as value):
                function.returns.append(value)
            case cst.If(test=cst.Comparison(left=cst.Name(value="__name__"))):
                self.guards.append(node)
            case cst.WithItem():
                function.contexts.append(node.item)
            case cst.Import() | cst.ImportFrom():
                function.imports.append(node)
                self._import(node, function, around)
        for target, binding in _bound_targets(node) if type(node) in BINDING else ():
            self._bind_target(target, binding, function, around)

    def _import(self, node: cst.Import | cst.ImportFrom, function: Function, around: Class | None) -> None:
        for name, bound in imported_names(node):
            if bound is None:
                self.stars.append(name)
                continue
            is_shortened = isinstance(node, cst.Import) and bound == name.split(".")[0]
            self._bind(function, around, bound, Binding("import", None, node, (), bound if is_shortened else name))

    def _bind_target(self, target: cst.CSTNode, binding: Binding, function: Function, around: Class | None) -> None:
        match target:
            case cst.Tuple() | cst.List():
                for number, part in enumerate(target.elements):
                    inner = Binding(binding.how, binding.value, binding.node, (*binding.position, number))
                    self._bind_target(part.value, inner, function, around)
            case cst.Name():
                self._bind(function, around, target.value, binding)
            case cst.Attribute(value=cst.Name(value=holder)):
                method = function.method  # a function inside a method sees its `self`
                if method is not None and method.owner is not None and holder == method.receiver:
                    method.owner.attributes.setdefault(target.attr.value, []).append((binding, function))
                if not binding.position and isinstance(binding.value, cst.BaseExpression) and binding.how == "assign":
                    function.assigned.append((target, binding.value))
            case cst.Attribute() if not binding.position and isinstance(binding.value, cst.BaseExpression):
                function.assigned.append((target, binding.value))
            case cst.Subscript() if binding.how == "assign" and not binding.position and len(target.slice) == 1:
                item = Binding("item", binding.value, binding.node, key=index_of(target))
                if isinstance(binding.value, cst.BaseExpression):
                    function.stored.append((target, binding.value))
                self._bind_target(target.value, item, function, around)
            case cst.Subscript(value=cst.Name(value=name)) if binding.how == "add":
                self._bind(function, around, name, Binding("part", binding.value, binding.node, key=index_of(target)))

    def _bind(self, function: Function, around: Class | None, name: str, binding: Binding) -> None:
        if around is not None:
            around.attributes.setdefault(name, []).append((binding, function))
        else:
            self._owner(name, function).bindings.setdefault(name, []).append(binding)

    def _owner(self, name: str, function: Function) -> Function:
        """The scope that a name belongs to: `global` and `nonlocal` point outwards."""
        if name not in function.globals or function.parent is None:
            return function
        scope = function.parent
        while scope.parent is not None and name not in scope.bindings:
            scope = scope.parent
        return scope if name in scope.bindings else self.top


def _items_put(function: Function) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The items that the calls and `+=` of a function add to containers, with the last names of these."""
    for call in function.calls:
        if not isinstance(call.func, cst.Attribute) or not (name := last_name(call.func.value)):
            continue
        method = call.func.attr.value
        item = argument(call, ADDING[method]) if method in ADDING else None
        if item is not None:
            yield name, item
        elif method == "extend" and call.args:
            yield from ((name, each) for each in _elements(call.args[0].value))
    for name, bindings in function.bindings.items():
        for binding in bindings:
            yield from ((name, item) for item in _items_joined(binding))


def _items_joined(binding: Binding) -> list[cst.BaseExpression]:
    """The items of a display that is added to a list: `hooks += [Report()]`."""
    value = binding.whole("add") if binding.how == "add" else None
    return _elements(value) if value is not None else []


def _elements(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The items of a list or tuple display, without those that are unpacked into it."""
    items = node.elements if isinstance(node, cst.List | cst.Tuple) else ()
    return [item.value for item in items if not isinstance(item, cst.StarredElement)]


def _scopes_within(function: Function) -> Iterator[Function]:
    """A function and those around it, without the top level."""
    scope: Function | None = function
    while scope is not None and scope.parent is not None:
        yield scope
        scope = scope.parent


def _bound_targets(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, Binding]]:
    """Targets that a node binds."""
    match node:
        case cst.For() | cst.CompFor():
            yield node.target, Binding("for", node.iter, node)
        case cst.Assign():
            for target in node.targets:
                yield target.target, Binding("assign", node.value, node)
        case cst.AnnAssign(value=cst.BaseExpression()):
            yield node.target, Binding("assign", node.value, node, annotation=node.annotation.annotation)
        case cst.AnnAssign():
            yield node.target, Binding("declared", None, node, annotation=node.annotation.annotation)
        case cst.NamedExpr():
            yield node.target, Binding("assign", node.value, node)
        case cst.AugAssign():
            yield node.target, Binding("add", node.value, node)
        case cst.WithItem(asname=cst.AsName() as alias):
            yield alias.name, Binding("with", node.item, node)
        case cst.ExceptHandler(name=cst.AsName() as alias):
            yield alias.name, Binding("caught", None, node)

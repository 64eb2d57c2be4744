"""Index of one source file: functions, classes, bindings, calls and loops, found in a single walk over the tree."""

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from .source import Source
from .tree import children, dotted

LoopNode = cst.For | cst.While


@dataclass(frozen=True, slots=True)
class Binding:
    """A place where a name gets a value.

    Attributes:
        how: `assign`, `add` (augmented assignment), `for` (target of a loop), `parameter`, `import`, `define`, `other`.
        value: assigned expression, iterable, default of a parameter, or definition; None when there is none.
        way: position in the unpacked target, outermost first; empty for a plain target.
        target: qualified name, of an import.
    """

    how: str
    value: cst.CSTNode | None
    node: cst.CSTNode
    way: tuple[int, ...] = ()
    target: str = ""


@dataclass(eq=False)
class Function:
    """A function of the file, or its top level (node is the module then)."""

    name: str
    node: cst.FunctionDef | cst.Module
    parent: "Function | None"
    class_name: str | None = None
    parameters: list[str] = field(default_factory=list)
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    returns: list[cst.BaseExpression] = field(default_factory=list)

    @property
    def is_module(self) -> bool:
        return self.parent is None


@dataclass(eq=False)
class Class:
    """A class of the file; `attributes` holds what is assigned to `self.x` anywhere in it."""

    name: str
    bases: list[str]
    methods: dict[str, Function] = field(default_factory=dict)
    attributes: dict[str, list[tuple[Binding, Function]]] = field(default_factory=dict)


class Index:
    """What one file defines and does. Names are resolved through it, so that other files can join later."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.module = Function("<module>", source.tree, None)
        self.functions: list[Function] = []
        self.classes: dict[str, Class] = {}
        self.calls: list[tuple[cst.Call, Function]] = []
        self.loops: list[tuple[LoopNode, Function]] = []
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._loops_around: dict[cst.CSTNode, list[LoopNode]] = {}
        self.by_node: dict[cst.CSTNode, Function] = {source.tree: self.module}
        self._walk()

    # ------------------------------------------------------------ questions

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The parent, its parent, and so on to the module."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def function_of(self, node: cst.CSTNode) -> Function:
        """The function in whose frame a node runs."""
        below = node
        for parent in self.ancestors(node):
            if parent in self.by_node and (not isinstance(parent, cst.FunctionDef) or below is parent.body):
                return self.by_node[parent]
            below = parent
        return self.module

    def statement_line(self, node: cst.CSTNode) -> int:
        """First line of the simple statement, or of the compound statement's header, in which a node stands."""
        for parent in (node, *self.ancestors(node)):
            if isinstance(parent, cst.BaseSmallStatement | cst.BaseCompoundStatement | cst.Decorator):
                return self.source.line(parent)
        return self.source.line(node)

    def loops_around(self, node: cst.CSTNode) -> list[LoopNode]:
        """Loops of the same frame in whose body a node stands, outermost first."""
        if node not in self._loops_around:
            self._loops_around[node] = self._find_loops_around(node)
        return self._loops_around[node]

    def _find_loops_around(self, node: cst.CSTNode) -> list[LoopNode]:
        found: list[LoopNode] = []
        below = node
        for parent in self.ancestors(node):
            if isinstance(parent, cst.For | cst.While) and below is parent.body:
                found.append(parent)
            if isinstance(parent, cst.While) and below is parent.test:
                found.append(parent)
            if isinstance(parent, cst.FunctionDef | cst.ClassDef) and below is parent.body:
                break
            below = parent
        return found[::-1]

    def find(self, name: str, function: Function) -> tuple[Function, list[Binding]]:
        """Where a name is bound, seen from a function: the scope and its bindings, ([], module) when nowhere."""
        scope: Function | None = function
        while scope is not None:
            if name in scope.bindings and name not in scope.globals:
                return scope, scope.bindings[name]
            scope = scope.parent
        return self.module, []

    def qualified(self, node: cst.CSTNode, function: Function, depth: int = 6) -> str | None:
        """The full name of a callee: imports followed, instances as `module.Class()`; None when it is not known."""
        if depth == 0:
            return None
        if isinstance(node, cst.Name):
            scope, bindings = self.find(node.value, function)
            if not bindings:
                return f"builtins.{node.value}" if hasattr(builtins, node.value) else None
            if bindings[0].how == "import":
                return bindings[0].target
            if bindings[0].how == "define":
                return f".{node.value}"
            if bindings[0].how == "assign" and not bindings[0].way and bindings[0].value is not None:
                return self.qualified(bindings[0].value, scope, depth - 1)
            return None
        if isinstance(node, cst.Attribute):
            base = self.qualified(node.value, function, depth - 1)
            return f"{base}.{node.attr.value}" if base else None
        if isinstance(node, cst.Call):
            base = self.qualified(node.func, function, depth - 1)
            return f"{base}()" if base else None
        return None

    def method(self, class_name: str, name: str, seen: frozenset[str] = frozenset()) -> Function | None:
        """A method of a class or of its bases in this file."""
        known = self.classes.get(class_name)
        if known is None or class_name in seen:
            return None
        if name in known.methods:
            return known.methods[name]
        found = (self.method(base, name, seen | {class_name}) for base in known.bases)
        return next((method for method in found if method is not None), None)

    @cached_property
    def imported(self) -> frozenset[str]:
        """Top-level packages that the file imports anywhere."""
        scopes = [self.module, *self.functions]
        targets = (
            binding.target
            for scope in scopes
            for found in scope.bindings.values()
            for binding in found
            if binding.target
        )
        return frozenset(target.split(".")[0] for target in targets)

    # ------------------------------------------------------------ the walk

    def _walk(self) -> None:
        waiting: list[tuple[cst.CSTNode, Function, str | None]] = [(self.source.tree, self.module, None)]
        while waiting:
            node, function, class_name = waiting.pop()
            below, inner_class = function, class_name
            if isinstance(node, cst.FunctionDef):
                below, inner_class = self._define(node, function, class_name), None
            elif isinstance(node, cst.ClassDef):
                bases = [dotted(base.value) for base in node.bases]
                self.classes.setdefault(node.name.value, Class(node.name.value, bases))
                _bind(function, node.name.value, Binding("define", node, node))
                inner_class = node.name.value
            else:
                self._record(node, function)
            for child in reversed(list(children(node))):
                self.parents[child] = node
                outside = isinstance(node, cst.FunctionDef) and child is not node.body and child is not node.params
                waiting.append((child, function if outside else below, inner_class))

    def _define(self, node: cst.FunctionDef, parent: Function, class_name: str | None) -> Function:
        made = Function(node.name.value, node, parent, class_name)
        every = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
        for parameter in every:
            made.parameters.append(parameter.name.value)
            _bind(made, parameter.name.value, Binding("parameter", parameter.default, parameter))
        for star in (node.params.star_arg, node.params.star_kwarg):
            if isinstance(star, cst.Param):
                _bind(made, star.name.value, Binding("other", None, star))
        self.functions.append(made)
        self.by_node[node] = made
        if class_name is None:
            _bind(parent, made.name, Binding("define", node, node))
        else:
            self.classes[class_name].methods.setdefault(made.name, made)
        return made

    def _record(self, node: cst.CSTNode, function: Function) -> None:
        if isinstance(node, cst.Call):
            self.calls.append((node, function))
        elif isinstance(node, cst.For | cst.While):
            self.loops.append((node, function))
        elif isinstance(node, cst.Global | cst.Nonlocal):
            function.globals.update(item.name.value for item in node.names)
        elif isinstance(node, cst.Return) and node.value is not None:
            function.returns.append(node.value)
        elif isinstance(node, cst.Import):
            for alias in node.names:
                name = dotted(alias.name)
                shown = dotted(alias.asname.name) if alias.asname else name.split(".")[0]
                _bind(function, shown, Binding("import", None, node, (), name if alias.asname else shown))
        elif isinstance(node, cst.ImportFrom):
            self._import_from(node, function)
        for target, binding in _bound(node):
            self._bind_target(target, binding, function)

    def _import_from(self, node: cst.ImportFrom, function: Function) -> None:
        base = "." * len(node.relative) + (dotted(node.module) if node.module else "")
        if isinstance(node.names, cst.ImportStar):
            return
        for alias in node.names:
            name = dotted(alias.name)
            shown = dotted(alias.asname.name) if alias.asname else name
            _bind(function, shown, Binding("import", None, node, (), f"{base}.{name}"))

    def _bind_target(self, target: cst.CSTNode, binding: Binding, function: Function) -> None:
        if isinstance(target, cst.Tuple | cst.List):
            for number, item in enumerate(target.elements):
                inner = Binding(binding.how, binding.value, binding.node, (*binding.way, number))
                self._bind_target(item.value, inner, function)
        elif isinstance(target, cst.Name):
            _bind(self._owner(target.value, function), target.value, binding)
        elif isinstance(target, cst.Attribute) and dotted(target.value) == "self" and function.class_name:
            attributes = self.classes[function.class_name].attributes
            attributes.setdefault(target.attr.value, []).append((binding, function))

    def _owner(self, name: str, function: Function) -> Function:
        """The scope that a name belongs to: `global` and `nonlocal` point outwards."""
        if name not in function.globals or function.parent is None:
            return function
        scope, bindings = self.find(name, function.parent)
        return scope if bindings else self.module


def _bind(function: Function, name: str, binding: Binding) -> None:
    function.bindings.setdefault(name, []).append(binding)


def _bound(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, Binding]]:
    """Targets that a node gives values to."""
    match node:
        case cst.For() | cst.CompFor():
            yield node.target, Binding("for", node.iter, node)
        case cst.Assign():
            for target in node.targets:
                yield target.target, Binding("assign", node.value, node)
        case cst.AnnAssign(value=cst.BaseExpression()) | cst.NamedExpr():
            yield node.target, Binding("assign", node.value, node)
        case cst.AugAssign():
            yield node.target, Binding("add", node.value, node)
        case cst.AsName():
            yield node.name, Binding("other", None, node)

"""Call graph over the files of a project: which functions a script reaches, by which calls, on which call paths."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from deviate.analysis.resolve.abstract_values import (
    Argument,
    ClassRef,
    Container,
    Edge,
    External,
    FunctionRef,
    Instance,
    Value,
)
from deviate.analysis.resolve.index import Function, LoopNode
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.resolve import DEFINITIONS, MOST_REFERENTS, Resolver
from deviate.analysis.resolve.tree import argument, children, imported_names, keywords, last_name, positional
from deviate.model.analysis import Place
from deviate.model.metric_vocabulary import word_set

# ---------------------------------------------------------------- edges
# Functions run by the calls, decorators, imports and `with` statements of a function.

RUNNERS = word_set("absl.app.run tensorflow.app.run tensorflow.compat.v1.app.run")
"""Functions that run `main` of the script if called without a function."""

COMMANDS = word_set("fire.Fire jsonargparse.CLI defopt.run tyro.cli")
REGISTERING = word_set("command callback automain main cli on on_event task entrypoint entry_point")
"""Decorators with which a library registers a function to call it: click, typer, sacred, hydra, ignite."""

SPAWNS = {"spawn": 1, "launch": 0, "Process": 0, "Thread": 0, "start_processes": 1, "notebook_launcher": 0}
"""Callables that take a function and its arguments (`args`), with the number of leading arguments they add."""

ASKING = word_set(
    "functools.wraps functools.update_wrapper inspect.signature inspect.getsource inspect.isclass ray.remote "
    "ray.remote() ray.get ray.put ray.wait"
)
"""Callables that take a function and never call it."""

MAPPING = ("builtins.map", "builtins.filter")

TELLING = frozenset({cst.Name, cst.Attribute, cst.Call, cst.List, cst.Tuple, cst.Dict})
"""Types of argument expressions that are searched for functions and objects."""

HIDDEN = ("__init__", "__post_init__", "__repr__", "__str__", "__len__", "__getitem__")


class EdgeFinder:
    """Finds the edges that leave a function."""

    def __init__(self, project: Project, resolver: Resolver) -> None:
        self.project = project
        self.resolver = resolver
        self.edges: dict[Edge, None] = {}

    def callees(self, function: Function) -> list[Function]:
        """The functions that a function runs, in the order of its calls; their edges are recorded."""
        callees: list[Function] = []
        is_imported = function.is_module and function.module is not self.project.entry
        guards = set(function.module.guards) if is_imported else set()  # `if __name__ == "__main__"`, which do not run
        for call in function.calls:
            if not guards or guards.isdisjoint(self.project.nodes.ancestors(call)):
                callees += [self._keep(edge) for edge in self._call_edges(call, function)]
        return callees + [self._keep(edge) for edge in self._other_edges(function)]

    def _keep(self, edge: Edge) -> Function:
        if edge not in self.edges:
            self.edges[edge] = None
            self.resolver.edges.setdefault(edge.callee, []).append(edge)
        return edge.callee

    def _other_edges(self, function: Function) -> Iterator[Edge]:
        for context in function.contexts:
            yield from self._context_edges(context, function)
        for inner in function.module.functions:
            if inner.parent is function:
                yield from self._decorator_edges(inner.node, function)
        for cls in function.module.classes.values():
            if cls.function is function:
                yield from self._decorator_edges(cls.node, function)
        for statement in function.imports:
            yield from self._import_edges(statement, function)

    def settle(self) -> None:
        """Drop callback edges to wrappers that only return the function, if its calls are known."""
        for callee, edges in self.resolver.edges.items():
            if any(not edge.is_handed and edge.caller is not callee for edge in edges):
                telling = [edge for edge in edges if not self._is_wrapper(edge)]
                for edge in set(edges) - set(telling):
                    del self.edges[edge]
                self.resolver.edges[callee] = telling

    def _is_wrapper(self, edge: Edge) -> bool:
        """Whether a function is passed to a decorator, or to a wrapper that returns a replacement."""
        if not edge.is_handed:
            return False
        if not isinstance(edge.node, cst.Call):
            return True
        is_started = last_name(edge.node.func) in SPAWNS
        given_back = self.resolver.functions(edge.node, edge.caller)
        return not is_started and any(callee.function is edge.callee for callee in given_back)

    # ------------------------------------------------------------ calls

    def _call_edges(self, call: cst.Call, function: Function) -> Iterator[Edge]:
        referents = self.resolver.resolve(call.func, function)
        arguments: tuple[Argument, ...] = tuple((value, function) for value in positional(call))
        names = [referent.name for referent in referents if type(referent) is External]
        by_name = tuple((key, (value, function)) for key, value in keywords(call).items())
        is_inside = False
        for referent in referents if len(names) < len(referents) else ():
            if type(referent) is External:
                continue
            if type(referent) is ClassRef:
                self.resolver.instantiated.setdefault(referent.cls)
            for callee in self.resolver.callees(referent):
                is_inside = True
                passed, named = (*callee.arguments, *arguments), (*callee.by_name, *by_name)
                yield Edge(call, function, callee.function, "call", passed, named, int(callee.receiver is not None))
            is_inside = is_inside or (type(referent) is ClassRef and not self.resolver.order(referent.cls)[1])
        if not is_inside:
            yield from self._handed_edges(call, function, names)

    def _handed_edges(self, call: cst.Call, function: Function, names: list[str]) -> Iterator[Edge]:
        """Functions and objects of the project passed to a call of something else."""
        spawned = SPAWNS.get(last_name(call.func))
        for name in names:
            if name in RUNNERS and not call.args:
                for referent in self.resolver.in_module(function.module, "main"):
                    if isinstance(referent, FunctionRef):
                        yield Edge(call, function, referent.function, "handed")
        arguments: tuple[Argument, ...] = ()
        if spawned is not None:
            tupled = argument(call, 1, "args")
            if isinstance(tupled, cst.Tuple | cst.List):
                arguments = tuple((item.value, function) for item in tupled.elements)
        if names and all(name in ASKING or (name.startswith("builtins.") and name not in MAPPING) for name in names):
            return
        is_returned = any(call is returned for returned in function.returns)
        for each in call.args:
            values = self._referents_in(each.value, function) if type(each.value) in TELLING else ()
            is_command = not COMMANDS.isdisjoint(names)
            run = (one for value in dict.fromkeys(values) for one in self._run_by_others(value, is_command=is_command))
            for callee in run:
                if is_returned and self.resolver.is_decorated(callee.function, function):
                    continue  # the decorator gives it back, in what a library makes of it
                skipped = int(callee.receiver is not None) + (spawned or 0)
                passed = (*callee.arguments, *arguments)
                yield Edge(call, function, callee.function, "handed", passed, callee.by_name, skipped)

    def _referents_in(self, value: cst.BaseExpression, function: Function) -> Iterator[Value]:
        """The values of an argument, those of the items of a container; none where too many could be meant."""
        referents = self.resolver.resolve(value, function)
        if len(referents) > MOST_REFERENTS:
            return
        outside = [referent for referent in referents if type(referent) is not Container]
        if len(outside) < len(referents):
            for item in self.resolver.items(value, function):
                yield from self.resolver.resolve(*item)
        yield from outside

    def _run_by_others(self, referent: Value, *, is_command: bool) -> Iterator[FunctionRef]:
        """The functions of a value that a library may call."""
        if isinstance(referent, FunctionRef):
            yield referent
        elif isinstance(referent, Instance | ClassRef):
            classes, outside = self.resolver.order(referent.cls)
            if not (is_command or {*outside} - {"builtins.object"}):
                return
            for cls in classes:
                for name, method in cls.methods.items():
                    if name not in HIDDEN:
                        yield FunctionRef(method, referent.cls)

    # ------------------------------------------------------------ other edges

    def _context_edges(self, context: cst.BaseExpression, function: Function) -> Iterator[Edge]:
        for cls in self.resolver.classes(context, function):
            for name in ("__enter__", "__exit__"):
                method = self.resolver.method(cls, name)
                if method is not None:
                    yield Edge(context, function, method, "call", skipped=1)

    def _decorator_edges(self, node: cst.CSTNode, function: Function) -> Iterator[Edge]:
        if not isinstance(node, cst.FunctionDef | cst.ClassDef):
            return
        for decorator in node.decorators:
            expression = decorator.decorator
            for callee in self.resolver.functions(expression, function):
                skipped = int(callee.receiver is not None)
                yield Edge(decorator, function, callee.function, "call", ((node, function),), skipped=skipped)
            registering = expression.func if isinstance(expression, cst.Call) else expression
            is_method = isinstance(registering, cst.Attribute) and last_name(registering) in REGISTERING
            if is_method and isinstance(node, cst.FunctionDef):
                yield Edge(decorator, function, self.project.nodes.functions[node], "handed")

    def _import_edges(self, statement: cst.Import | cst.ImportFrom, function: Function) -> Iterator[Edge]:
        """Edges to the top levels of the files that an import runs.

        A file is read if something in it is used, or if the imported name is never used: then the import matters for
        its side effects.
        """
        for name, bound in imported_names(statement):
            place = self.project.resolve(name, function.module)
            if place is None:
                continue
            is_unused = bound is not None and bound not in function.module.used and not function.module.is_package
            is_package = bound is None and place[0].endswith("__init__.py")
            if is_unused or is_package:
                self.project.load(place[0])
            parts = place[0].split("/")
            packages = ["/".join((*parts[:depth], "__init__.py")) for depth in range(1, len(parts))]
            for file in (*packages, place[0]):
                module = self.project.modules.get(file)
                if module is not None and module is not function.module:
                    yield Edge(statement, function, module.top, "import")


# ---------------------------------------------------------------- graph

MOST_CALL_PATHS = 32
LONGEST_CALL_PATH = 24
MOST_ROUNDS = 6
MOST_TRIED = 4000
"""Limit of calls followed for the call paths to one function: mutually recursive functions have too many."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on a call path.

    Attributes:
        node: the call in this frame, or the target node in the last frame. edge: of the call; None in the last frame.
    """

    function: Function
    node: cst.CSTNode
    edge: Edge | None = None


CallPath = tuple[Frame, ...]


class CallGraph:
    """Call graph of the functions that the script reaches.

    Attributes:
        reached: functions that may run, the top level of the script first.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.nodes = project.nodes
        self.resolver = Resolver(project)
        self.reached: dict[Function, None] = {}
        self._out: dict[cst.CSTNode, list[Edge]] = {}
        self._leaving: frozenset[type] = frozenset()  # types of the nodes in `_out`
        self._tried = 0
        self._known_call_paths: dict[Function, list[CallPath]] = {}
        self._known_callees: dict[Function, list[Function]] = {}
        self._build()

    # ------------------------------------------------------------ questions

    @property
    def calls(self) -> list[tuple[cst.Call, Function]]:
        """Calls in all reached code, and in functions of the script that are never called."""
        return [(call, function) for function in self.functions for call in function.calls]

    @property
    def functions(self) -> list[Function]:
        """The reached functions, and the others of the script."""
        return list(dict.fromkeys([*self.reached, *self.project.entry.scopes]))

    @property
    def loops(self) -> list[tuple[LoopNode, Function]]:
        """The loops in reached code."""
        modules = {function.module: None for function in self.reached}
        return [(loop, function) for module in modules for loop, function in module.loops if function in self.reached]

    @cached_property
    def imported_packages(self) -> frozenset[str]:
        """Top-level packages imported by any file that was read."""
        targets = (
            name
            for module in self.project.modules.values()
            for scope in module.scopes
            for statement in scope.imports
            for name, _ in imported_names(statement)
        )
        return frozenset(target.split(".")[0] for target in targets)

    def edges_into(self, function: Function) -> list[Edge]:
        return self.resolver.edges.get(function, [])

    def callees(self, node: cst.CSTNode) -> Iterator[Function]:
        """Functions of the project that run when a node runs, directly or indirectly; each once."""
        seen: set[Function] = set()
        waiting = list(self._callees_in(node))
        while waiting:
            callee = waiting.pop()
            if callee not in seen:
                seen.add(callee)
                yield callee
                if callee not in self._known_callees:
                    self._known_callees[callee] = list(self._callees_in(callee.node))
                waiting += self._known_callees[callee]

    def call_paths(self, node: cst.CSTNode) -> list[CallPath]:
        """The call paths from the top level of the script to a node, in source order; none when it is never reached."""
        function = self.nodes.function_of(node)
        return [(*call_path, Frame(function, node)) for call_path in self._calls_leading_to(function)]

    def place(self, frame: Frame) -> Place:
        """The line that a traceback would show for the frame."""
        node = frame.node
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.attr
        return self.nodes.place(node)

    def release(self) -> None:
        """Break the reference cycles of the graph, in which the garbage collector is slow.

        The graph cannot be used any more.
        """
        scopes = [scope for module in self.project.modules.values() for scope in module.scopes]
        for part in (*scopes, *self.project.modules.values(), self.nodes, self.resolver, self.project, self):
            vars(part).clear()

    # ------------------------------------------------------------ inside

    def _calls_leading_to(self, function: Function) -> list[CallPath]:
        """The call paths to a function, as lists of calls."""
        if function not in self._known_call_paths:
            call_paths: list[CallPath] = []
            if function in self.reached:
                self._tried = 0
                self._extend(function, (), frozenset({function}), call_paths)
            self._known_call_paths[function] = call_paths
        return self._known_call_paths[function]

    def _extend(
        self, function: Function, tail: CallPath, passed: frozenset[Function], call_paths: list[CallPath]
    ) -> None:
        if function is self.project.entry.top:
            call_paths.append(tail)
            return
        for edge in self.edges_into(function):
            self._tried += 1
            if len(call_paths) >= MOST_CALL_PATHS or len(tail) > LONGEST_CALL_PATH or self._tried > MOST_TRIED:
                return
            if edge.caller not in passed:
                frame = Frame(edge.caller, edge.node, edge)
                self._extend(edge.caller, (frame, *tail), passed | {edge.caller}, call_paths)

    def _callees_in(self, node: cst.CSTNode) -> Iterator[Function]:
        """The callees in a node, except in functions and classes defined there; the last call first."""
        waiting = [node]
        while waiting:
            part = waiting.pop()
            edges = self._out.get(part) if type(part) in self._leaving else None  # hashing a node is slow
            for edge in edges or ():
                yield edge.callee
            if part is node or type(part) not in DEFINITIONS:
                waiting += children(part)

    def _build(self) -> None:
        """Follow calls until nothing new is found: callees may depend on callbacks found later."""
        finder = EdgeFinder(self.project, self.resolver)
        before = None
        for _ in range(MOST_ROUNDS):
            self.resolver.forget()
            self._round(finder)
            after = (len(finder.edges), len(self.project.modules), len(self.resolver.instantiated), len(self.reached))
            if after == before:
                break
            before = after
        finder.settle()
        for edge in finder.edges:
            self._out.setdefault(edge.node, []).append(edge)
        self._leaving = frozenset(map(type, self._out))

    def _round(self, finder: EdgeFinder) -> None:
        waiting = [*reversed(self.reached), self.project.entry.top]
        passed: set[Function] = set()
        while waiting:
            function = waiting.pop()
            if function in passed:
                continue
            passed.add(function)
            self.reached[function] = None
            waiting += finder.callees(function)

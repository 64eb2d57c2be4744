"""Index of the reached code for hazard matchers: calls by the full name of the callee, assignments, settings."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import libcst as cst

from deviate.analysis.metrics.collect import IGNORE
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Class, Function
from deviate.analysis.resolve.tree import argument, constant_key, constant_text, dotted_name, identifiers, last_name
from deviate.model.metric_vocabulary import split_identifier, word_set

DEEPEST = 4
"""Assignments and calls followed for one value."""

MOST_VALUES = 32

MODELS = ("torch.nn.", "torch.autograd.", "lightning.", "pytorch_lightning.", "torch_geometric.", "tensorflow.keras.")
DEVICES = word_set("cuda gpu gpus")
"""Words of conditions that are true wherever nondeterministic kernels matter."""

OWN_NAMES = ("__getitem__", "__iter__", "__next__", "__len__", "__call__", "forward", "call")
"""Methods that Python calls implicitly."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call whose callee has a known name.

    Attributes:
        name: full name of the callee; for a method of an unknown object a dot and the method's name.
    """

    node: cst.Call
    function: Function
    name: str

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    def argument(self, place: int | None, *names: str) -> cst.BaseExpression | None:
        """An argument by position (None: by name only) or by any of its names."""
        return argument(self.node, place, *names)


class Survey:
    """Queries of the matchers.

    Attributes:
        functions: those that the script reaches, the others of its own file, and the methods that Python calls
            implicitly on objects that the script creates, such as `__getitem__` of a data set.
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.resolver = graph.resolver
        self.functions = _functions(graph)
        self._calls: dict[str, list[Called]] = {}
        self._methods: dict[str, list[Called]] = {}
        for function in self.functions:
            for call in function.calls:
                self._note(call, function)

    def _note(self, call: cst.Call, function: Function) -> None:
        first = None
        for name in self.resolver.names(call.func, function):
            known_call = Called(call, function, name)
            first = first or known_call
            self._calls.setdefault(name, []).append(known_call)
        if type(call.func) is cst.Attribute:
            last = call.func.attr.value
            self._methods.setdefault(last, []).append(first or Called(call, function, f".{last}"))

    # ------------------------------------------------------------ what is there

    @property
    def names(self) -> Iterable[str]:
        """Full names of all library functions that are called."""
        return self._calls

    def calls(self, names: Iterable[str] | str) -> Iterator[Called]:
        """Calls of library functions by their full names; a call that can be several of them comes once.

        Args:
            names: as they are, or a regular expression.
        """
        seen: set[cst.Call] = set()
        if isinstance(names, str):
            names = filter(re.compile(names).fullmatch, self._calls)
        for name in sorted(names):  # the iteration order of a set of names differs between processes
            for call in self._calls.get(name, ()):
                if call.node not in seen:
                    seen.add(call.node)
                    yield call

    def in_order(self, names: Iterable[str]) -> list[Called]:
        """Calls of library functions by their full names, in source order of each file."""
        places = ((self.nodes.place(call.node), call) for call in self.calls(names))
        return [call for _, call in sorted(places, key=lambda pair: (pair[0].file, pair[0].line))]

    def methods(self, names: Iterable[str], libraries: tuple[str, ...] = ()) -> Iterator[Called]:
        """Calls of methods of these names, on objects of these libraries or of unknown type."""
        for name in sorted(names):
            for call in self._methods.get(name, ()):
                is_ours = bool(self.resolver.functions(call.node.func, call.function))
                if call.name.startswith((".", *libraries)) and not is_ours:
                    yield call

    def method_calls(self, name: str) -> list[Called]:
        """Calls of methods of this name on any object."""
        return self._methods.get(name, [])

    @cached_property
    def attribute_assignments(self) -> dict[str, list[tuple[cst.Attribute, cst.BaseExpression, Function]]]:
        """Values assigned to attributes, by the last name of the attribute."""
        assignments: dict[str, list[tuple[cst.Attribute, cst.BaseExpression, Function]]] = {}
        for function in self.functions:
            for target, value in function.assigned:
                assignments.setdefault(target.attr.value, []).append((target, value, function))
        return assignments

    def assignments_to(self, name: str) -> Iterator[tuple[cst.Attribute, cst.BaseExpression, Function]]:
        """Assignments to an attribute of a library, by its full name."""
        for target, value, function in self.attribute_assignments.get(name.rpartition(".")[2], ()):
            if name in self.resolver.names(target, function):
                yield target, value, function

    @cached_property
    def environment(self) -> dict[str, list[tuple[cst.Subscript, str]]]:
        """Texts assigned to items of `os.environ`, by key; empty where the source does not show the text."""
        assignments: dict[str, list[tuple[cst.Subscript, str]]] = {}
        for function in self.functions:
            for target, value in function.stored:
                key = constant_key(target)
                if key is not None and "os.environ" in self.resolver.names(target.value, function):
                    assignments.setdefault(key, []).append((target, constant_text(value) or ""))
        return assignments

    def targets(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """What the value of an expression is assigned to."""
        parent = self.nodes.parents.get(node)
        return [item.target for item in parent.targets] if isinstance(parent, cst.Assign) else []

    # ------------------------------------------------------------ values

    def values(self, node: cst.BaseExpression, function: Function) -> Iterator[tuple[cst.BaseExpression, Function]]:
        """An expression and the values it may have: those assigned to its name or passed to its parameter."""
        yield from islice(self._values(node, function, set(), DEEPEST), MOST_VALUES)

    def _values(
        self, node: cst.BaseExpression, function: Function, seen: set[cst.CSTNode], depth: int
    ) -> Iterator[tuple[cst.BaseExpression, Function]]:
        if node in seen or depth < 0:
            return
        seen.add(node)
        yield node, function
        for value, where in self._behind(node, function):
            yield from self._values(value, where, seen, depth - 1)

    def _behind(self, node: cst.BaseExpression, function: Function) -> Iterator[tuple[cst.BaseExpression, Function]]:
        if isinstance(node, cst.IfExp):
            yield from ((node.body, function), (node.orelse, function))
        elif isinstance(node, cst.BooleanOperation):
            yield from ((node.left, function), (node.right, function))
        elif isinstance(node, cst.Attribute):
            name = dotted_name(node)
            for target, value, where in self.attribute_assignments.get(node.attr.value, ()):
                if dotted_name(target) == name:
                    yield value, where
        elif isinstance(node, cst.Name):
            yield from self._bound_values(node.value, function)

    def _bound_values(self, name: str, function: Function) -> Iterator[tuple[cst.BaseExpression, Function]]:
        scope, bindings = self.resolver.find(name, function)
        for binding in bindings:
            for edge in self.graph.edges_into(scope) if binding.how == "parameter" else ():
                argument = edge.argument(name)
                if argument is not None and isinstance(argument[0], cst.BaseExpression):
                    yield argument[0], argument[1]
            is_plain = binding.how in ("assign", "parameter") and not binding.position
            if is_plain and isinstance(binding.value, cst.BaseExpression):
                yield binding.value, scope if binding.how == "assign" else scope.parent or scope

    # ------------------------------------------------------------ where a node stands

    def is_listed(self, node: cst.CSTNode) -> bool:
        """Whether a place is reached, and no comment `# deviate: ignore` stands there.

        What an imported file does only when it is the script is not reached.
        """
        module = self.nodes.function_of(node).module
        is_guarded = module is not self.graph.project.entry and any(
            parent in module.guards for parent in self.nodes.ancestors(node)
        )
        line = self.nodes.source(node).lines[self.nodes.line(node) - 1]
        return not is_guarded and not self.nodes.is_dead(node) and IGNORE.search(line) is None

    def is_conditional(self, node: cst.CSTNode) -> bool:
        """Whether a node runs only under a condition, its own or that of all calls of its function."""
        function = self.nodes.function_of(node)
        edges = self.graph.edges_into(function)
        return self._is_in_branch(node) or (bool(edges) and all(self._is_in_branch(edge.node) for edge in edges))

    def _is_in_branch(self, node: cst.CSTNode) -> bool:
        for parent, _ in self.nodes.around(node):
            if isinstance(parent, cst.If) and parent not in self.nodes.function_of(node).module.guards:
                return DEVICES.isdisjoint(split_identifier(" ".join(identifiers(parent.test))))
        return False

    def is_model(self, cls: Class | None) -> bool:
        """Whether a class of the project is a layer or model of a framework."""
        return cls is not None and any(base.startswith(MODELS) for base in self.resolver.order(cls)[1])

    def is_in_model(self, function: Function) -> bool:
        """Whether a function or one of its callers belongs to a model, or makes a training step."""
        callers = (edge.caller for edge in self.graph.edges_into(function))
        return any(
            self.is_model(one.owner) or any(last_name(call.func) == "backward" for call in one.calls)
            for one in (function, *callers)
        )

    def is_without_gradient(self, node: cst.CSTNode, function: Function) -> bool:
        """Whether a node is inside `torch.no_grad` in its own function."""
        if any(mark.endswith(("no_grad", "inference_mode")) for mark in function.marks):
            return True
        return any(
            dotted_name(item.item).endswith(("no_grad()", "inference_mode()"))
            for parent, _ in self.nodes.around(node)
            if isinstance(parent, cst.With)
            for item in parent.items
        )


def _functions(graph: CallGraph) -> list[Function]:
    functions = dict.fromkeys(graph.functions)
    waiting = [
        base.methods[name]
        for cls in graph.resolver.instantiated
        for base in graph.resolver.order(cls)[0]
        for name in OWN_NAMES
        if name in base.methods
    ]
    while waiting:
        function = waiting.pop()
        if function in functions:
            continue
        functions[function] = None
        for call in function.calls:
            waiting += [callee.function for callee in graph.resolver.functions(call.func, function)]
    return list(functions)

"""Reports: the calls and assignments with which a script reports values, and the arguments that carry them."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.metrics.texts import ProjectTexts
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import PUTTING, Function
from deviate.analysis.resolve.project import FRAMEWORKS
from deviate.analysis.resolve.tree import constant_text, dotted_name, index_of, keywords, last_name, positional, walk
from deviate.model.metric_vocabulary import word_set
from deviate.registry import SINKS, load_plugins
from deviate.sinks import SINKS as REGISTERED
from deviate.sinks import Carried, Message, Scalar, Sink, Template
from deviate.sinks import find_sink as find_known_sink

SHOWING = word_set("suffix comment desc postfix message msg text title status description caption")
"""Attributes of progress bars and widgets that show what is assigned to them."""

ASSIGNED = "[]="
"""Suffix of a callee name for item assignments: `run.summary["acc"] = acc` reports as a call does."""

GRAPH_SUMMARY = "graph-summary"
"""The sink whose values are known only after the graph has run: they are recorded by their tags."""

SPEAKING = word_set("info log write print report message show display tell say notify announce note")
"""Methods that, of whatever object, take a text to a reader."""
KEEPING = word_set("append setdefault update extend add")
UNKNOWN_LOGGER = "report_at_unknown"
"""End of the key of the sink for a logger whose type is unknown."""
MOST_HANDED_ON = 3
GRAPH_WRITERS = word_set("add_summary merge_all merge_all_summaries FileWriter")


@dataclass(frozen=True, slots=True)
class ReportingCall:
    """A call or assignment that reports.

    Attributes:
        node: the call, or what is assigned.
        key: of the sink.
    """

    node: cst.BaseExpression
    function: Function
    sink: str
    key: str
    carried: list[Carried]


def find_sink_or_load_plugins(qualified: str | None, spelling: str) -> Sink | None:
    """The sink of a callee, by name or spelling: a built-in sink, otherwise one from an installed plug-in."""
    sink = find_known_sink(qualified, spelling)
    return find_known_sink(qualified, spelling) if sink is None and load_plugins(SINKS) else sink


def sink_names(module: str) -> tuple[str, ...]:
    """Names of the sinks that a module has registered, once it is imported."""
    return tuple(sorted({sink.name for sink in REGISTERED.values() if sink.carry.__module__ == module}))


class Reports:
    """Finds the reports in functions."""

    def __init__(self, graph: CallGraph, texts: ProjectTexts, functions: Sequence[Function]) -> None:
        self.graph = graph
        self.functions = functions
        self.resolver = graph.resolver
        self.texts = texts
        self.is_graph_written = any(last_name(call.func) in GRAPH_WRITERS for call, _ in graph.calls)

    def __iter__(self) -> Iterator[ReportingCall]:
        calls = [(call, function) for function in self.functions for call in function.calls]
        for call, function in calls:
            sink = self._sink(call, function)
            if sink is not None and sink.key.endswith(UNKNOWN_LOGGER) and self._is_named(call, function):
                yield ReportingCall(call, function, "logger", "", [Scalar(*positional(call)[:2])])
            elif sink is not None:
                carried = sink.carried(self._positional(call, function), _by_name(call))
                yield ReportingCall(call, function, self._name(sink), sink.key, carried)
            elif self._speaks(call, function):
                yield ReportingCall(call, function, "logging", "", [Template(*_first_and_rest(call))])
        for function in self.functions:
            for target, value in function.assigned:
                if target.attr.value in SHOWING and self._shows(target, value, function):
                    yield ReportingCall(value, function, "progress", "", [Message(value)])
            for place, value in function.stored:
                sink = self._sink_of_assignment(place, function)
                if sink is not None:
                    yield ReportingCall(
                        value, function, sink.name, sink.key, sink.carried([index_of(place), value], {})
                    )

    def _is_named(self, call: cst.Call, function: Function) -> bool:
        """Whether a logger of unknown type takes a name and a value: `logger.log("loss", loss, step)`; no level."""
        values = positional(call)
        name = constant_text(values[0]) if len(values) > 1 and not any(value.star for value in call.args) else None
        return name is not None and not name.isupper() and not self.texts.is_text(values[1], function)

    def _name(self, sink: Sink) -> str:
        """The sink's name.

        Scalars of TensorFlow 1 are graph nodes whose values are known only after the graph has run.
        """
        is_node = sink.key == "tensorboard.scalar" and self.is_graph_written
        return GRAPH_SUMMARY if is_node else sink.name

    # ------------------------------------------------------------ sinks

    def _sink(self, call: cst.Call, function: Function) -> Sink | None:
        names = self.resolver.names(call.func, function)
        sinks = (find_sink_or_load_plugins(name, "") for name in names)
        exact = next((sink for sink in sinks if sink is not None), None)
        if exact is not None or (names and not _is_object(names) and not _is_foreign(names)):
            return exact
        inside = self.resolver.functions(call.func, function)
        spelled = find_sink_or_load_plugins(None, dotted_name(call.func))
        if spelled is None or not inside:
            return spelled
        is_keeping = any(self._keeps(callee.function, MOST_HANDED_ON) for callee in inside)
        return spelled if is_keeping else None  # a function of the project: its use of the arguments is analysed inside

    def _speaks(self, call: cst.Call, function: Function) -> bool:
        """Whether a method of an object of which nothing is known is called as loggers are, with a number in a text.

        Where the call graph leads into a function of the project, its use of the text is analysed inside.
        """
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value.lower() not in SPEAKING:
            return False
        values = positional(call)
        is_plain = bool(values) and not any(argument.star for argument in call.args)
        if not is_plain or not self.texts.shows_number(values[0], function):
            return False
        if self.resolver.names(call.func, function):
            return False
        inside = [callee.function for callee in self.resolver.functions(call.func, function)]
        return not any(edge.node is call for callee in inside for edge in self.graph.edges_into(callee))

    def _keeps(self, function: Function, depth: int) -> bool:
        """Whether a function puts its arguments, or hands them to one that does, into an object that outlives it."""
        parameters = {
            name for name, bound in function.bindings.items() if bound[0].how in ("parameter", "stars", "for")
        }
        parameters.discard(function.receiver or "")

        def is_given(value: cst.CSTNode) -> bool:
            return any(isinstance(part, cst.Name) and part.value in parameters for part in walk(value))

        handing = [call for call in function.calls if any(is_given(argument.value) for argument in call.args)]
        is_stored = any(_outlives(place, function) and is_given(value) for place, value in function.stored)
        putting = [call for call in handing if isinstance(call.func, cst.Attribute) and last_name(call.func) in KEEPING]
        if is_stored or any(_outlives(call.func, function) for call in putting):
            return True
        inner = (one.function for call in handing for one in self.resolver.functions(call.func, function))
        return depth > 0 and any(one is not function and self._keeps(one, depth - 1) for one in inner)

    def _sink_of_assignment(self, place: cst.Subscript, function: Function) -> Sink | None:
        names = self.resolver.names(place.value, function)
        sinks = (find_sink_or_load_plugins(name + ASSIGNED, "") for name in names)
        exact = next((sink for sink in sinks if sink is not None), None)
        return exact or (
            find_sink_or_load_plugins(None, dotted_name(place.value) + ASSIGNED)
            if not names or _is_object(names)
            else None
        )

    def _shows(self, target: cst.Attribute, value: cst.BaseExpression, function: Function) -> bool:
        scope = self.resolver.find(dotted_name(target.value), function)[0]
        return scope.receiver != dotted_name(target.value) and self.texts.is_text(value, function)

    # ------------------------------------------------------------ arguments

    def _positional(self, call: cst.Call, function: Function) -> list[object]:
        """Positional arguments; unpacked sequences are expanded if their items are known in this function."""
        arguments: list[object] = []
        for argument in call.args:
            if argument.star == "*":
                unpacked = self.texts.displays.sequence_items(argument.value, function)
                if unpacked and all(where is function for _, where in unpacked):
                    arguments += [value for value, _ in unpacked]
            elif argument.keyword is None and not argument.star:
                arguments.append(argument.value)
        return arguments


def _first_and_rest(call: cst.Call) -> tuple[cst.BaseExpression, list[cst.BaseExpression]]:
    first, *rest = positional(call)
    return first, rest


def _by_name(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """Keyword arguments; an unpacked mapping with unknown items has a key that begins with `**`."""
    by_name = keywords(call)
    for number, argument in enumerate(call.args):
        if argument.star == "**":
            by_name[f"**{number}"] = argument.value
    return by_name


def _is_object(names: list[str]) -> bool:
    """Whether all names denote results of library calls, whose methods are known by spelling only."""
    return any("()" in name for name in names)


def _is_foreign(names: list[str]) -> bool:
    """Whether all names are of packages of which nothing is known, as of another project: `elsewhere.LOGGER.info`."""
    roots = {name.partition(".")[0] for name in names}
    return roots.isdisjoint(FRAMEWORKS | sys.stdlib_module_names | {"builtins"})


def _outlives(place: cst.BaseExpression, function: Function) -> bool:
    """Whether an object belongs to the instance of a method or to a scope outside the function."""
    root = place
    while isinstance(root, cst.Attribute | cst.Subscript):
        root = root.value
    if not isinstance(root, cst.Name):
        return False
    root_bindings = [binding for binding in function.bindings.get(root.value, ()) if binding.how not in PUTTING]
    return root.value == function.receiver or not root_bindings or root.value in function.globals

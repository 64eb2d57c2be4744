"""Candidates: every value that a sink reports, with the text around it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from deviate.analysis.metrics.flows import arguments_of
from deviate.analysis.metrics.judge import Candidate, Decision, Judge, Objection
from deviate.analysis.metrics.labels import is_key, label_of
from deviate.analysis.metrics.messages import WRITTEN, MessageParser, as_name
from deviate.analysis.metrics.reports import GRAPH_SUMMARY, ReportingCall, Reports
from deviate.analysis.metrics.texts import holds_values
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import without_unit
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.message_items import FormatStyle, MessageItem, ReportedValue, Scene
from deviate.analysis.resolve.tree import constant_key, walk
from deviate.model.analysis import RejectionReason
from deviate.model.metric_vocabulary import split_identifier
from deviate.sinks import Carried, FormatTemplate, Message, Record, Row, Scalar, Table, Template

IGNORE = re.compile(r"#\s*deviate:\s*ignore\b")
DEEPEST = 5
MOST_SCENES = 40
MOST_READINGS = 400
"""How often one report is parsed at most, over all calls of its function and iterations of the loops around it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and what was decided about it."""

    candidate: Candidate
    decision: Decision


class Collector:
    """Collects and judges every reported value.

    Args:
        functions: whose reports are collected; by default those that the script reaches, and all of the script.
    """

    def __init__(self, graph: CallGraph, judge: Judge, functions: Sequence[Function] | None = None) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.judge = judge
        self.parser = MessageParser(graph, judge.origins)
        self.reports = Reports(self.graph, self.parser.texts, graph.functions if functions is None else functions)
        self.readings_left = MOST_READINGS
        self.judgements: dict[tuple[cst.CSTNode, object], Judged] = {}
        self._judged: set[tuple[str, tuple[MessageItem, ...]]] = set()

    def collect(self) -> list[Judged]:
        """Candidates in the order of files and lines; a value that two sinks share counts once."""
        for report in self.reports:
            for items in self._messages(report, {}, DEEPEST):
                self._judge(items, report)
        order = {file: number for number, file in enumerate(self.graph.project.files())}
        return sorted(self.judgements.values(), key=lambda judged: self._position(judged, order))

    # ------------------------------------------------------------ messages

    def _messages(self, report: ReportingCall, scene: Scene, depth: int) -> Iterator[list[MessageItem]]:
        """The messages of one report; one per call if the function around it reports its arguments."""
        if depth == DEEPEST:
            self.readings_left = MOST_READINGS
        self.readings_left -= 1
        if self.readings_left < 0:  # in nested calls, the messages found so far must suffice
            return
        self.parser.scene = scene
        self.parser.open.clear()
        messages = list(self._read_messages(report))
        opened = dict(self.parser.open)
        scenes = self._scenes(opened, messages, scene) if opened and depth else []
        if not scenes:
            yield from messages
        for inner in scenes[:MOST_SCENES]:
            yield from self._messages(report, inner, depth - 1)

    def _read_messages(self, report: ReportingCall) -> Iterator[list[MessageItem]]:
        """The messages of the arguments of one report; string arguments form one line together."""
        line: list[MessageItem] = []
        for number, part in enumerate(report.carried):
            if isinstance(part, Message | Template | FormatTemplate):
                line += [*self._parse_text(part, report.function), " "]
                continue
            messages = list(self._parse_values(part, report))
            is_open = any(map(_has_open_name, messages)) and report.key and report.sink != GRAPH_SUMMARY
            if is_open and isinstance(report.node, cst.Call):
                messages = [_read_at_call(items, number, report.node.func, report) for items in messages]
            yield from messages
        if line:
            yield line

    def _parse_text(self, part: Message | Template | FormatTemplate, function: Function) -> list[MessageItem]:
        match part:
            case Message():
                return self.parser.take(part.value, function)
            case Template():
                return self.parser.template(part.template, list(part.arguments), function)
            case FormatTemplate():
                arguments = list(part.arguments), dict(part.named)
                return self.parser.format_template(part.template, *arguments, function)

    def _parse_values(self, part: Carried, report: ReportingCall) -> Iterator[list[MessageItem]]:
        function, parser = report.function, self.parser
        match part:
            case Scalar():
                name_items = self._parse_name(part.name, part.prefix, function)
                values = parser.scalar(part.value, function)
                yield [*name_items, *values]
            case Record():
                prefix = self._parse_name(None, part.prefix, function)
                for items in parser.record(part.mapping, function):
                    yield [*prefix, *items]
            case Row():
                yield from parser.row(part.values, function)
            case Table():
                yield from parser.table(part.rows, function)

    def _parse_name(self, name: object, prefix: object, function: Function) -> list[MessageItem]:
        items: list[MessageItem] = []
        for part, behind in ((prefix, " "), (name, ": ")):
            if isinstance(part, str):
                items += [part, behind]
            elif isinstance(part, cst.BaseExpression):
                parsed = self.parser.take(part, function)
                items += [*as_name(parsed), behind]
        return items

    def _scenes(
        self, opened: dict[tuple[Function, str], None], messages: list[list[MessageItem]], scene: Scene
    ) -> list[Scene]:
        """The values of the open parameters in each call, if the calls and not the function say what is reported.

        They do if a message with values, a list or a dict is passed, or if the function adds no text to the value.
        """
        scope = next(iter(opened))[0]
        mine = [name for function, name in opened if function is scope]
        passed = {scope, *(function for function, _ in scene)}  # a recursive function would never end
        edges = [edge for edge in self.graph.edges_into(scope) if not (edge.is_handed or edge.caller in passed)]
        arguments = [arguments_of(edge) for edge in edges]
        items = [item for message in messages for item in message]
        values = [item for item in items if isinstance(item, ReportedValue)]
        keyed = {name for value in values if value.function is scope for name in _keyed_names(value.node)}
        whole = [name for name in mine if name not in keyed]  # items taken by a constant key are named here
        if any(self._is_handed_built(one.get((scope, name)), 2) for one in arguments for name in whole):
            return [{**scene, **one} for one in arguments]
        names_of = [(value, _names_in(value.node)) for value in values]
        is_value = any(value.function is scope and names & {*mine} for value, names in names_of)
        texts = [item for item in items if isinstance(item, str)]
        if not is_value or any(map(split_identifier, texts)):
            return []
        reported = [name for name in mine if any(name in names for _, names in names_of)]
        is_tagged = any(value.style == FormatStyle.NAME for value in values)
        if not is_tagged and all(_is_same_name(one.get((scope, name)), name) for one in arguments for name in reported):
            return []  # `save(metrics)` calls them what the function calls them
        return [{**scene, **one} for one in arguments]

    def _is_handed_built(self, argument: object, depth: int) -> bool:
        """Whether an argument is built to be reported, also by a call of the function that hands it on."""
        if _is_built(argument, self.parser):
            return True
        if not depth or not isinstance(argument, tuple) or not isinstance(argument[0], cst.Name):
            return False
        name = argument[0].value
        scope, bindings = self.graph.resolver.find(name, argument[1])
        if [binding.how for binding in bindings] != ["parameter"] or name == scope.receiver:
            return False
        edges = [edge for edge in self.graph.edges_into(scope) if not edge.is_handed]
        return any(self._is_handed_built(edge.argument(name), depth - 1) for edge in edges)

    # ------------------------------------------------------------ judgement

    def _judge(self, items: list[MessageItem], report: ReportingCall) -> None:
        sink = report.sink
        if (sink, tuple(items)) in self._judged:  # of another call of the reporting function
            return
        self._judged.add((sink, tuple(items)))
        values = [item for item in items if isinstance(item, ReportedValue)]
        texts = _texts_between(items)
        message = "".join(item if isinstance(item, str) else "{}" for item in items)
        label = label_of(values, self.judge, self.graph)
        judged: list[Judged] = []
        for number, value in enumerate(values):
            earlier = []
            for back in range(number - 1, -1, -1):
                if judged[back].decision.role is not None:
                    break
                earlier.append(without_unit(texts[back]) if back else texts[back])
            line = self.nodes.statement_line(value.node)
            is_tagged = number > 0 and all(other.style == FormatStyle.NAME for other in values[:number])
            label_name = label.spelled if label is not None and self._may_label(label, value) else None
            candidate = Candidate(
                value,
                texts[number],
                texts[number + 1],
                line,
                sink,
                message,
                tuple(earlier),
                tuple(texts[number::-1]),
                label_name,
                is_first=number == 0,
                stem="".join(texts[:number]) if is_tagged else "",
                is_tagged=is_tagged,
            )
            if self._is_ignored(line, value):
                decision = Decision(None, objection=Objection(RejectionReason.IGNORED))
            elif value is label and is_key(value.spelled, value.function, self.graph):
                decision = Decision(None, objection=Objection(RejectionReason.KEY))
            else:
                decision = self._decide(candidate)
            judged.append(Judged(candidate, decision))
            key = (value.node, value.fields or (value.spelled,))
            earlier_judgement = self.judgements.get(key)
            if earlier_judgement is None or (earlier_judgement.decision.role is None and decision.role is not None):
                self.judgements[key] = judged[-1]

    def _may_label(self, label: ReportedValue, value: ReportedValue) -> bool:
        """Whether a variable can be recorded beside another value: it can be read where that is tapped.

        It cannot where a comprehension around it ends before.
        """
        if label.spelled == value.spelled or value.form not in ("value", "shown"):
            return False
        if label.function is not value.function:
            return False
        inner = {node for node in self.nodes.ancestors(label.node) if isinstance(node, cst.BaseComp | cst.Lambda)}
        return inner <= set(self.nodes.ancestors(value.node))

    def _decide(self, candidate: Candidate) -> Decision:
        """The judgement; a value that nothing marks is taken for a measurement where a label stands beside it."""
        decision, value = self.judge.decide(candidate), candidate.value
        is_unmarked = decision.objection is not None and decision.objection.cause is RejectionReason.UNMARKED
        if candidate.label is not None and is_unmarked and value.style != WRITTEN:
            return Decision("other", None, (f"a value for each {candidate.label}",))
        return decision

    def _is_ignored(self, line: int, value: ReportedValue) -> bool:
        source = value.function.source
        last = source.end(value.node).line
        return any(IGNORE.search(text) for text in source.lines[line - 1 : last])

    def _position(self, judged: Judged, order: dict[str, int]) -> tuple[int, int, int, int]:
        value = judged.candidate.value
        where = value.function.source.start(value.node)
        return order[value.function.module.file], judged.candidate.line, where.line, where.column


def _has_open_name(items: list[MessageItem]) -> bool:
    """Whether only a run knows the name under which a tracker is given a value."""
    return any(isinstance(item, ReportedValue) and item.style == FormatStyle.NAME for item in items)


def _read_at_call(
    items: list[MessageItem], place: int, callee: cst.BaseExpression, report: ReportingCall
) -> list[MessageItem]:
    """A message whose values are read, with their names, from one argument of the call."""
    at_call: list[MessageItem] = []
    for item in items:
        if isinstance(item, str) or item.style == FormatStyle.NAME:
            at_call.append(item)
        else:
            source = item.source if item.function is report.function else callee
            fields = (report.key, str(place))
            at_call.append(
                replace(item, node=callee, source=source, function=report.function, form="call", fields=fields)
            )
    return at_call


def _is_built(argument: object, parser: MessageParser) -> bool:
    """Whether an argument is built to be reported: a string with values, a list or a dict."""
    if not isinstance(argument, tuple):
        return False
    node, function = argument
    if not isinstance(node, cst.BaseExpression):
        return False
    if parser.texts.is_text(node, function):
        return holds_values(node)
    if isinstance(node, cst.DictComp):
        return True
    return (
        parser.displays.mapping_items(node, function) is not None
        or parser.displays.sequence_items(node, function) is not None
    )


def _is_same_name(argument: object, name: str) -> bool:
    return isinstance(argument, tuple) and isinstance(argument[0], cst.Name) and argument[0].value == name


def _keyed_names(node: cst.CSTNode) -> set[str]:
    """Variables that an expression subscripts by a constant key."""
    return {
        part.value.value
        for part in walk(node)
        if isinstance(part, cst.Subscript) and isinstance(part.value, cst.Name) and constant_key(part) is not None
    }


def _names_in(node: cst.CSTNode) -> set[str]:
    return {part.value for part in walk(node) if isinstance(part, cst.Name)}


def _texts_between(items: list[MessageItem]) -> list[str]:
    """The text before each value, and what follows the last."""
    texts = [""]
    for item in items:
        if isinstance(item, str):
            texts[-1] += item
        else:
            texts.append("")
    return texts

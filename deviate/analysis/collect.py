"""Candidates: every value that a sink reports, with the text around it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from deviate.sinks import FormatTemplate, Message, Record, Row, Scalar, Summary, Template, find_sink
from deviate.sinks.registry import Carried, Sink

from .calls import CallGraph
from .index import Function
from .judge import Candidate, Decision, Judge
from .labels import label_of
from .messages import Taker, holds_values
from .tree import dotted, keywords, last_name, listed, positional
from .values import PLAIN, Item, Scene, Stars, Value
from .words import words

IGNORE = re.compile(r"#\s*deviate:\s*ignore\b")
SHOWING = listed("suffix comment desc postfix message msg text title status description caption")
"""Attributes of progress bars and widgets that show what is assigned to them."""

DEEPEST = 5
MOST_SCENES = 40


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and what was decided about it."""

    candidate: Candidate
    decision: Decision


class Collector:
    """Judges everything that is reported."""

    def __init__(self, graph: CallGraph, judge: Judge) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.judge = judge
        self.taker = Taker(graph)
        self.found: dict[tuple[cst.CSTNode, object], Judged] = {}

    def collect(self) -> list[Judged]:
        """Candidates in the order of files and lines; a value that two sinks share counts once."""
        for call, function in self.graph.calls:
            sink = self._sink(call, function)
            if sink is None:
                continue
            carried = sink.carried(positional(call), _arguments(call))
            for items in self._messages(carried, call, function, PLAIN, DEEPEST):
                self._judge(items, sink.name)
        for function in self.graph.functions:
            for target, value in function.assigned:
                if target.attr.value in SHOWING and self._shows(target, value, function):
                    for items in self._messages([Message(value)], value, function, PLAIN, DEEPEST):
                        self._judge(items, "progress")
        order = {file: number for number, file in enumerate(self.graph.project.files())}
        return sorted(self.found.values(), key=lambda judged: self._position(judged, order))

    def _sink(self, call: cst.Call, function: Function) -> Sink | None:
        names = self.graph.resolver.names(call.func, function)
        spelling = dotted(call.func)
        found = (find_sink(name, "") for name in names)
        exact = next((sink for sink in found if sink is not None), None)
        if exact is not None or (names and not _is_object(names)):
            return exact
        if self.graph.resolver.functions(call.func, function):
            return None  # the project's own: what it does with its arguments is seen inside
        return find_sink(None, spelling)

    def _shows(self, target: cst.Attribute, value: cst.BaseExpression, function: Function) -> bool:
        scope = self.graph.resolver.find(dotted(target.value), function)[0]
        return scope.receiver != dotted(target.value) and self.taker.is_text(value, function)

    # ------------------------------------------------------------ messages

    def _messages(
        self, carried: list[Carried], node: cst.CSTNode, function: Function, scene: Scene, depth: int
    ) -> Iterator[list[Item]]:
        """The messages of one report: those of each call where the function around it writes what it is given."""
        for one in self.taker.flows.turns(node, function, scene) if scene.known else (scene,):
            self.taker.open.clear()
            messages = list(self._taken(carried, function, one))
            opened = dict(self.taker.open)
            scenes = self._scenes(opened, messages, one) if opened and depth else []
            if not scenes:
                yield from messages
            for inner in scenes[:MOST_SCENES]:
                yield from self._messages(carried, node, function, inner, depth - 1)

    def _taken(self, carried: list[Carried], function: Function, scene: Scene) -> Iterator[list[Item]]:
        line: list[Item] = []
        for part in carried:
            match part:
                case Message():
                    line += [*self.taker.take(part.value, function, scene), " "]
                case Template():
                    line += [*self.taker.template(part.template, list(part.arguments), function, scene), " "]
                case FormatTemplate():
                    given = list(part.arguments), dict(part.named)
                    line += [*self.taker.format_template(part.template, *given, function, scene), " "]
                case Scalar():
                    yield [*self._named(part.name, part.prefix, function, scene), *self._scalar(part, function, scene)]
                case Record():
                    prefix = self._named(None, part.prefix, function, scene)
                    for items in self.taker.record(part.mapping, function, scene):
                        yield [*prefix, *items]
                case Row():
                    yield from self.taker.row(part.values, function, scene)
                case Summary():
                    pass
        if line:
            yield line

    def _scalar(self, part: Scalar, function: Function, scene: Scene) -> list[Item]:
        return self.taker.scalar(part.value, function, scene)

    def _named(self, name: object, prefix: object, function: Function, scene: Scene) -> list[Item]:
        items: list[Item] = []
        for part, behind in ((prefix, " "), (name, ": ")):
            if isinstance(part, str):
                items += [part, behind]
            elif isinstance(part, cst.BaseExpression):
                items += [*self.taker.take(part, function, scene), behind]
        return items

    def _scenes(
        self, opened: dict[tuple[Function, str], None], messages: list[list[Item]], scene: Scene
    ) -> list[Scene]:
        """What the open parameters stand for in each call, where the calls tell what is reported and not the function.

        They do when a text with values, a list or a dict is handed over, or when the function has no word of its own
        beside the value.
        """
        scope = next(iter(opened))[0]
        mine = [name for function, name in opened if function is scope]
        edges = [edge for edge in self.graph.edges_into(scope) if not edge.is_handed]
        given = [self.taker.flows.given(edge) for edge in edges]
        if any(_is_built(one.get((scope, name)), self.taker) for one in given for name in mine):
            return [scene.extended(one) for one in given]
        items = [item for message in messages for item in message]
        values = [item for item in items if isinstance(item, Value)]
        is_value = any(value.function is scope and dotted(value.node) in mine for value in values)
        texts = [item for item in items if isinstance(item, str)]
        return [scene.extended(one) for one in given] if is_value and not any(map(words, texts)) else []

    # ------------------------------------------------------------ judgement

    def _judge(self, items: list[Item], sink: str) -> None:
        values = [item for item in items if isinstance(item, Value)]
        texts = _texts_between(items)
        message = "".join(item if isinstance(item, str) else "{}" for item in items)
        label = label_of(values, self.judge, self.graph)
        judged: list[Judged] = []
        for number, value in enumerate(values):
            earlier = []
            for back in range(number - 1, -1, -1):
                if judged[back].decision.role is not None:
                    break
                earlier.append(texts[back])
            line = self.nodes.statement_line(value.node)
            told = label if label != value.spelled and value.form in ("value", "shown") else None
            if told is not None and value.function is not _function_of(label, values):
                told = None
            candidate = Candidate(value, texts[number], texts[number + 1], line, sink, message, tuple(earlier), told)
            if self._is_ignored(line, value):
                decision = Decision(None, reason="ignored: a comment in the script says so")
            else:
                decision = self.judge.decide(candidate)
            judged.append(Judged(candidate, decision))
            key = (value.node, value.fields or (value.spelled,))
            known = self.found.get(key)
            if known is None or (known.decision.role is None and decision.role is not None):
                self.found[key] = judged[-1]

    def _is_ignored(self, line: int, value: Value) -> bool:
        source = value.function.source
        last = source.end(value.node).line
        return any(IGNORE.search(text) for text in source.lines[line - 1 : last])

    def _position(self, judged: Judged, order: dict[str, int]) -> tuple[int, int, int, int]:
        value = judged.candidate.value
        where = value.function.source.start(value.node)
        return order[value.function.module.file], judged.candidate.line, where.line, where.column


def _is_object(names: list[str]) -> bool:
    """Whether names tell of an object only: what a call of a library gave, whose methods are known by spelling."""
    return any("()" in name for name in names)


def _arguments(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """Named arguments; an unpacked mapping whose items are not known under a key that begins with `**`."""
    named = keywords(call)
    for number, argument in enumerate(call.args):
        if argument.star == "**":
            named[f"**{number}"] = argument.value
    return named


def _is_built(given: object, taker: Taker) -> bool:
    """Whether an argument is built for being reported: a text with values, a list or a dict, or an unpacked one."""
    if isinstance(given, Stars):
        return bool(given.named)
    if not isinstance(given, tuple):
        return False
    node, function = given
    if not isinstance(node, cst.BaseExpression):
        return False
    if taker.is_text(node, function):
        return holds_values(node)
    if isinstance(node, cst.DictComp):
        return True
    return taker.flows.display(node, function) is not None or taker.flows.listed(node, function) is not None


def _function_of(label: str | None, values: list[Value]) -> Function | None:
    return next((value.function for value in values if last_name(value.node) == label), None)


def _texts_between(items: list[Item]) -> list[str]:
    """The text before each value, and what follows the last."""
    texts = [""]
    for item in items:
        if isinstance(item, str):
            texts[-1] += item
        else:
            texts.append("")
    return texts

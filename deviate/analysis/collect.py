"""Candidates: every value that a sink of the file reports, with the text around it."""

import re
from dataclasses import dataclass

import libcst as cst

from deviate.sinks import Message, Template, find_sink

from .calls import CallGraph
from .index import Function, Index
from .judge import Candidate, Decision, Judge
from .messages import Taker, Value
from .tree import constant_text, dotted, keywords, positional

IGNORE = re.compile(r"#\s*deviate:\s*ignore\b")


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and what was decided about it."""

    candidate: Candidate
    decision: Decision


def collect(index: Index, graph: CallGraph, judge: Judge) -> list[Judged]:
    """Judge everything that is reported, in source order; a value that two sinks share counts once."""
    taker = Taker(index, graph.call_sites)
    found: dict[tuple[cst.CSTNode, tuple[str, ...]], Judged] = {}
    for call, function in index.calls:
        sink = find_sink(index.qualified(call.func, function), dotted(call.func))
        if sink is None:
            continue
        items: list[str | Value] = []
        for carried in sink.carried(positional(call), keywords(call)):
            if isinstance(carried, Message):
                items += [*taker.take(carried.value, function), " "]
            elif isinstance(carried, Template):
                items += [*taker.fill(carried.template, list(carried.arguments), function), " "]
        for judged in _judge_message(items, sink.name, index, judge):
            value = judged.candidate.value
            found.setdefault((value.node, value.fields or (value.spelled,)), judged)
    return sorted(found.values(), key=lambda judged: _position(judged, index))


def _position(judged: Judged, index: Index) -> tuple[int, int, int]:
    where = index.source.ranges[judged.candidate.value.node].start
    return judged.candidate.line, where.line, where.column


def _judge_message(items: list[str | Value], sink: str, index: Index, judge: Judge) -> list[Judged]:
    values = [item for item in items if isinstance(item, Value)]
    texts = _texts_between(items)
    message = "".join(item if isinstance(item, str) else "{}" for item in items)
    label = _label(values, judge)
    judged: list[Judged] = []
    for number, value in enumerate(values):
        earlier = []
        for back in range(number - 1, -1, -1):
            if judged[back].decision.role is not None:
                break
            earlier.append(texts[back])
        line = index.statement_line(value.node)
        told = label if label != value.spelled and value.form != "format" else None
        candidate = Candidate(value, texts[number], texts[number + 1], line, sink, message, tuple(earlier), told)
        if _is_ignored(line, value, index):
            decision = Decision(None, reason="ignored: a comment in the script says so")
        else:
            decision = judge.decide(candidate)
        judged.append(Judged(candidate, decision))
    return judged


def _texts_between(items: list[str | Value]) -> list[str]:
    """The text before each value, and what follows the last."""
    texts = [""]
    for item in items:
        if isinstance(item, str):
            texts[-1] += item
        else:
            texts.append("")
    return texts


def _label(values: list[Value], judge: Judge) -> str | None:
    """The plain variable among the values of a message that holds one of some constant texts."""
    for value in values:
        if not isinstance(value.node, cst.Name) or judge.origin(value).kind != "text":
            continue
        if label_texts(value.node.value, value.function, judge.index, judge):
            return value.node.value
    return None


def label_texts(name: str, function: Function, index: Index, judge: Judge) -> list[str]:
    """Constant texts that a variable can hold: of the loop over texts, or handed to the parameter anywhere."""
    scope, bindings = index.find(name, function)
    found: list[str] = []
    for binding in bindings:
        if binding.how == "for" and isinstance(binding.value, cst.Tuple | cst.List):
            texts = [
                constant_text(_part(item.value, binding.way))
                for item in binding.value.elements
                if isinstance(item, cst.Element)
            ]
            found += [text for text in texts if text is not None]
        elif binding.how == "for" and isinstance(binding.value, cst.Call) and not binding.way[1:]:
            found += _dict_keys(binding.value, binding.way, scope, index)
        elif binding.how == "parameter" and name in scope.parameters:
            position = scope.parameters.index(name) - (scope.class_name is not None)
            for call, caller in judge.origins.graph.call_sites(scope):
                given = keywords(call).get(name) or dict(enumerate(positional(call))).get(position)
                text = constant_text(given)
                if text is not None:
                    found.append(text)
                elif isinstance(given, cst.Name) and caller is not scope:
                    found += label_texts(given.value, caller, index, judge)
    return list(dict.fromkeys(found))


def _part(node: cst.BaseExpression, way: tuple[int, ...]) -> cst.BaseExpression | None:
    for number in way:
        if not isinstance(node, cst.Tuple | cst.List) or number >= len(node.elements):
            return None
        node = node.elements[number].value
    return node


def _dict_keys(call: cst.Call, way: tuple[int, ...], scope: Function, index: Index) -> list[str]:
    """Keys of a dict display that a loop goes through with `.items()` or `.keys()`."""
    if (
        not isinstance(call.func, cst.Attribute)
        or call.func.attr.value not in ("items", "keys")
        or way not in ((), (0,))
    ):
        return []
    container: cst.CSTNode | None = call.func.value
    if isinstance(container, cst.Name):
        _, bindings = index.find(container.value, scope)
        container = bindings[0].value if len(bindings) == 1 else None
    if not isinstance(container, cst.Dict):
        return []
    keys = [constant_text(item.key) for item in container.elements if isinstance(item, cst.DictElement)]
    return [key for key in keys if key is not None]


def _is_ignored(line: int, value: Value, index: Index) -> bool:
    last = index.source.ranges[value.node].end.line
    return any(IGNORE.search(text) for text in index.source.lines[line - 1 : last])

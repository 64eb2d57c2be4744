"""Managed loops: training that Keras drives by itself, and the values that it will report."""

import re

import libcst as cst

from .calls import CallGraph
from .index import Function
from .tree import constant_text, keywords, last_name, positional

VALIDATION = ("validation_data", "validation_split")
VALIDATION_POSITIONS = (6, 7)


def is_managed(call: cst.Call, graph: CallGraph) -> bool:
    """Whether a call is `fit` of a Keras model: of a model that is compiled here, or with Keras's own arguments."""
    if last_name(call.func) not in ("fit", "fit_generator") or not isinstance(call.func, cst.Attribute):
        return False
    if not {"keras", "tensorflow", "tf_keras"} & graph.imported:
        return False
    told = {"epochs", "validation_data", "validation_split", "steps_per_epoch", "batch_size"}
    return bool(told & keywords(call).keys()) or bool(_compiles(call, graph))


def history_keys(call: cst.Call, graph: CallGraph) -> list[str]:
    """Keys that the history of a fit call will have, as far as `compile` and the validation data tell."""
    keys = ["loss"]
    for compiled in _compiles(call, graph)[:1]:
        metrics = keywords(compiled).get("metrics")
        if metrics is None and len(positional(compiled)) > 2:
            metrics = positional(compiled)[2]
        function = graph.nodes.function_of(compiled)
        keys += [key for key in _keys(metrics, graph, function) if key not in keys]
    if _validates(call):
        keys += [f"val_{key}" for key in keys]
    return keys


def _compiles(call: cst.Call, graph: CallGraph) -> list[cst.Call]:
    """Calls of `compile` that may belong to a fit: of the same variable if there are any, the last before it first."""
    found = [
        other
        for other, _ in graph.calls
        if isinstance(other.func, cst.Attribute)
        and other.func.attr.value == "compile"
        and {"optimizer", "loss", "metrics"} & {*keywords(other), *(("loss",) if len(positional(other)) > 1 else ())}
    ]
    receiver = last_name(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    same = [
        other for other in found if isinstance(other.func, cst.Attribute) and last_name(other.func.value) == receiver
    ]
    line = graph.nodes.line(call)
    ordered = sorted(same or found, key=graph.nodes.line, reverse=True)
    return [other for other in ordered if graph.nodes.line(other) < line] or ordered


def _validates(call: cst.Call) -> bool:
    named = [keywords(call).get(name) for name in VALIDATION]
    given = positional(call)
    named += [given[place] for place in VALIDATION_POSITIONS if place < len(given)]
    return any(value is not None and not _is_nothing(value) for value in named)


def _is_nothing(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.Name):
        return value.value == "None"
    return isinstance(value, cst.Integer | cst.Float) and float(value.evaluated_value) == 0


def _keys(metrics: cst.BaseExpression | None, graph: CallGraph, function: Function, depth: int = 4) -> list[str]:
    if metrics is None or depth == 0:
        return []
    if isinstance(metrics, cst.List | cst.Tuple):
        return [key for item in metrics.elements for key in _keys(item.value, graph, function, depth - 1)]
    text = constant_text(metrics)
    if text is not None:
        return [text if text.islower() else _snake(text)]
    if isinstance(metrics, cst.Name):
        scope, bindings = graph.resolver.find(metrics.value, function)
        values = [b.value for b in bindings if b.how == "assign" and isinstance(b.value, cst.BaseExpression)]
        if values and isinstance(values[-1], cst.BaseExpression):
            return _keys(values[-1], graph, scope, depth - 1)
        return [metrics.value]
    if isinstance(metrics, cst.Call):
        named = constant_text(keywords(metrics).get("name"))
        return [named or _snake(last_name(metrics.func))]
    return [last_name(metrics)] if last_name(metrics) else []


def _snake(name: str) -> str:
    """The name that Keras gives an object of a class. Source: keras.utils.to_snake_case."""
    spaced = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower()

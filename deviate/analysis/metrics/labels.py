"""Labels: variables in a message whose text tells apart what one statement reports; recorded beside the value."""

import libcst as cst

from deviate.analysis.metrics.judge import Judge
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.message_items import ReportedValue
from deviate.analysis.resolve.tree import index_of, last_name
from deviate.model.metric_vocabulary import split_identifier, word_set

KEYS = word_set("name names key k metric tag label split")
"""Last words of variables that hold texts."""
SAME_ORDER = ("sorted", "list", "enumerate", "reversed")


def label_of(values: list[ReportedValue], judge: Judge, graph: CallGraph) -> ReportedValue | None:
    """The plain variable among the values of a message that holds a text, or a key that is known at run time."""
    names = [value for value in values if isinstance(value.node, cst.Name)]
    return next(
        (one for one in names if judge.origin(one).kind == "text" or is_key(one.spelled, one.function, graph)), None
    ) or next((key for value in values if (key := _key_of(value, graph)) is not None), None)


def _key_of(value: ReportedValue, graph: CallGraph) -> ReportedValue | None:
    """The variable by which a value is taken out of a mapping: `row[key]`."""
    key = index_of(value.node) if isinstance(value.node, cst.Subscript) else None
    if not isinstance(key, cst.Name) or not is_key(key.value, value.function, graph):
        return None
    return ReportedValue(key, key, value.function, key.value)


def is_key(name: str, function: Function, graph: CallGraph) -> bool:
    """Whether a variable iterates over the keys of a mapping, or is a parameter or loop variable that is called so."""
    bindings = graph.resolver.find(name, function)[1]
    is_called_key = bool(KEYS & set(split_identifier(name)[-1:]))
    return bool(bindings) and all(
        _iterates_keys(binding) or (is_called_key and binding.how in ("parameter", "for")) for binding in bindings
    )


def _iterates_keys(binding: Binding) -> bool:
    iterable, position = binding.value, binding.position
    while isinstance(iterable, cst.Call) and last_name(iterable.func) in SAME_ORDER and iterable.args:
        position = position[1:] if last_name(iterable.func) == "enumerate" else position
        iterable = iterable.args[0].value
    if binding.how != "for" or not isinstance(iterable, cst.Call) or not isinstance(iterable.func, cst.Attribute):
        return False
    return (iterable.func.attr.value, position) in (("items", (0,)), ("keys", ()))

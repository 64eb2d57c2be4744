"""Keys that the callbacks of a script add to the logs of an epoch, which Keras then reports like its own."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, index_of
from deviate.model.metric_vocabulary import split_identifier, word_set

HOOK = "on_epoch_end"
LOGS = 2
"""Place of the logs among the parameters of the hook, behind the callback and the number of the epoch."""

SETTINGS = word_set("lr learning rate momentum decay epoch epochs step steps")
"""Words of keys under which a callback notes only what it sets or counts."""


def added_keys(graph: CallGraph) -> list[str]:
    """Keys of the items that reached callbacks add to the logs, as far as their texts are known."""
    hooks = [function for function in graph.reached if function.name == HOOK and _is_callback(function, graph)]
    keys = dict.fromkeys(key for hook in hooks for key in _keys(hook, graph))
    return [key for key in keys if not SETTINGS.issuperset(split_identifier(key))]


def _is_callback(function: Function, graph: CallGraph) -> bool:
    outside = graph.resolver.order(function.owner)[1] if function.owner is not None else []
    return any(name.rpartition(".")[2] == "Callback" and "keras" in name for name in outside)


def _keys(hook: Function, graph: CallGraph) -> Iterator[str]:
    for place, _ in hook.stored:
        key = index_of(place)
        if key is not None and dotted_name(place.value) in hook.parameters[LOGS:]:
            texts = graph.resolver.choices.texts(key, hook)
            yield from texts if not isinstance(key, cst.Name) or len(texts) == 1 else ()

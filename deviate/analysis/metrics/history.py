"""Training history: the keys that Keras and the Trainer of Transformers are expected to report by themselves.

A preview from what stands in the source as it is; the run shows the rest.
"""

import re

import libcst as cst

from deviate.analysis.loops.managed import KERAS, TRANSFORMERS, TrainingFramework, compile_of
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.tree import argument, constant_text, keywords, last_name, named_items

VALIDATION = {"validation_data": 7, "validation_split": 6}
"""Arguments of `fit`, with their positions."""
TRAINED = ("loss", "grad_norm", "train_loss", "train_runtime", "train_samples_per_second", "train_steps_per_second")
EVALUATED = ("eval_loss", "eval_runtime", "eval_samples_per_second", "eval_steps_per_second")


def history_keys(call: cst.Call, framework: TrainingFramework, graph: CallGraph) -> list[str]:
    """Keys under which the framework reports values; empty where only a run can tell."""
    if framework is KERAS:
        keys = list(dict.fromkeys(["loss", *_compiled_metrics(call, graph)]))
        data = [argument(call, place, name) for name, place in VALIDATION.items()]
        is_validated = any(value is not None and last_name(value) != "None" for value in data)
        return keys + [f"val_{key}" for key in keys if is_validated]
    if framework is TRANSFORMERS:
        return [*TRAINED, *(_evaluated_keys(graph))]
    return []


def history_evidence(framework: TrainingFramework) -> tuple[str, ...]:
    """Why a key of the history is a metric."""
    if framework is KERAS:
        return ("reported by Keras in the history of fit()", "expected from compile() and the validation data")
    return (f"reported by {framework.name}", "expected from the arguments that it is made with")


def _compiled_metrics(call: cst.Call, graph: CallGraph) -> list[str]:
    """Names of the metrics that stand in the list with which the model is compiled."""
    compiled = compile_of(call, graph)
    listed = argument(compiled, 2, "metrics") if compiled is not None else None
    items = [item.value for item in listed.elements] if isinstance(listed, cst.List | cst.Tuple) else []
    return [name for item in items if (name := _metric_name(item))]


def _metric_name(item: cst.BaseExpression) -> str:
    """Name of a metric: a text, the `name` of an object, or its class in the spelling of Keras."""
    text = constant_text(item)
    if text is None and isinstance(item, cst.Call):
        text = constant_text(keywords(item).get("name")) or last_name(item.func)
    return _snake(text if text is not None else last_name(item))


def _snake(name: str) -> str:
    """The name that Keras gives an object of a class. Source: keras.utils.to_snake_case."""
    spaced = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower()


def _evaluated_keys(graph: CallGraph) -> list[str]:
    """Keys of an evaluation where a trainer gets data for it, with those of a dict that `compute_metrics` returns."""
    keys: list[str] = []
    for call, function in graph.calls:
        by_name = keywords(call)
        if "eval_dataset" not in by_name or last_name(by_name["eval_dataset"]) == "None":
            continue
        keys += EVALUATED
        computing = by_name.get("compute_metrics")
        for routine in graph.resolver.functions(computing, function) if computing is not None else ():
            returned = [value for value in routine.function.returns if isinstance(value, cst.Dict)]
            keys += [f"eval_{key.removeprefix('eval_')}" for value in returned for key, _ in named_items(value)]
    return list(dict.fromkeys(keys))

"""Runs of trackers that a script names itself: all runs of an experiment would be written into one."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.survey import Called, Survey, is_true
from deviate.analysis.resolve.tree import constant_text, keywords, last_name
from deviate.analysis.side_effects.destinations import Destinations
from deviate.model import SideEffectKind
from deviate.model.metric_vocabulary import word_set

Found = Iterator[tuple[SideEffectKind, cst.CSTNode, str]]
"""Kind, node and description."""

IDS = {
    "wandb.init": ("id", "resume", "name"),
    "neptune.init_run": ("with_id", "custom_run_id", "run"),
    "neptune.new.init": ("run", "custom_run_id"),
    "neptune.new.init_run": ("with_id", "custom_run_id", "run"),
    "mlflow.start_run": ("run_id",),
    "comet_ml.start": ("experiment_key",),
    "comet_ml.ExistingExperiment": ("previous_experiment", "experiment_key"),
    "swanlab.init": ("id", "resume"),
    "clearml.Task.init": ("continue_last_task",),
    "WandbLogger": ("id", "version", "name"),
    "MLFlowLogger": ("run_id",),
    "CometLogger": ("experiment_key",),
    "NeptuneLogger": ("with_id", "run"),
}
"""Arguments that name a tracker run; logger classes by the last part of the name."""
ID_VARIABLES = word_set(
    "WANDB_RUN_ID WANDB_RESUME COMET_EXPERIMENT_KEY NEPTUNE_CUSTOM_RUN_ID MLFLOW_RUN_ID SWANLAB_RUN_ID SWANLAB_RESUME"
)


def ids(survey: Survey, destinations: Destinations) -> Found:
    for name in list(survey.names):
        arguments = IDS.get(name) or (IDS.get(name.rpartition(".")[2]) if "ogger" in name else None)
        for call in survey.calls([name]) if arguments else ():
            arguments_text = next(_fixed_arguments(call, arguments or (), destinations), "")
            if arguments_text or name.endswith("ExistingExperiment"):
                yield "tracker-id", call.node, f"{plain(name)}({arguments_text})" if arguments_text else name
    for key in sorted(ID_VARIABLES & survey.environment.keys()):
        for target, value in survey.environment[key]:
            if constant_text(value):
                yield "tracker-id", target, f'{key}="{constant_text(value)}"'


def _fixed_arguments(call: Called, arguments: tuple[str, ...], destinations: Destinations) -> Iterator[str]:
    """The arguments that fix the tracker run. `resume` continues a run only together with its id."""
    by_name = keywords(call.node)
    for word in arguments:
        value = destinations.constant(by_name.get(word), call.function)
        if value is None and is_true(by_name.get(word)):
            value = "True"
        if word == "resume" and not _is_given(by_name.get("id")):
            continue
        if value and value not in ("never", "False"):
            yield f'{word}="{value}"'


def _is_given(node: cst.BaseExpression | None) -> bool:
    is_none = node is None or (isinstance(node, cst.Name) and node.value == "None")
    return not is_none and not (isinstance(node, cst.Call) and last_name(node.func) == "generate_id")


def plain(name: str) -> str:
    """A full name without `()`."""
    return name.replace("()", "")

"""Experiment trackers: keeps runs from publishing copies, and makes runs of an experiment distinguishable."""

from collections.abc import Mapping
from types import MappingProxyType

from deviate.model.plan import Spec

OFFLINE: Mapping[str, str] = MappingProxyType({
    "WANDB_MODE": "offline",
    "NEPTUNE_MODE": "offline",
    "CLEARML_OFFLINE_MODE": "1",
    "SWANLAB_MODE": "offline",
    "COMET_START_ONLINE": "0",
    "COMET_MODE": "OFFLINE",
})  # fmt: skip
"""Variables that stop a tracker from publishing and let it write its files; they are part of a spec.

`COMET_START_ONLINE` is for `comet_ml.start` and what is built on it, `COMET_MODE` for Transformers before it was;
`comet_ml.Experiment()` goes online whatever is set. Aim, DVCLive, Trackio and TensorBoard write to the disk without
being asked. The Hugging Face hub is left out: `HF_HUB_OFFLINE` also stops downloads, and no variable stops uploads
alone.

Source: the reference pages on environment variables of wandb, neptune, clearml and swanlab; comet_ml, start(), the
configuration names of its arguments; transformers, CometCallback.setup; huggingface_hub, Environment variables,
HF_HUB_OFFLINE.
"""

SERVERS = ("http://", "https://", "databricks", "uc:", "postgresql", "mysql", "mssql")
"""Prefixes of addresses of MLflow servers and of shared databases. Source: MLflow, mlflow.set_tracking_uri."""


def tracker_environment(experiment: str, variant: str, replicate: int) -> dict[str, str]:
    """Variables that set group and name of a run where the script sets none; arguments of a call have precedence.

    Neptune and ClearML have no variable for either: theirs are for ids, of which a tracker wants each only once.

    Source: the reference pages on environment variables of wandb and swanlab; mlflow.environment_variables
    (MLFLOW_EXPERIMENT_NAME, MLFLOW_RUN_NAME); comet_ml, start(), the configuration names of its arguments.
    """
    group, name = f"deviate/{experiment}", f"{experiment}/{variant}/{replicate}"
    return {
        "WANDB_RUN_GROUP": group,
        "WANDB_NAME": name,
        "SWANLAB_GROUP": group,
        "SWANLAB_EXP_NAME": name,
        "MLFLOW_EXPERIMENT_NAME": group,
        "MLFLOW_RUN_NAME": name,
        "COMET_START_EXPERIMENT_NAME": name,
        "COMET_START_EXPERIMENT_TAGS": group,
    }


def tracker_variables(spec: Spec, experiment_name: str, base_environment: Mapping[str, str]) -> dict[str, str]:
    """What to set for trackers when a run starts, over the user's own variables.

    A variable for the group or the name that the user has set stays. An address of an MLflow server does not stay where
    the run is to be offline, unless it is in the spec: then the user has given it for these runs (`--env`).

    Args:
        base_environment: the variables with which deviate was started.
    """
    user_variables = dict(spec.environment)
    tracker_names = tracker_environment(experiment_name, spec.variant, spec.replicate)
    theirs = {**base_environment, **user_variables}
    if "MLFLOW_EXPERIMENT_ID" in theirs or theirs.get("MLFLOW_TRACKING_URI", "").startswith("databricks"):
        del tracker_names["MLFLOW_EXPERIMENT_NAME"]  # it would contradict the id; Databricks takes absolute paths alone
    variables = {key: value for key, value in tracker_names.items() if key not in base_environment}
    is_offline = OFFLINE.keys() <= user_variables.keys()
    if is_offline and base_environment.get("MLFLOW_TRACKING_URI", "").startswith(SERVERS):
        variables["MLFLOW_TRACKING_URI"] = ""  # MLflow: an empty address is `mlruns` in the working folder
    return {key: value for key, value in variables.items() if key not in user_variables}

"""Addresses of projects: `wandb:ENTITY/PROJECT`, `mlflow:EXPERIMENT`, `tensorboard:FOLDER`."""

from deviate.base.redaction import redact
from deviate.errors import InputError
from deviate.records.importers.mlflow import read_mlflow_experiment
from deviate.records.importers.tensorboard import read_tensorboard_project
from deviate.records.importers.tracked import TrackedProject, reading
from deviate.records.importers.wandb import read_wandb_project

READERS = {"wandb": read_wandb_project, "mlflow": read_mlflow_experiment, "tensorboard": read_tensorboard_project}
EXAMPLE = "wandb:ENTITY/PROJECT, mlflow:EXPERIMENT or tensorboard:FOLDER"


def is_address(name: str) -> bool:
    """Whether a name is the address of a project.

    >>> [is_address(name) for name in ("wandb:me/cifar", "old.csv", "wandb/offline-run-1")]
    [True, False, False]
    """
    return name.partition(":")[0] in READERS and ":" in name


def read_project(address: str) -> TrackedProject:
    """Read the runs of a project with their settings, without their measurements.

    Raises:
        InputError: there is no such project, it has no runs, or its tracker cannot be read.
    """
    tracker, _, place = address.partition(":")
    if not place:
        raise InputError(f"{address} names no project", f"write {EXAMPLE}")
    with reading(redact(address)):
        project = READERS[tracker](place)
    if not project.runs:
        raise InputError(f"{project.address} has no runs", "check its name, or wait until a run has started")
    return project

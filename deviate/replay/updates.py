"""Requests to replay, updates during execution, and outcomes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deviate.model import Spec, Status
from deviate.records import run_id, runs_folder


@dataclass(frozen=True, slots=True)
class Order:
    """A run to be executed, in the folder of its experiment."""

    experiment: Path
    spec: Spec

    @property
    def run(self) -> Path:
        """The folder of the run, which identifies it."""
        return runs_folder(self.experiment) / run_id(self.spec)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run. `is_reused`: it was on record already and was not executed."""

    spec: Spec
    run_id: str
    status: Status
    exit_code: int | None
    wall_time_s: float
    folder: Path
    reason: str = ""
    is_reused: bool = False


@dataclass(frozen=True, slots=True)
class RunUpdate:
    """An update on one run.

    Attributes:
        step: the main-loop step it is in, None before the first; it counts on when the loop is entered again.
        value: the last reported value with its name, e.g. "acc 0.9312"; empty when there is none yet.
        status, reason, wall_time_s: when it has finished.
        folder: the attempt; the folder of the run where none was made.
        device: what it computes on, e.g. "GPU 0"; empty where it was given nothing.
        experiment: name of the experiment.
        outcome: when it has finished.
    """

    kind: Literal["started", "progress", "finished"]
    run_id: str
    replicate: int
    variant: str
    folder: Path
    step: int | None = None
    value: str = ""
    status: Status | None = None
    reason: str = ""
    wall_time_s: float = 0.0
    device: str = ""
    experiment: str = ""
    outcome: Outcome | None = None

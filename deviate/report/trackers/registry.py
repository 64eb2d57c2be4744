"""The registry of trackers: by name, which is also that of the package it needs, a function that writes a report."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from deviate.errors import InputError, ToolError
from deviate.registry import Registry
from deviate.report.trackers.aggregate import AggregateReport


@dataclass(frozen=True, slots=True)
class Written:
    """Where an aggregate report was written.

    Attributes:
        place: for people. next_step: for what, and the command or address: "show: tensorboard --logdir runs".
    """

    place: str
    next_step: str


Writer = Callable[[AggregateReport, str | None], Written]


"""Takes the report and WHERE of `TRACKER[:WHERE]`."""
TRACKERS: "Registry[Writer]" = Registry("deviate.report.trackers")


def tracker(name: str) -> Callable[[Writer], Writer]:
    """Register a function as the writer for that tracker, in the module of that name."""

    def register(function: Writer) -> Writer:
        TRACKERS.add(name, function)
        return function

    return register


@dataclass(frozen=True, slots=True)
class Destination:
    """A tracker, and where in it: a folder, a project or an address; None for its default."""

    tracker: str
    where: str | None


def destination_of(text: str) -> Destination:
    """Parse `TRACKER[:WHERE]`.

    Raises:
        InputError: there is no such tracker, or nothing stands after the colon.
        ToolError: the package of the tracker is not installed beside deviate.
    """
    name, colon, where = text.partition(":")
    if name not in TRACKERS:
        raise InputError(f"--to {text}: there is no tracker {name!r}", f"choose one of {', '.join(TRACKERS)}")
    if colon and not where:
        raise InputError(f"--to {text} names no place after the colon", f"leave the colon out: --to {name}")
    spec = find_spec(name)
    # A folder `wandb` or `mlruns` in the working folder is a package without an origin.
    if spec is None or spec.origin is None:
        raise ToolError(
            f"--to {text} needs the package {name}, which deviate's environment does not have",
            f"install it there: {sys.executable} -m pip install {name}",
        )
    return Destination(name, where or None)


def write_to_tracker(report: AggregateReport, destination: Destination) -> Written:
    """Write the runs of an aggregate report as new runs of a tracker.

    Raises:
        InputError: the settings of the tracker do not allow it.
        RecordError: the tracker cannot be written to.
    """
    return TRACKERS[destination.tracker](report, destination.where)

"""What is read from a tracker: the runs of a project with their settings, and measurements of those that are wanted."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from deviate.errors import InputError
from deviate.records.importers.tracked import TrackedRun, note_on

Load = Callable[[TrackedRun], None]


@dataclass(frozen=True, slots=True)
class Project:
    """The runs of a project.

    Attributes:
        address: as it was given, without secrets.
        form: name of the tracker.
        prefix: what stands before the names of settings among the facts of a run.
        load: reads the measurements of a run into its trails. Raises InputError.
        aims: what each sweep was tuned on, where the tracker knows: "val_acc (maximize)".
        has_clock_times: whether measurements have the time of day, not the seconds since their run started.
        notes: sentences for the user on what was left out.
    """

    address: str
    name: str
    form: str
    prefix: str
    runs: Sequence[TrackedRun]
    load: Load
    aims: Mapping[str, str] = field(default_factory=dict)
    has_clock_times: bool = True
    notes: tuple[str, ...] = ()


@contextlib.contextmanager
def reading(address: str) -> Iterator[None]:
    """Raises InputError where the system does not let a file of a project be read."""
    try:
        yield
    except OSError as error:
        raise InputError(f"reading {address}: {error}", "check the permissions of its files") from error


def read_nothing(run: TrackedRun) -> None:
    """Read nothing, where the measurements of all runs were read with their settings."""
    del run


def split_aggregates(
    runs: Sequence[TrackedRun], is_aggregate: Callable[[TrackedRun], bool]
) -> tuple[list[TrackedRun], tuple[str, ...]]:
    """The runs of training, without those that `deviate report --to` wrote, and a note on these."""
    aggregates = [run.label for run in runs if is_aggregate(run)]
    note = "written by deviate report, left out"
    return [run for run in runs if not is_aggregate(run)], tuple(note_on(aggregates, note))

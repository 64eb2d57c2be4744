"""Shared by the importers of experiment trackers: runs and projects of theirs, and how they become runs of ours."""

import contextlib
import itertools
import json
import math
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from deviate.base.redaction import redact, redact_variables
from deviate.base.texts import first_few
from deviate.errors import InputError
from deviate.model.records import Series, Status
from deviate.records.columns import NO_STEP, series_of
from deviate.records.importers import Imported, ImportedRun

MOST_NAMED = 5
LONGEST_MESSAGE = 200
LOST = "killed or still running, so the run does not count"
REPLACED = (
    "started again: from its first step on, a later file replaces earlier values; if each is a run, name the files"
)


@dataclass(slots=True)
class Trail:
    """The values of one metric in one run, in the order in which they were logged.

    Attributes:
        steps: as the script gave them to the tracker, NO_STEP for what belongs to the run as a whole.
        times: seconds since the epoch, or since the start of the run, as the tracker has it.
        is_torn: the last value on file is not whole, and left out.
    """

    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    is_torn: bool = False

    def add(self, step: int, value: float, time: float) -> None:
        """Append a value. Raises ValueError for an invalid step."""
        if not NO_STEP <= step < -NO_STEP:
            raise ValueError(f"not a step: {str(step)[:20]}")
        self.steps.append(step)
        self.values.append(value)
        self.times.append(time)

    def cut(self, step: int) -> int:
        """Remove values at `step` or later, because training resumed from there; returns how many were removed."""
        keep = [index for index, own_step in enumerate(self.steps) if own_step < step]
        n_cut = len(self.steps) - len(keep)
        self.steps = [self.steps[index] for index in keep]
        self.values = [self.values[index] for index in keep]
        self.times = [self.times[index] for index in keep]
        return n_cut


Trails = dict[str, Trail]


@dataclass(slots=True)
class TrackedRun:
    """A run as a tracker has it; an importer adds what its format has beside.

    Attributes:
        name: what the user called it; empty where nobody did.
        started: seconds since the epoch, 0 where that is not known.
        params: its settings, secrets included. facts: what it ran on.
        sweep: the search over settings that started it, empty where none did.
        labels: how its author filed it in the tracker, such as its group there.
        is_aggregate: `deviate report --to` wrote it.
        n_replaced: values that a later start of the run replaced.
    """

    id: str
    name: str = ""
    status: Status = "completed"
    started: float = 0.0
    wall_time_s: float = 0.0
    trails: Trails = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    sweep: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    is_aggregate: bool = False
    n_replaced: int = 0

    @property
    def label(self) -> str:
        return self.name or self.id


RunT = TypeVar("RunT", bound=TrackedRun)

Load = Callable[[TrackedRun], None]


@dataclass(frozen=True, slots=True)
class Project:
    """Runs that were filed together in a tracker.

    Attributes:
        address: as it was given, without secrets.
        form: name of the tracker.
        prefix: what stands before the names of settings among the facts of a run.
        load: reads the measurements of a run into its trails, None where they were read with it. Raises InputError.
        aims: what each sweep was tuned on, where the tracker knows: "val_acc (maximize)".
        has_clock_times: whether measurements have the time of day, not the seconds since their run started.
        notes: sentences for the user on what was left out.
    """

    address: str
    name: str
    form: str
    prefix: str
    runs: Sequence[TrackedRun]
    load: Load | None = None
    aims: Mapping[str, str] = field(default_factory=dict)
    has_clock_times: bool = True
    notes: tuple[str, ...] = ()


def as_experiment(project: Project, path: Path, notes: Iterable[str] = ()) -> Imported:
    """All runs of a project, which was read from a file or folder, as one experiment."""
    runs, of_runs = load_runs(project, project.runs)
    return Imported(project.name, project.form, (path,), runs, notes=(*notes, *project.notes, *of_runs))


def load_runs(project: Project, runs: Sequence[TrackedRun]) -> tuple[tuple[ImportedRun, ...], tuple[str, ...]]:
    """Runs of a project with their series, and notes on them; their facts have no secrets.

    Raises:
        InputError: their measurements cannot be read.
    """
    with reading(project.address):
        for run in runs if project.load else ():
            project.load(run)  # type: ignore[misc]
    starts = [run.started if project.has_clock_times else 0.0 for run in runs]
    series, of_steps = as_series([run.trails for run in runs], starts)
    labels = [run.label for run in runs]
    imported = []
    for run, its_series in zip(runs, series, strict=True):
        label = run.label if labels.count(run.label) == 1 else f"{run.label} ({run.id})"
        params, seeds = settings(run.params)
        environment = {**run.facts, **{f"{project.prefix}{name}": value for name, value in params.items()}}
        imported.append(ImportedRun(label, its_series, run.status, run.started, run.wall_time_s, environment, seeds))
    notes = (
        *note_on((run.label for run in runs if run.status == "lost"), LOST),
        *note_on((run.label for run in runs if run.n_replaced), REPLACED),
        *note_on(
            (f"{name} of {run.label}" for run in runs for name, trail in run.trails.items() if trail.is_torn),
            "the last line is incomplete, left out",
        ),
    )
    return tuple(imported), (*notes, *of_steps)


def go_on(earlier: Trails, later: Trails) -> int:
    """Append values of a later process, replacing earlier ones from its first step on; returns the number replaced."""
    n_cut = 0
    for name, trail in later.items():
        before = earlier.setdefault(name, Trail())
        if before.steps and trail.steps:
            n_cut += before.cut(min(trail.steps))
        before.steps += trail.steps
        before.values += trail.values
        before.times += trail.times
    return n_cut


def as_series(runs: Sequence[Trails], starts: Sequence[float]) -> tuple[list[dict[str, Series]], tuple[str, ...]]:
    """The series of all runs, and notes on what was made of steps.

    Trackers write step 0 where the script gives none. So what stands at step 0 in every run is a score of the run, or,
    where there is more than one, is numbered in the order of logging. Of several values at one other step the last one
    stands, as everywhere in deviate; steps may be below 0.

    Args:
        starts: what is subtracted from the times of each run.
    """
    steps_of: dict[str, list[list[int]]] = {}
    for run in runs:
        for name, trail in run.items():
            steps_of.setdefault(name, []).append(trail.steps)
    stepless = [name for name, lists in steps_of.items() if not any(map(any, lists))]
    numbered = [name for name in stepless if max(map(len, steps_of[name])) > 1]
    repeated: dict[str, None] = {}
    parts: list[dict[str, Series]] = []
    for run, start in zip(runs, starts, strict=True):
        columns: dict[str, tuple[array[int], array[float], array[float]]] = {}
        for name, trail in run.items():
            steps: Iterable[int] = trail.steps
            if name in stepless:
                steps = range(len(trail.steps)) if name in numbered else [NO_STEP] * len(trail.steps)
            if len(set(steps)) < len(trail.steps):
                repeated[name] = None
            times = array("d", (time - start for time in trail.times))
            columns[name] = array("q", steps), array("d", trail.values), times
        parts.append({name: in_order(series) for name, series in series_of(columns, None).items()})
    notes = note_on(numbered, "logged without a step: numbered in the order of logging")
    notes += note_on(repeated, "logged more than once at a step: the last value counts")
    return parts, tuple(notes)


def in_order(series: Series) -> Series:
    """Of several values at one step the last one stands; what stood at no step follows the others."""
    steps = [math.inf if step is None else step for step in series.steps]
    if all(one < other for one, other in itertools.pairwise(steps)):
        return series
    last = {step: index for index, step in enumerate(series.steps)}
    order = [last[step] for step in sorted(last, key=lambda step: (step is None, step or 0))]
    return Series(
        tuple(series.steps[index] for index in order),
        tuple(series.values[index] for index in order),
        tuple(series.times[index] for index in order) if series.times else (),
    )


def note_on(names: Iterable[str], text: str) -> list[str]:
    """A note on what became of these runs or metrics; none where there are none."""
    listed = list(names)
    return [f"{first_few(listed, MOST_NAMED)}: {text}"] if listed else []


def flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Values under their names, those of nested tables under `outer.inner`."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def as_params(values: Mapping[str, object]) -> dict[str, str]:
    """Settings under flat names, as text: what is no text is JSON."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in flatten(values)}


def settings(values: Mapping[str, str]) -> tuple[dict[str, str], dict[str, int]]:
    """Settings of a run that may be stored (no secrets), and those among them that are seeds."""
    seeds = {
        name: int(value)
        for name, value in values.items()
        if is_seed(name) and value.isascii() and value.isdigit() and len(value) < 19
    }
    return redact_variables(values), seeds


def is_seed(name: str) -> bool:
    """Whether a setting of this name seeds a random generator: `seed`, `train.data-seed`, `random_state`."""
    return name.lower().replace("-", "_").rpartition(".")[2].endswith(("seed", "random_state"))


@contextlib.contextmanager
def reading(address: str) -> Iterator[None]:
    """Raises InputError where the system does not let a file be read."""
    try:
        yield
    except OSError as error:
        place = error.filename or address
        raise InputError(f"reading {place}: {error.strerror or error}", "check its permissions") from error


@contextlib.contextmanager
def calling(package: str, doing: str, hint: str) -> Iterator[None]:
    """Call the library of a tracker, without its warnings.

    Raises:
        InputError: it is not installed, or raised an exception, which may be of any type.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except ImportError as error:
        raise InputError(
            f"{doing}: the package {error.name or package} is not installed here, or cannot be imported",
            f"install it beside deviate: pip install --upgrade {package}",
        ) from error
    except Exception as error:
        text = redact(" ".join(str(error).split()))[:LONGEST_MESSAGE] or type(error).__name__
        raise InputError(f"{doing}: {text}", hint) from error


def split_aggregates(runs: Iterable[RunT]) -> tuple[list[RunT], list[str]]:
    """The runs of training, without those that `deviate report --to` wrote, and a note on these."""
    listed = list(runs)
    aggregates = (run.label for run in listed if run.is_aggregate)
    return [run for run in listed if not run.is_aggregate], note_on(aggregates, "written by deviate report, left out")

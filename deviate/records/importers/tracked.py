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
from typing import Any, TypeVar

from deviate.base.redaction import redact, redact_variables
from deviate.errors import InputError
from deviate.model.records import Series, Status
from deviate.model.texts import first_few
from deviate.records.columns import NO_STEP, series_of
from deviate.records.importers import Imported, ImportedRun

MOST_NAMED = 5
LONGEST_MESSAGE = 200
CURE = "restore it, or move it away to go on without it"
LOST = "killed or still running, so the run does not count"
TORN = "the last line is incomplete, left out"
REPLACED = (
    "started again: from its first step on, a later file replaces earlier values; if each is a run, name the files"
)


Point = tuple[int, float, float]
"""Step as the script gave it to the tracker, NO_STEP for what belongs to the run as a whole; value; time in seconds."""


@dataclass(slots=True)
class TrackedRun:
    """A run as a tracker has it; an importer adds what its format has beside.

    Attributes:
        name: what the user called it; empty where nobody did.
        started: seconds since the epoch, 0 where that is not known.
        trails: the values of each metric in the order in which they were logged.
        params: its settings, secrets included. facts: what it ran on.
        sweep: the search over settings that started it, empty where none did.
        labels: how its author filed it in the tracker, such as its group there.
        is_aggregate: `deviate report --to` wrote it.
        n_replaced: values that a later start of the run replaced.
        torn: metrics whose last value on file is not whole, and left out.
    """

    id: str
    name: str = ""
    status: Status = "completed"
    started: float = 0.0
    wall_time_s: float = 0.0
    trails: dict[str, list[Point]] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    sweep: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    is_aggregate: bool = False
    n_replaced: int = 0
    torn: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.name or self.id

    def log(self, name: str, step: int, value: float, time: float) -> None:
        """Append a value to a metric. Raises ValueError for an invalid step."""
        if not NO_STEP <= step < -NO_STEP:
            raise ValueError(f"not a step: {str(step)[:20]}")
        self.trails.setdefault(name, []).append((step, value, time))

    def cut(self, name: str, step: int) -> None:
        """Remove the values of a metric at `step` or later, because training resumed from there."""
        before = self.trails.get(name, [])
        self.trails[name] = [point for point in before if point[0] < step]
        self.n_replaced += len(before) - len(self.trails[name])


RunT = TypeVar("RunT", bound=TrackedRun)


@dataclass(frozen=True, slots=True)
class TrackedProject:
    """Runs that were filed together in a tracker.

    Attributes:
        address: as it was given, without secrets.
        form: name of the tracker.
        prefix: what stands before the names of settings among the facts of a run.
        load: reads the measurements of a run into its trails, None where they were read with it. Raises InputError.
        has_clock_times: whether measurements have the time of day, not the seconds since their run started.
        notes: sentences for the user on what was left out.
    """

    address: str
    name: str
    form: str
    prefix: str
    runs: Sequence[TrackedRun]
    load: Callable[[Any], None] | None = None
    has_clock_times: bool = True
    notes: Sequence[str] = ()

    def as_experiment(self, *sources: Path, arguments: tuple[str, ...] = ()) -> Imported:
        """All runs as one experiment, read from files, or again by `deviate import` with arguments.

        Raises:
            InputError: the measurements of the runs cannot be read.
        """
        if self.load is not None:
            with reading(self.address):
                for run in self.runs:
                    self.load(run)
        series, of_steps = as_series(self.runs, has_clock_times=self.has_clock_times)
        labels = [run.label for run in self.runs]
        imported = []
        for run, its_series in zip(self.runs, series, strict=True):
            label = run.label if labels.count(run.label) == 1 else f"{run.label} ({run.id})"
            params, seeds = settings(run.params)
            facts = {**run.facts, **{f"{self.prefix}{name}": value for name, value in params.items()}}
            imported.append(ImportedRun(label, its_series, run.status, run.started, run.wall_time_s, facts, seeds))
        notes = (
            *self.notes,
            *note_on((run.label for run in self.runs if run.status == "lost"), LOST),
            *note_on((run.label for run in self.runs if run.n_replaced), REPLACED),
            *note_on((f"{name} of {run.label}" for run in self.runs for name in run.torn), TORN),
            *of_steps,
        )
        return Imported(self.name, self.form, sources, tuple(imported), notes=notes, arguments=arguments)


def as_series(runs: Sequence[TrackedRun], *, has_clock_times: bool) -> tuple[list[dict[str, Series]], list[str]]:
    """The series of all runs, and notes on what was made of steps.

    Trackers write step 0 where the script gives none. So what stands at step 0 in every run is a score of the run, or,
    where there is more than one, is numbered in the order of logging. Of several values at one other step the last one
    stands, as everywhere in deviate; steps may be below 0.
    """
    trails_of: dict[str, list[list[Point]]] = {}
    for run in runs:
        for name, points in run.trails.items():
            trails_of.setdefault(name, []).append(points)
    stepless = [name for name, trails in trails_of.items() if not any(step for trail in trails for step, *_ in trail)]
    numbered = [name for name in stepless if max(map(len, trails_of[name])) > 1]
    repeated: dict[str, None] = {}
    parts: list[dict[str, Series]] = []
    for run in runs:
        start = run.started if has_clock_times else 0.0
        columns: dict[str, tuple[array[int], array[float], array[float]]] = {}
        for name, points in run.trails.items():
            steps: Sequence[int] = [step for step, *_ in points]
            if name in stepless:
                steps = range(len(points)) if name in numbered else [NO_STEP] * len(points)
            if len(set(steps)) < len(steps):
                repeated[name] = None
            values = array("d", (value for _, value, _ in points))
            columns[name] = array("q", steps), values, array("d", (time - start for *_, time in points))
        parts.append({name: in_order(series) for name, series in series_of(columns, None).items()})
    notes = note_on(numbered, "logged without a step: numbered in the order of logging")
    return parts, notes + note_on(repeated, "logged more than once at a step: the last value counts")


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


def read_settings(path: Path) -> dict[str, str]:
    """The values in a file of YAML or JSON under flat names, as they are written; tags of types are passed over.

    Raises:
        InputError: the file is damaged, or the package `pyyaml` is not installed.
    """
    with calling("pyyaml", f"reading {path}", CURE):
        import yaml

        values = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506  it makes only texts
    return as_params(values) if isinstance(values, dict) else {}


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


def trained(runs: Iterable[RunT]) -> tuple[list[RunT], list[str]]:
    """The runs of training, without those that `deviate report --to` wrote, and a note on these."""
    listed = list(runs)
    aggregates = (run.label for run in listed if run.is_aggregate)
    return [run for run in listed if not run.is_aggregate], note_on(aggregates, "written by deviate report, left out")

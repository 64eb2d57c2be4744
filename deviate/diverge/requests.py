"""Pairs of runs that should be equal: starts them, executes them, and reads them back with their traces."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from deviate.diverge.compare import without_idle
from deviate.diverge.findings import Difference
from deviate.diverge.levels import Window
from deviate.diverge.traces import Trace, read_traces
from deviate.errors import InputError
from deviate.model.plan import Snapshot, Variant
from deviate.model.records import Run
from deviate.model.texts import numbered
from deviate.project.begin import begin_experiment, name_of
from deviate.project.prepare import PreparedScript
from deviate.records.experiments import read
from deviate.records.plans import on_record
from deviate.replay.experiments import PreparedExperiment, Request
from deviate.replay.variants import STREAMS

SUFFIX = "-diverge"
LONGEST_STEM = 60
ENDED = frozenset({"completed", "diverged"})
"""Statuses of runs whose training reached its end."""

WHOLE = Window()

Execute = Callable[[Sequence[PreparedExperiment]], object]
"""Executes the missing runs of experiments, with visible progress."""


@dataclass(frozen=True, slots=True)
class RunSide:
    """The script, label and environment of one of the two runs.

    Attributes:
        label: name of the run if both differ, part of the name of its experiment.
        environment: variables for this run only.
    """

    prepared: PreparedScript
    label: str = ""
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DivergeRequest:
    """The user's request for a comparison.

    Attributes:
        base: name of the experiment of the first level; the names of the others begin with it.
        sides: one for both runs, or two.
        request: request of the variant, apart from its name and number of runs.
        tolerance: units in the last place that still count as equal.
        level_limit_s: time limit of each level after the first; None for the default.
        folder: the `.deviate/` folder.
        snapshots: of each side, once it was frozen: later pairs take them over.
    """

    base: str
    sides: tuple[RunSide, ...]
    request: Request
    tolerance: int
    folder: Path
    snapshots: tuple[Snapshot, ...] = ()
    level_limit_s: float | None = None

    @property
    def variant(self) -> Variant:
        return self.request.variants[0]

    @property
    def labels(self) -> tuple[str, str]:
        """Names of the two runs."""
        return (self.sides[0].label, self.sides[1].label) if len(self.sides) > 1 else ("run 0", "run 1")


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of recorded runs.

    Attributes:
        names: the experiments of both.
        traces: of each the processes that train together, by rank.
        snapshots: snapshots of the runs; none for runs recorded earlier.
    """

    names: tuple[str, ...]
    runs: tuple[Run, Run]
    traces: tuple[tuple[Trace, ...], tuple[Trace, ...]]
    snapshots: tuple[Snapshot, ...] = ()

    @property
    def failed(self) -> tuple[Run, ...]:
        """Runs whose training did not complete normally."""
        return tuple(run for run in self.runs if run.status not in ENDED)

    @property
    def n_steps(self) -> int:
        """Updates that both runs completed."""
        return min((max((trace.n_steps for trace in side), default=0) for side in self.traces), default=0)

    @property
    def n_ranks(self) -> int:
        """Number of processes that trained together."""
        return max((len(side) for side in self.traces), default=1) or 1

    @property
    def wall_time_s(self) -> float:
        return sum(run.wall_time_s for run in self.runs)

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of records in both runs."""
        tables = [trace.records for side in self.traces for trace in side]
        return frozenset(records.heads[number][0] for records in tables for number in set(records.head))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the traces on operations that tracing itself affects, without duplicates."""
        notes: dict[str, dict[str, None]] = {}
        for trace in self.traces[0]:
            records = trace.records
            note_of = {number: str(more["note"]) for number, more in enumerate(records.mores) if "note" in more}
            for head, more in zip(records.head, records.more, strict=True) if note_of else ():
                if more in note_of:
                    notes.setdefault(note_of[more], {})[records.heads[head][1]] = None
        return tuple(f"{', '.join(names)}: {note}" for note, names in notes.items())


def is_cut(difference: Difference, pair: Pair) -> bool:
    """Whether the difference only consists of a failed run that ended early and lacks later records."""
    lacks = difference.phase == "program" and difference.is_other_gone
    return lacks and difference.only_in is not None and pair.runs[2 - difference.only_in] in pair.failed


def ending(run: Run) -> str:
    """How a run ended, and why, in words."""
    return f"{run.status.replace('_', ' ')}: {run.reason}"


def refuse_varied(variant: Variant) -> None:
    """Raise InputError for a variant whose runs get different seeds, as they differ by design."""
    streams = [stream for stream in variant.varied if stream in STREAMS]
    if streams:
        raise InputError(
            f"--variant {variant.name} gives the two runs different seeds for {', '.join(streams)}",
            "choose a variant that varies no stream: --variant as-is, control or impl",
        )


def free_base(folder: Path, script: Path, name: str | None, labels: Sequence[str]) -> str:
    """A name for a new comparison that no recorded experiment uses.

    Args:
        labels: of its sides, empty for one side.

    Raises:
        InputError: the name that the user gave is taken.
    """
    plans, damaged = on_record(folder)
    names = [*(plan.name for plan in plans), *damaged]
    stem = name or name_of(script)[:LONGEST_STEM] + SUFFIX

    def is_taken(base: str) -> bool:
        side_names = [_experiment_name(base, label) for label in labels]
        return any(name == side_name or name.startswith(f"{side_name}.") for name in names for side_name in side_names)

    if name is not None and is_taken(name):
        raise InputError(
            f"an experiment named {name} exists already",
            f"choose another --name; deviate diverge {name}:0 {name}:1 compares the recorded runs",
        )
    return next(base for base in numbered(stem) if not is_taken(base))


def _experiment_name(base: str, label: str) -> str:
    return f"{base}-{label}" if label else base


def run_pair(
    request: DivergeRequest,
    suffix: str,
    execute: Execute,
    level: int,
    window: Window = WHOLE,
    *,
    kept_record: str = "",
    variant: Variant | None = None,
    environment: tuple[tuple[str, str], ...] = (),
    timeout_s: float | None = None,
    beside: Run | None = None,
) -> Pair:
    """Execute two new runs that should be equal, or one, and read their traces.

    Args:
        suffix: of the names of their experiments.
        level, window: what is traced, and at which updates. From the second level on, runs end without the commands
            after the training.
        kept_record: the record whose numbers are kept: kind, name and ordinal with "|" between.
        variant, environment: instead of the one that was asked for, and beyond the variables that were.
        timeout_s: of each run, if the user has set no shorter one.
        beside: the run that a single new one is compared with.

    Raises:
        InputError, RunError, RecordError, KeyboardInterrupt: as when an experiment begins, and is carried out.
    """
    capture = {
        "trace": str(level),
        "trace-from": str(window.first or ""),
        "trace-until": "" if window.until is None else str(window.until),
        "trace-keep": kept_record,
        "trace-sums": "on" if request.tolerance else "",  # of two environments, whose checksums cannot agree
    }
    settings = request.request.settings
    if timeout_s is not None:
        shorter_s = timeout_s if settings.timeout_s is None else min(timeout_s, settings.timeout_s)
        settings = dataclasses.replace(settings, timeout_s=shorter_s)
    chosen = variant or request.variant
    experiments = []
    for side, like in zip_longest(request.sides, request.snapshots):
        variables = {**dict(request.request.environment), **dict(side.environment), **dict(environment)}
        of_side = dataclasses.replace(
            request.request,
            runs=2 if beside is None and len(request.sides) == 1 else 1,
            variants=(chosen,),
            environment=tuple(variables.items()),
            capture=tuple((name, text) for name, text in capture.items() if text),
            settings=settings,
            needs_metrics=False,
        )
        name = f"{_experiment_name(request.base, side.label)}{suffix}"
        target = side.prepared.target
        target = dataclasses.replace(target, then=target.then if level == 1 else ())
        prepared = dataclasses.replace(side.prepared, target=target)
        experiments.append(begin_experiment(prepared, of_side, request.folder, name=name, like=like))
    execute(experiments)
    names = [f"{experiment.name}:{chosen.name}" for experiment in experiments]
    runs = [run for experiment in read(request.folder, names) for run in experiment.runs]
    runs = runs if beside is None else [beside, *runs]
    if len(runs) < 2:
        raise InputError(f"only {len(runs)} of 2 runs of {names[0]} are recorded", "run the command again")
    snapshots = tuple(experiment.snapshot for experiment in experiments)
    first, second = runs[0], runs[1]
    traces = without_idle(read_traces(first.folder), read_traces(second.folder))
    return Pair(tuple(names), (first, second), traces, snapshots)

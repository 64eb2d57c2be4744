"""What runs take in time, disk and machines, by runs on record."""

import math
import re
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from deviate.errors import InputError, RecordError
from deviate.model.plan import Settings
from deviate.project.begin import name_of
from deviate.project.prepare import PreparedScript
from deviate.records.layout import snapshot_folder
from deviate.records.plans import Plan, find_experiment, list_experiments
from deviate.replay.capture_options import is_trace, with_defaults
from deviate.replay.cleanup import disk_space
from deviate.replay.experiments import PreparedExperiment, Request
from deviate.replay.protocol import RunUpdate
from deviate.replay.states import RunState, ended_runs
from deviate.report.format import counted, duration, size_text

ENDS = 2
"""Work copies of a variant that `--keep best` leaves: the best run's and the worst one's."""
ENOUGH = 2
"""Runs of which the cost is told, where the first one has just shown it."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one run takes, by completed runs of an experiment.

    Attributes:
        wall_time_s: their mean, in seconds.
        n_bytes: on disk, of the latest one without its work copy. n_work: of that; 0 where it was removed.
    """

    wall_time_s: float
    n_bytes: int = 0
    n_work: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of one variant of an experiment.

    Attributes:
        n_runs: wanted in all. n_done: of them on record at the beginning of the call.
        cost: None where no run that is known to do the same has completed.
    """

    experiment: str
    variant: str
    n_runs: int
    n_done: int
    cost: RunCost | None

    @property
    def n_missing(self) -> int:
        return max(0, self.n_runs - self.n_done)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is still to be run in a call, with what it takes.

    Attributes:
        folder: that the records are written to.
    """

    sides: tuple[Side, ...]
    settings: Settings
    folder: Path

    @property
    def n_missing(self) -> int:
        return sum(side.n_missing for side in self.sides)

    @property
    def is_known(self) -> bool:
        return all(side.cost is not None for side in self.sides)

    def text(self) -> str:
        """`10 runs: 90 h, 21 GB, 1 GPU`: time, disk space and machines; empty where no run is missing."""
        if not self.n_missing:
            return ""
        if not self.is_known:
            return "known after the first run"
        more = "more " if any(side.n_done for side in self.sides) else ""
        runs = f"{self.n_missing} {more}{'run' if self.n_missing == 1 else 'runs'}"
        return f"{runs}: {_span(self.time_s)}, {size_text(self.n_bytes)}, {self._machines()}"

    @property
    def time_s(self) -> float:
        """Seconds until the last run has ended; where a scheduler decides how many run at a time, of computing."""
        total_s = math.fsum(side.n_missing * side.cost.wall_time_s for side in self.sides if side.cost is not None)
        if self._n_slots is None or not self.n_missing:
            return total_s
        return total_s / self.n_missing * math.ceil(self.n_missing / self._n_slots)

    @property
    def n_bytes(self) -> int:
        """Bytes on disk that the runs leave."""
        total = 0
        for side in self.sides:
            n_copies = {"all": side.n_missing, "best": min(ENDS, side.n_missing)}.get(self.settings.keep, 0)
            total += side.n_missing * side.cost.n_bytes + n_copies * side.cost.n_work if side.cost is not None else 0
        return total

    def shortage(self) -> str:
        """A sentence where the disk has not enough space for the runs that are missing; empty where it has."""
        place = next(place for place in (self.folder, *self.folder.parents) if place.exists())
        free = shutil.disk_usage(place).free
        if not self.is_known or self.n_bytes <= free:
            return ""
        return f"the runs leave {size_text(self.n_bytes)} on {place}, which has {size_text(free)} free: try --keep none"

    @property
    def _n_slots(self) -> int | None:
        """Runs at a time; None where a scheduler decides."""
        from deviate.replay.slots import slots

        return len(slots(self.settings)) if self.settings.executor == "local" else None

    def _machines(self) -> str:
        if self._n_slots is None:
            return f"on {self.settings.executor}"
        if self.settings.gpus:
            return counted(len(self.settings.gpus), "GPU")
        return f"{self._n_slots} at a time"


def foresee(requests: Mapping[str | None, tuple[PreparedScript, Request]], folder: Path) -> Outlook:
    """What requested runs take, by the latest runs on record of the same command.

    Args:
        folder: the `.deviate/` folder, which need not be there.
    """
    plans = list_experiments(folder)
    first, request = next(iter(requests.values()))  # of several scripts all but the command is the same

    @cache
    def ended_of(name: str) -> list[RunState]:
        try:
            return ended_runs(find_experiment(folder, name))
        except (InputError, RecordError):  # a folder that was copied or renamed, or a damaged record
            return []

    @cache
    def is_current(name: str) -> bool:
        from deviate.instrument.snapshot import is_current as is_snapshot_current

        try:
            return is_snapshot_current(snapshot_folder(find_experiment(folder, name)), first.target.root)
        except (InputError, RecordError):
            return False

    sides: list[Side] = []
    for name, (script, wanted) in requests.items():
        alike = [plan.name for plan in plans if _is_alike(plan, script, wanted)]
        chosen, stem = name or wanted.name, name_of(Path(script.analysis.script))
        grown = next((one for one in alike if _may_grow(one, chosen, stem) and is_current(one)), None)
        recorded = ended_of(grown) if grown else []
        for variant in wanted.variants:
            costs = (_cost_by(ended_of(one), variant.name) for one in reversed(alike))
            n_done = _n_done(recorded, variant.name, wanted.runs)
            sides.append(
                Side(grown or chosen or stem, variant.name, wanted.runs, n_done, next(filter(None, costs), None))
            )
    return Outlook(tuple(sides), request.settings, folder)


def outlook_of(
    experiments: Sequence[PreparedExperiment],
    settings: Settings,
    *,
    variants: Sequence[str] = (),
    runs: int | None = None,
) -> Outlook:
    """What is missing of experiments takes, by runs of their own; arguments are as in `fair_order`."""
    sides = []
    for experiment in experiments:
        ended = ended_runs(experiment.folder)
        for variant in experiment.plan.variants:
            if variants and variant.name not in variants:
                continue
            n_runs = variant.n_runs if runs is None else min(runs, variant.n_runs)
            n_done, cost = _n_done(ended, variant.name, n_runs), _cost_by(ended, variant.name)
            sides.append(Side(experiment.name, variant.name, n_runs, n_done, cost))
    return Outlook(tuple(sides), settings, experiments[0].folder)


def _may_grow(experiment: str, chosen: str | None, stem: str) -> bool:
    """Whether an experiment has the name that is asked for, or one that is made from the script's."""
    return experiment == chosen if chosen else experiment == stem or experiment.startswith(f"{stem}-")


def _is_alike(plan: Plan, script: PreparedScript, request: Request) -> bool:
    """Whether runs of a plan do what is requested, of this code or of another state of it."""
    target = script.target
    is_same = (plan.command, plan.cwd, plan.then, plan.wrap) == (target.command, target.cwd, target.then, request.wrap)
    capture = with_defaults(request.capture)
    return not plan.imported and is_same and (plan.environment, plan.capture) == (request.environment, capture)


def _cost_by(ended: Sequence[RunState], variant: str) -> RunCost | None:
    """By the completed runs of the variant, else by all completed ones; None where there are none."""
    completed = [run for run in ended if run.status == "completed"]
    chosen = [run for run in completed if run.variant == variant] or completed
    if not chosen:
        return None
    _, latest = max((run.started, run.folder) for run in chosen if run.folder is not None)
    work = latest / "work"
    n_work = disk_space(work) if work.is_dir() else 0
    mean_s = statistics.fmean(run.wall_time_s for run in chosen)
    return RunCost(mean_s, disk_space(latest) - n_work, n_work)


def _n_done(ended: Sequence[RunState], variant: str, n_runs: int) -> int:
    """Runs of a variant among the first so many."""
    return sum(run.variant == variant and run.replicate < n_runs for run in ended)


@dataclass(slots=True)
class FirstCost:
    """Accepts updates on runs, and tells once what the others take, when the first one of each experiment has ended."""

    experiments: Sequence[PreparedExperiment]
    outlook: Outlook
    _ended: set[Path] = field(default_factory=set)
    _is_over: bool = False

    def __post_init__(self) -> None:
        is_traced = any(is_trace(experiment.plan.capture) for experiment in self.experiments)
        self._is_over = self.outlook.is_known or is_traced  # a traced run takes longer, or ends early

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        if self._is_over or not update.is_completed:
            return None
        self._ended.add(update.order.experiment)
        if not self._ended >= {experiment.folder for experiment in self.experiments}:
            return None
        self._is_over = True
        ended = {experiment.name: ended_runs(experiment.folder) for experiment in self.experiments}
        sides = [replace(side, cost=_cost_by(ended[side.experiment], side.variant)) for side in self.outlook.sides]
        outlook = replace(self.outlook, sides=tuple(sides))
        if outlook.n_missing < ENOUGH:
            return None
        return "; ".join(filter(None, (f"cost: {outlook.text()}", outlook.shortage())))


def _span(seconds: float) -> str:
    """A duration without a second unit that is zero, and in hours below a hundred of them.

    >>> _span(97_200), _span(3600)
    ('27 h', '1 h')
    """
    if 24 <= seconds / 3600 < 100:
        return f"{seconds / 3600:.0f} h"
    return re.sub(r" 0 (?:s|min|h)$", "", duration(seconds))

"""What runs take, in time and on disk, by runs on record: before the first run as far as it is known, and after it."""

import heapq
import math
import re
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from deviate.base.texts import first_few
from deviate.errors import InputError, RecordError
from deviate.model.estimates import VERDICT_RUNS
from deviate.model.plan import Settings
from deviate.project.begin import name_of
from deviate.project.prepare import PreparedScript
from deviate.records.layout import snapshot_folder
from deviate.records.plans import Plan, find_experiment, list_experiments
from deviate.replay.capture_options import is_trace, with_defaults
from deviate.replay.cleanup import disk_space
from deviate.replay.experiments import PreparedExperiment, Request
from deviate.replay.protocol import RunUpdate
from deviate.replay.states import EndedRun, ended_runs
from deviate.report.format import counted, duration, size_text

MARGIN = 1.1
"""A budget that is proposed is so many times what the runs took: copies are made as well, and some runs are slower."""
ENDS = 2
"""Work copies of a variant that `--keep best` leaves: the best run's and the worst one's."""
MOST_NAMED = 3
ENOUGH = 2
"""Runs of which the whole is told apart from one."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one run takes, by completed runs of an experiment.

    Attributes:
        wall_time_s: their mean, in seconds, of which totals are multiples.
        n_bytes: on disk, of the latest one without its work copy. n_work: of that; None where it was removed.
        n_runs: completed runs.
        is_current: whether they are of the code as it is now.
    """

    experiment: str
    wall_time_s: float
    n_bytes: int = 0
    n_work: int | None = None
    n_runs: int = 0
    is_current: bool = True


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of one variant of an experiment.

    Attributes:
        n_runs: wanted in all. n_done: of them on record at the beginning of the call.
        n_most: in all, where a rule may add some.
        cost: None where no run that is known to do the same has completed.
    """

    experiment: str
    variant: str
    n_runs: int
    n_done: int
    n_most: int
    cost: RunCost | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is still to be run in a call, with what it takes.

    Attributes:
        folder: that the records are written to.
        budget_s: seconds for all runs of the call, None for no limit.
    """

    sides: tuple[Side, ...]
    settings: Settings
    folder: Path
    budget_s: float | None = None

    @property
    def n_missing(self) -> int:
        return sum(max(0, side.n_runs - side.n_done) for side in self.sides)

    @property
    def n_done(self) -> int:
        return sum(side.n_done for side in self.sides)

    @property
    def is_known(self) -> bool:
        return all(side.cost is not None for side in self.sides)

    @property
    def costs(self) -> tuple[RunCost, ...]:
        """The costs that are known."""
        return tuple(side.cost for side in self.sides if side.cost is not None)

    def text(self, *, has_sources: bool = False) -> str:
        """`one run 9 h, 2.1 GB kept; 10 runs 90 h on 1 GPU, 21 GB`; empty where no run is wanted.

        Args:
            has_sources: say whose runs tell it.
        """
        if not self.n_missing:
            return f"none: {self.n_done} on record, no more runs" if self.n_done else ""
        if not self.is_known:
            return f"known after the first run{self._limit_text()}"
        kept = [self._kept(cost) for cost in self.costs]
        one = f"one run {_between([cost.wall_time_s for cost in self.costs], _span)}"
        sizes = [float(n_bytes) for n_bytes in kept if n_bytes is not None]
        if len(sizes) == len(kept):
            one += f", {_between(sizes, lambda n_bytes: size_text(round(n_bytes)))} kept"
        parts = [one]
        if self.n_missing > 1 or self.n_done:
            parts.append(self._total_text([side.n_runs for side in self.sides]))
        if any(side.n_most > side.n_runs for side in self.sides):
            parts.append(f"at most {self._total_text([side.n_most for side in self.sides])}")
        parts += self._budget_text()
        return "; ".join(parts) + (f" (by {self.sources()})" if has_sources else "")

    def sources(self) -> str:
        """`5 runs of base`: whose runs tell the cost."""
        texts = [
            f"{counted(cost.n_runs, 'run')} of {cost.experiment}{'' if cost.is_current else ', of other code'}"
            for cost in self.costs
        ]
        return first_few(list(dict.fromkeys(texts)), MOST_NAMED)

    def shortage(self) -> str:
        """A sentence where the disk has not enough space for the runs that are missing; empty where it has."""
        if not self.is_known or not self.n_missing:
            return ""
        n_work = 0 if self.settings.keep == "none" else 1
        needed = sum(
            max(0, side.n_runs - side.n_done) * (side.cost.n_bytes + n_work * (side.cost.n_work or 0))
            for side in self.sides
            if side.cost is not None
        )
        place = next(place for place in (self.folder, *self.folder.parents) if place.exists())
        free = shutil.disk_usage(place).free
        if needed <= free:
            return ""
        cure = "" if self.settings.keep == "none" else "; --keep none keeps no work copies of completed runs"
        runs = counted(self.n_missing, "run")
        return f"{runs} will take {size_text(needed)} on the disk of {place}, which has {size_text(free)} free{cure}"

    def affordable(self) -> int:
        """Runs of each side, those on record included, that end within the budget."""
        ended = [side.n_done for side in self.sides]
        for index, end in self._ends([side.n_runs for side in self.sides]):
            ended[index] += self.budget_s is None or end <= self.budget_s
        return min(ended)

    def needed_s(self, n_runs: int | None = None) -> float:
        """Seconds until each side has so many runs, as far as so many are wanted; all that are without a number."""
        return self._end_s([side.n_runs if n_runs is None else min(n_runs, side.n_runs) for side in self.sides])

    def filled(self) -> "Outlook":
        """With the mean of the known times for sides that have none; at least one is known."""
        mean_s = statistics.fmean(cost.wall_time_s for cost in self.costs)
        usual = RunCost("", mean_s)
        return replace(self, sides=tuple(replace(side, cost=side.cost or usual) for side in self.sides))

    def _end_s(self, n_runs: Sequence[int]) -> float:
        """Seconds until the last of so many runs has ended."""
        return max((end for _, end in self._ends(n_runs)), default=0.0)

    def _ends(self, n_runs: Sequence[int]) -> list[tuple[int, float]]:
        """Side and end in seconds of each run that is missing, as they are started replicate by replicate."""
        times = [
            (index, side.cost.wall_time_s)
            for replicate in range(max(n_runs, default=0))
            for index, side in enumerate(self.sides)
            if side.cost is not None and side.n_done <= replicate < n_runs[index]
        ]
        free = [0.0] * (self._n_slots or max(1, len(times)))
        ends = []
        for index, time_s in times:
            ends.append((index, heapq.heappop(free) + time_s))
            heapq.heappush(free, ends[-1][1])
        return ends

    @property
    def _n_slots(self) -> int | None:
        """Runs at a time; None where a scheduler decides."""
        from deviate.replay.slots import slots

        return len(slots(self.settings)) if self.settings.executor == "local" else None

    def _kept(self, cost: RunCost) -> int | None:
        """Bytes of one run that stay on disk; None where they are not known."""
        if self.settings.keep != "all":
            return cost.n_bytes
        return None if cost.n_work is None else cost.n_bytes + cost.n_work

    def _total_text(self, n_runs: Sequence[int]) -> str:
        """Number, time and disk space of the runs that are missing of so many."""
        missing = [max(0, n - side.n_done) for n, side in zip(n_runs, self.sides, strict=True)]
        more = "more " if self.n_done else ""
        time_s = self._end_s(n_runs)
        if self._n_slots is None:
            time_s = math.fsum(n * cost.wall_time_s for n, cost in zip(missing, self.costs, strict=True))
        done = f"{self.n_done} on record, " if self.n_done else ""
        text = (
            f"{done}{sum(missing)} {more}{'run' if sum(missing) == 1 else 'runs'} {_span(time_s)}{self._devices_text()}"
        )
        n_bytes = [self._kept_of(n, cost) for n, cost in zip(missing, self.costs, strict=True)]
        return text if None in n_bytes else f"{text}, {size_text(sum(n for n in n_bytes if n is not None))}"

    def _kept_of(self, n_runs: int, cost: RunCost) -> int | None:
        kept = self._kept(cost)
        if kept is None or (self.settings.keep == "best" and cost.n_work is None):
            return None
        return n_runs * kept + (min(ENDS, n_runs) * (cost.n_work or 0) if self.settings.keep == "best" else 0)

    def _devices_text(self) -> str:
        if self._n_slots is None:
            return " of computing"
        if self.settings.gpus:
            return f" on {counted(len(self.settings.gpus), 'GPU')}"
        return f", {self._n_slots} at a time" if self._n_slots > 1 else ""

    def _limit_text(self) -> str:
        if self.settings.timeout_s is None:
            return ""
        limit = RunCost("", self.settings.timeout_s)
        most = replace(self, sides=tuple(replace(side, cost=limit) for side in self.sides))
        runs = f", all within {_span(most.needed_s())}" if self.n_missing > 1 else ""
        return f"; --timeout ends each after {_span(self.settings.timeout_s)}{runs}"

    def _budget_text(self) -> Iterator[str]:
        if self.budget_s is None or (n := self.affordable()) >= min(side.n_runs for side in self.sides):
            return
        short = f", and a verdict takes {VERDICT_RUNS}" if n < VERDICT_RUNS else ""
        yield f"--budget {budget_text(self.budget_s)} gives {_of_each(n, self.sides)}{short}"


# What is known before the first run: of experiments that are to begin or to grow, and of those on record.


def foresee(requests: Mapping[str | None, tuple[PreparedScript, Request]], folder: Path) -> Outlook:
    """What requested runs take, by runs on record of the same command.

    Runs of the experiment that will grow come first, then those of the same code, then the latest ones.

    Args:
        folder: the `.deviate/` folder, which need not be there.
    """
    plans = list_experiments(folder)
    first, request = next(iter(requests.values()))  # of several scripts all but the command is the same

    @cache
    def ended_of(name: str) -> list[EndedRun]:
        try:
            return list(ended_runs(find_experiment(folder, name)))
        except InputError:  # a folder that was copied or renamed
            return []

    @cache
    def is_current(name: str) -> bool:
        from deviate.instrument.snapshot import is_current as is_snapshot_current

        try:
            snapshot = snapshot_folder(find_experiment(folder, name))
            return is_snapshot_current(snapshot, first.target.root)
        except (InputError, RecordError):
            return False

    sides: list[Side] = []
    for name, (script, wanted) in requests.items():
        alike = [plan.name for plan in plans if _is_alike(plan, script, wanted)]
        chosen, stem = name or wanted.name, name_of(Path(script.analysis.script))
        names = re.compile(re.escape(chosen) if chosen else rf"{re.escape(stem)}(-\d+)?")
        grown = next((one for one in alike if names.fullmatch(one) and is_current(one)), None)
        recorded = ended_of(grown) if grown else []
        sources = sorted(alike, key=lambda one: (one == grown, is_current(one)))
        most = max(wanted.runs, wanted.sample_size.most, *wanted.sample_size.looks, 0)
        for variant in wanted.variants:
            costs = (_cost_by(source, ended_of(source), variant.name) for source in reversed(sources))
            cost = next(filter(None, costs), None)
            if cost is not None:
                cost = replace(cost, is_current=is_current(cost.experiment))
            n_done = _n_done(recorded, variant.name, wanted.runs)
            sides.append(Side(grown or chosen or stem, variant.name, wanted.runs, n_done, most, cost))
    return Outlook(tuple(sides), request.settings, folder, request.budget_s)


def refuse_short_budget(outlook: Outlook) -> None:
    """Raise InputError where a budget gives fewer runs of each side than a verdict takes, and than were asked for.

    Runs on record tell it where they were made of the code as it is now: another code may be faster.
    """
    is_sure = outlook.is_known and all(cost.is_current for cost in outlook.costs)
    shortfall = _shortfall(outlook) if is_sure else None
    if shortfall is None:
        return
    message, larger = shortfall
    n = outlook.affordable()
    fewer = f", or --runs {n} for a description without a verdict" if n else ""
    raise InputError(f"{message} (by {outlook.sources()} on record)", f"write --budget {larger}{fewer}")


def _shortfall(outlook: Outlook) -> tuple[str, str] | None:
    """A sentence on a budget that gives too few runs of each side, and a budget that gives enough; None if it does."""
    target = min(VERDICT_RUNS, *(side.n_runs for side in outlook.sides))
    if outlook.budget_s is None or (n := outlook.affordable()) >= target:
        return None
    takes = _between([cost.wall_time_s for cost in outlook.costs], _span)
    wanted = f"a verdict takes {VERDICT_RUNS}" if target == VERDICT_RUNS else f"--runs asks for {target}"
    sentence = f"--budget {budget_text(outlook.budget_s)} gives {_of_each(n, outlook.sides)}, and {wanted}"
    return f"{sentence}: one run takes {takes}", budget_text(MARGIN * outlook.needed_s(target))


def outlook_of(
    experiments: Sequence[PreparedExperiment],
    settings: Settings,
    *,
    variants: Sequence[str] = (),
    runs: int | None = None,
    budget_s: float | None = None,
) -> Outlook:
    """What is missing of experiments takes, by runs of their own; arguments are as in `fair_order`."""
    sides = []
    for experiment in experiments:
        ended = list(ended_runs(experiment.folder))
        for variant in experiment.plan.variants:
            if variants and variant.name not in variants:
                continue
            n_runs = variant.n_runs if runs is None else min(runs, variant.n_runs)
            n_done, cost = _n_done(ended, variant.name, n_runs), _cost_by(experiment.name, ended, variant.name)
            sides.append(Side(experiment.name, variant.name, n_runs, n_done, n_runs, cost))
    return Outlook(tuple(sides), settings, experiments[0].folder, budget_s)


def _is_alike(plan: Plan, script: PreparedScript, request: Request) -> bool:
    """Whether runs of a plan do what is requested, of this code or of another state of it."""
    target = script.target
    is_same = (plan.command, plan.cwd, plan.then, plan.wrap) == (target.command, target.cwd, target.then, request.wrap)
    capture = with_defaults(request.capture)
    return not plan.imported and is_same and (plan.environment, plan.capture) == (request.environment, capture)


def _cost_by(name: str, ended: Sequence[EndedRun], variant: str) -> RunCost | None:
    """By the completed runs of the variant, else by all completed ones; None where there are none."""
    completed = [run for run in ended if run.result.status == "completed"]
    chosen = [run for run in completed if run.variant == variant] or completed
    if not chosen:
        return None
    latest = max(chosen, key=lambda run: run.result.started).attempt
    work = latest / "work"
    n_work = disk_space(work) if work.is_dir() else None
    mean_s = statistics.fmean(run.result.wall_time_s for run in chosen)
    return RunCost(name, mean_s, disk_space(latest) - (n_work or 0), n_work, len(chosen))


def _n_done(ended: Sequence[EndedRun], variant: str, n_runs: int) -> int:
    """Runs of a variant among the first so many."""
    return sum(run.variant == variant and run.replicate < n_runs for run in ended)


# What the first run of a call shows.


@dataclass(slots=True)
class FirstCost:
    """Accepts updates on runs, and tells once what runs take, when the first one of each experiment has ended.

    Attributes:
        least: runs of each side for which a budget has to suffice; 0 where any number is welcome.
    """

    experiments: Sequence[PreparedExperiment]
    outlook: Outlook
    least: int = 0
    _ended: set[str] = field(default_factory=set)
    _is_over: bool = False
    _halt: str = ""

    def __post_init__(self) -> None:
        is_traced = any(is_trace(experiment.plan.capture) for experiment in self.experiments)
        self._is_over = self.outlook.is_known or is_traced  # a traced run takes longer, or ends early

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        if self._is_over or update.kind != "finished" or update.status in {"lost", "cancelled"}:
            return None
        self._ended.add(update.experiment)
        if update.status == "completed":
            self.outlook = self._with_costs()
        if not self.outlook.costs:
            return None
        outlook = self.outlook.filled()
        if self.least and (shortfall := _shortfall(outlook)):
            self._is_over = True
            self._halt = self._halt_text(*shortfall, outlook.affordable())
            return None
        self._is_over = self._ended >= {experiment.folder.name for experiment in self.experiments}
        if not self._is_over or self.outlook.n_missing < ENOUGH:
            return None
        shortage = self.outlook.shortage()
        return f"cost: {outlook.text()}" + (f"; {shortage}" if shortage else "")

    def halt(self) -> str:
        """Why no more runs are to be started, once; empty where they are."""
        reason, self._halt = self._halt, ""
        return reason

    def _with_costs(self) -> Outlook:
        ended = {experiment.name: list(ended_runs(experiment.folder)) for experiment in self.experiments}
        sides = (
            replace(side, cost=_cost_by(side.experiment, ended[side.experiment], side.variant))
            for side in self.outlook.sides
        )
        return replace(self.outlook, sides=tuple(sides))

    def _halt_text(self, sentence: str, larger: str, n: int) -> str:
        now = f"--budget {budget_text(self.outlook.budget_s or 0)}"
        if len(self.experiments) > 1:
            fewer = f", or {now} --runs {n} for no verdict" if n else ""
            return f"No new runs: {sentence}. Go on: the same command with --budget {larger}{fewer}."
        fewer = f", or with {now} for no verdict" if n else ""
        return f"No new runs: {sentence}. Go on: deviate resume {self.experiments[0].name} --budget {larger}{fewer}."


# Words.

HOUR_S, DAY_S = 3600.0, 86_400.0
LONGEST_SECONDS = 1200.0
LONGEST_MINUTES = 2 * HOUR_S
"""Longest times that a budget is written in seconds, and in minutes."""


def budget_text(seconds: float) -> str:
    """A time as `--budget` takes it, never less.

    >>> budget_text(90), budget_text(3600), budget_text(178_200), budget_text(7201)
    ('90s', '1h', '49.5h', '2.1h')
    """
    if seconds % HOUR_S == 0:
        return f"{seconds / HOUR_S:.0f}h"
    if seconds <= LONGEST_SECONDS:
        return f"{math.ceil(seconds)}s"
    if seconds < LONGEST_MINUTES:
        return f"{math.ceil(seconds / 60)}m"
    return f"{math.ceil(seconds / 360) / 10:g}h"


def _span(seconds: float) -> str:
    """A duration without a second unit that is zero, and in hours below a hundred of them."""
    if DAY_S <= seconds < 100 * HOUR_S:
        return f"{seconds / HOUR_S:.0f} h"
    return re.sub(r" 0 (?:s|min|h)$", "", duration(seconds))


def _between(values: Sequence[float], text: Callable[[float], str]) -> str:
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"


def _of_each(n: int, sides: Sequence[Side]) -> str:
    runs = counted(n, "run") if n else "no run"
    return f"{runs} of each" if n and len(sides) > 1 else runs

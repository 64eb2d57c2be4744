"""What all displays tell: runs by state, progress of running ones, an estimate of the remaining time, and means."""

import collections
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deviate.model.estimates import Unavailable
from deviate.model.records import Status
from deviate.replay.live_estimates import Mean
from deviate.replay.protocol import RunUpdate
from deviate.replay.states import Expected
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    counted,
    decimals,
    duration,
    name_text,
    number,
    shorten_middle,
    with_unit,
)

LONGEST_UNIT = 40


@dataclass(slots=True)
class RunPace:
    """Speed of the completed runs of one experiment."""

    n_steps: int | None = None
    total_s: float = 0.0
    n_timed: int = 0

    @property
    def mean_s(self) -> float | None:
        return self.total_s / self.n_timed if self.n_timed else None


@dataclass(slots=True)
class Running:
    """A running run, with its start time by the clock of the tally."""

    began: float
    update: RunUpdate


@dataclass(slots=True)
class Tally:
    """Counts runs and estimates when they will have ended.

    Attributes:
        n_runs: of all experiments and variants together, those on record included.
        jobs: runs at a time.
        finished: run to its last update; one that was lost and is started anew is not among them.
        n_retried: how often a run was started anew.
    """

    n_runs: int
    jobs: int
    expected: Sequence[Expected]
    clock: Callable[[], float]
    running: dict[Path, Running] = field(default_factory=dict)
    finished: dict[Path, RunUpdate] = field(default_factory=dict)
    n_retried: int = 0
    n_on_record: int = 0
    began: float = 0.0
    _paces: dict[str, RunPace] = field(default_factory=lambda: collections.defaultdict(RunPace))

    def __post_init__(self) -> None:
        self.began = self.clock()
        self.n_on_record = sum(expectation.n_done for expectation in self.expected)
        for expectation in self.expected:
            has_times = expectation.mean_s is not None
            self._paces[expectation.experiment] = RunPace(
                expectation.n_steps, expectation.mean_s or 0.0, int(has_times)
            )

    def take(self, update: RunUpdate) -> None:
        """Process an update of a run."""
        run, pace = update.order.run, self._paces[_experiment(update)]  # one that was not announced counts as well
        if update.outcome is None:
            if self.finished.pop(run, None) is not None:
                self.n_retried += 1
            if run not in self.running or update.kind == "started":
                self.running[run] = Running(self.clock() - update.wall_time_s, update)
            else:
                self.running[run].update = update
            return
        self.running.pop(run, None)
        self.finished[run] = update
        if update.is_completed:
            pace.total_s, pace.n_timed = pace.total_s + update.outcome.wall_time_s, pace.n_timed + 1
            if update.step is not None:
                pace.n_steps = max(pace.n_steps or 0, update.step + 1)

    @property
    def _ended(self) -> collections.Counter[Status]:
        return collections.Counter(update.outcome.status for update in self.finished.values() if update.outcome)

    @property
    def n_done(self) -> int:
        """Runs that need not be executed again: completed or failed, in this call or before."""
        n_open = self._ended["lost"] + self._ended["cancelled"]
        return self.n_on_record + self._ended.total() - n_open

    @property
    def n_waiting(self) -> int:
        return max(0, self.n_runs - self.n_on_record - len(self.finished) - len(self.running))

    def name(self, update: RunUpdate) -> str:
        """The displayed name of a run, with that of its experiment if there are several."""
        experiment = f"{clean(_experiment(update))}:" if len(self._paces) > 1 else ""
        return f"{experiment}{clean(update.order.spec.variant)} replicate {update.order.spec.replicate}"

    def counts(self) -> str:
        """Runs by state, without empty states; `completed` includes recorded runs of any outcome."""
        ended = self._ended
        n_failed = sum(n for status, n in ended.items() if status not in {"completed", "lost", "cancelled"})
        states = [
            (len(self.running), "running"),
            (self.n_waiting, "waiting"),
            (n_failed, "failed"),
            (ended["lost"], "lost"),
            (self.n_retried, "started anew"),
            (ended["cancelled"], "cancelled"),
        ]
        return " · ".join([f"{self.n_done} of {self.n_runs} done", *(f"{n} {word}" for n, word in states if n)])

    def progress(self, update: RunUpdate) -> tuple[int, int | None] | None:
        """The current main-loop step of a run, from 1, and the total number; None before the loop."""
        if update.step is None:
            return None
        n_steps = self._paces[_experiment(update)].n_steps
        return update.step + 1, n_steps if n_steps is not None and n_steps > update.step else None

    def left_s(self) -> float | None:
        """Estimated seconds until all runs have ended; None if there is no basis, or nothing is left.

        A run is assumed to take as long as the average completed run of its experiment; before the first one has
        completed, the time is extrapolated from its steps.
        """
        now = self.clock()
        rests: list[float] = []
        wholes: dict[str, list[float]] = collections.defaultdict(list)
        for running_run in self.running.values():
            elapsed = max(0.0, now - running_run.began)
            whole = self._whole(running_run.update, elapsed)
            if whole is None:
                rests.append(0.0)
            else:
                rests.append(max(0.0, whole - elapsed))
                wholes[_experiment(running_run.update)].append(whole)
        if self.running and not wholes and not any(pace.n_timed for pace in self._paces.values()):
            return None
        durations = {
            name: pace.mean_s if pace.mean_s is not None else _mean(wholes[name]) for name, pace in self._paces.items()
        }
        usual = _mean([each for each in durations.values() if each is not None])
        waiting = self._waiting()
        if usual is None or not (rests or any(waiting.values())):
            return None
        work = sum(rests) + sum(n * (durations.get(name) or usual) for name, n in waiting.items())
        return max([work / max(1, min(self.jobs, len(rests) + sum(map(round, waiting.values())))), *rests])

    def run_left_s(self, running_run: Running) -> float | None:
        """Estimated seconds until a running run has ended; None if there is no basis."""
        elapsed = max(0.0, self.clock() - running_run.began)
        whole = self._whole(running_run.update, elapsed)
        return None if whole is None else max(0.0, whole - elapsed)

    def forecast(self) -> str:
        """The estimate in words; empty if there is none."""
        remaining_s = self.left_s()
        return "" if remaining_s is None else f"about {duration(remaining_s)} left"

    def _whole(self, update: RunUpdate, elapsed: float) -> float | None:
        """Estimated total seconds of a run."""
        pace = self._paces[_experiment(update)]
        at = self.progress(update)
        by_steps = elapsed * at[1] / (at[0] - 1) if at and at[1] and at[0] > 1 else None
        if pace.mean_s is not None and (elapsed < pace.mean_s or by_steps is None):
            return pace.mean_s
        return by_steps

    def _waiting(self) -> dict[str, float]:
        """Waiting runs per experiment: as announced, else evenly distributed, since experiments are interleaved."""
        if self.expected and sum(expectation.n_runs for expectation in self.expected) == self.n_runs:
            n_begun = collections.Counter(_experiment(running_run.update) for running_run in self.running.values())
            n_begun.update(map(_experiment, self.finished.values()))
            return {
                expectation.experiment: max(
                    0, expectation.n_runs - expectation.n_done - n_begun[expectation.experiment]
                )
                for expectation in self.expected
            }
        names = list(self._paces) or [""]
        return dict.fromkeys(names, self.n_waiting / len(names))


def _experiment(update: RunUpdate) -> str:
    return update.order.experiment.name


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def mean_text(mean: Mean, *, has_level: bool = True) -> str:
    """`test_acc 93.41 % [95% CI 93.19 … 93.63], n = 3`: the precision so far, and no p."""
    places = None if isinstance(mean.sd, Unavailable) else decimals(mean.sd / math.sqrt(mean.n))
    value = number(mean.mean, places)
    called, unit = name_text(mean.metric), shorten_middle(clean(mean.unit), LONGEST_UNIT)
    if isinstance(mean.half_width, Unavailable):
        reason = mean.half_width.reason if mean.n > 1 else counted(mean.n, "run")
        return f"{called} {with_unit(value, unit)} ({reason})"
    level = f"{confidence_text(mean.confidence)} CI " if has_level else ""
    ends = between(mean.mean - mean.half_width, mean.mean + mean.half_width, places)
    return f"{called} {with_unit(value, unit)} [{level}{ends}], n = {mean.n}"


def place_text(mean: Mean, means: Sequence[Mean]) -> str:
    """Experiment and variant of a mean, unless there is only one."""
    experiment = clean(mean.experiment) if len({mean.experiment for mean in means}) > 1 else ""
    variant = clean(mean.variant) if len({mean.variant for mean in means}) > 1 else ""
    return ":".join(filter(None, (experiment, variant)))

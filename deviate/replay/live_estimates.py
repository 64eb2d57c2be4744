"""Estimates while experiments run: means with their precision. Each run is read once, when it has ended."""

import collections
import contextlib
import itertools
import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deviate.errors import DeviateError
from deviate.model.estimates import NOT_ASKED, Estimate, Unavailable
from deviate.model.plan import SelectedMetric, Spec
from deviate.model.records import SeedEvent
from deviate.records.layout import result_file
from deviate.records.merge_processes import measure
from deviate.records.plans import Plan, read_plan
from deviate.records.read import RunReader, open_runs
from deviate.records.runs import damaged_files
from deviate.replay.protocol import RunUpdate
from deviate.replay.states import RecordedRun, read_run, recorded_runs
from deviate.series.headline import order_of_results
from deviate.series.score import score_of

MOST_METRICS = 3
"""Maximum number of metrics that are shown during an experiment; the report has all."""
CONFIDENCE = 0.95
"""Level of the intervals that are shown during the runs."""
SINGLE = Unavailable("1 run: spread unknown")


@dataclass(frozen=True, slots=True)
class Mean:
    """Estimate of one variant in one metric. There is no p-value, as nothing is decided while runs continue.

    Attributes:
        n: runs with a score.
        sd, half_width: standard deviation, and half the width of the t interval of the mean, or why there is none.
    """

    experiment: str
    variant: str
    metric: str
    unit: str
    n: int
    mean: float
    sd: Estimate
    half_width: Estimate
    confidence: float


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of a completed run by metric, empty if it diverged, and the seeding calls of its processes."""

    attempt: Path
    variant: str
    replicate: int
    scores: dict[str, float]
    is_diverged: bool
    seeding: tuple[SeedEvent, ...] = ()


@dataclass(slots=True)
class ExperimentScores:
    """Scores of one experiment. There are none before the run that gives the series their names has ended.

    Attributes:
        runs: by name of the run's folder.
        damaged: by name of the run's folder, files that are not what they were: these runs have no scores.
    """

    experiment: Path
    metric: str | None = None
    aggregate: str | None = None
    runs: dict[str, RunScores] = field(default_factory=dict)
    damaged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plan: Plan = field(init=False)
    _reader: RunReader | None = None

    def __post_init__(self) -> None:
        self.plan = read_plan(self.experiment)

    def read(self, runs: Iterable[RecordedRun] | None = None) -> None:
        """Read the runs on record, or those of them that are given."""
        for run in recorded_runs(self.experiment) if runs is None else runs:
            self.add(run)

    def add(self, run: RecordedRun) -> None:
        """Read a run if it has ended and is not read yet."""
        name, attempt = run.folder.name, run.attempts[-1] if run.attempts else None
        if attempt is None or run.spec is None or name in self.runs:
            return
        if attempt.problem:
            self.damaged[name] = (result_file(attempt.folder).name,)
        if attempt.result is None:
            return
        self.damaged.pop(name, None)
        if attempt.result.status == "completed":
            if damaged := damaged_files(attempt.folder, attempt.result):
                self.damaged[name] = damaged  # it is to be run again, and counts then
            elif (reader := self._open()) is not None:
                self.runs[name] = self._read(reader, attempt.folder, run.spec)

    def _open(self) -> RunReader | None:
        if self._reader is None:
            self._reader = open_runs(self.experiment, self.plan)
        return self._reader

    def quality(self) -> list[SelectedMetric]:
        """Quality metrics, the primary one first."""
        reader = self._open()
        metrics = [metric for metric in reader.catalog.metrics if metric.role == "quality"] if reader else []
        return order_of_results(metrics, self.primary())

    def primary(self) -> str | None:
        """Name of the primary metric; None if there is none, or the run that decides has not ended."""
        reader = self._open()
        if self.metric is not None or reader is None:
            return self.metric
        return None if reader.primary is None else reader.primary.name

    def score_text(self, run: Path) -> str:
        """The score of a run in the primary metric, as "acc 0.9312"; empty where it is not known.

        Args:
            run: its folder.
        """
        self.add(read_run(run))
        name = self.primary()
        if name is None or run.name not in self.runs or name not in self.runs[run.name].scores:
            return ""
        return f"{name} {self.runs[run.name].scores[name]:.6g}"

    def means(self, confidence: float, most: int = MOST_METRICS, *, has_intervals: bool = True) -> tuple[Mean, ...]:
        """Estimates by variant; metrics without a score are left out.

        Args:
            has_intervals: whether to compute half-widths, which takes scipy.
        """
        from deviate.stats.estimates.sample import moments

        means = []
        for variant in self.plan.variants:
            scored = [
                run for run in self.runs.values() if run.variant == variant.name and run.replicate < variant.n_runs
            ]
            reported = [metric for metric in self.quality() if any(metric.name in run.scores for run in scored)]
            for metric in reported[:most]:
                values = [run.scores[metric.name] for run in scored if metric.name in run.scores]
                sample = moments(values)
                sd: Estimate = sample.sd if len(values) > 1 else SINGLE
                half_width: Estimate = NOT_ASKED
                if has_intervals:
                    from deviate.stats.design import precision

                    half_width = precision.half_width(values, confidence) if len(values) > 1 else SINGLE
                names = self.plan.name, variant.name, metric.name, metric.unit
                means.append(Mean(*names, len(values), sample.mean, sd, half_width, confidence))
        return tuple(means)

    def _read(self, reader: RunReader, attempt: Path, spec: Spec) -> RunScores:
        logs = reader.logs(attempt)
        series = measure(logs)
        metrics = [metric for metric in reader.catalog.metrics if metric.role == "quality" and metric.name in series]
        is_diverged = any(not math.isfinite(series[metric.name].values[-1]) for metric in metrics)
        scores = {
            metric.name: score_of(
                series, replace(metric, aggregate=self.aggregate or metric.aggregate), reader.catalog.metrics
            )
            for metric in metrics
            if not is_diverged
        }
        seeding = tuple(event for log in logs for event in log.seeds)
        available = {name: score for name, score in scores.items() if not isinstance(score, Unavailable)}
        return RunScores(attempt, spec.variant, spec.replicate, available, is_diverged, seeding)


class LiveEstimates:
    """Gives current estimates each time it is called.

    The runs on record are read once, and from then on those that were told to have ended: no call looks at a run that
    waits, is active or was read. A call reads for about `patience_s` at most. It may be called concurrently with the
    scheduler, from any thread.
    """

    def __init__(self, experiments: Sequence[Path], *, patience_s: float = 1.0) -> None:
        self._folders = tuple(experiments)
        self._patience_s = patience_s
        self._scores: dict[Path, ExperimentScores] = {}
        self._on_record: Iterator[RecordedRun] = iter(())
        self._ended: collections.deque[Path] = collections.deque()
        self._reading = threading.Lock()

    def take(self, update: RunUpdate) -> None:
        """Note a run that has ended, to read it later."""
        if update.outcome is not None:
            self._ended.append(update.order.run)

    def __call__(self) -> tuple[Mean, ...]:
        """Return the estimates. Raises RecordError if an essential file is damaged."""
        with self._reading:
            self._open()
            began = time.monotonic()
            for run in self._unread():
                scores = self._scores[run.folder.parent.parent]
                n_before = len(scores.runs)
                scores.add(run)
                if len(scores.runs) > n_before and time.monotonic() - began > self._patience_s:
                    break
            return tuple(mean for scores in self._scores.values() for mean in scores.means(CONFIDENCE))

    def score_text(self, update: RunUpdate) -> str:
        """The score of a run that has completed in the primary metric, as "acc 0.9312"; empty where it is not known."""
        if update.is_completed:
            with self._reading, contextlib.suppress(DeviateError, OSError):
                self._open()
                return self._scores[update.order.experiment].score_text(update.order.run)
        return ""

    def _open(self) -> None:
        if not self._scores:
            self._scores = {folder: ExperimentScores(folder) for folder in self._folders}
            self._on_record = itertools.chain.from_iterable(map(recorded_runs, self._folders))

    def _unread(self) -> Iterator[RecordedRun]:
        yield from self._on_record
        while self._ended:
            yield read_run(self._ended.popleft())

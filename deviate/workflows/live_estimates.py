"""Estimates while experiments run: means with their precision. Each run is read once, when it has ended."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deviate import records
from deviate.model import NOT_ASKED, Estimate, SeedEvent, SelectedMetric, Spec, Unavailable
from deviate.workflows.states import attempt_states, runs_on_record

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
    """Scores of one experiment.

    Attributes:
        runs: by name of the run's folder.
        is_whole: whether every run that has completed is among them.
        damaged: by name of the run's folder, files that are not what they were: these runs have no scores.
    """

    experiment: Path
    metric: str | None = None
    aggregate: str | None = None
    runs: dict[str, RunScores] = field(default_factory=dict)
    is_whole: bool = False
    damaged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plan: records.Plan = field(init=False)
    _catalog: records.Catalog = field(init=False)
    _manifest: records.Manifest = field(init=False)
    _specs: dict[Path, Spec] = field(default_factory=dict)
    _uncounted: set[str] = field(default_factory=set)
    _main_loop: records.MainLoop | None = None

    def __post_init__(self) -> None:
        self.plan = records.read_plan(self.experiment)
        self._manifest = records.read_manifest(records.snapshot_folder(self.experiment))
        self._catalog = records.Catalog(self._manifest, self.plan.selection, judges_items=self.plan.keeps_all_values)

    def read(self, patience_s: float = math.inf) -> None:
        """Read newly completed runs for the given number of seconds, but at least one."""
        began = time.monotonic()
        self.is_whole = False
        if self.plan.selection.primary is None:  # the first run may have named it
            self.plan = records.read_plan(self.experiment)
        for run, spec in self._unread():
            attempt = attempt_states(run)[-1:]
            result = attempt[0].result if attempt else None
            if attempt and attempt[0].problem:
                self.damaged[run.name] = (records.result_file(attempt[0].folder).name,)
            if result is None:
                continue
            self.damaged.pop(run.name, None)
            if result.status == "completed" and (damaged := records.damaged_files(attempt[0].folder, result)):
                self.damaged[run.name] = damaged
                continue  # it is to be run again, and counts then
            if result.status == "completed":
                self.runs[run.name] = self._read(attempt[0].folder, spec)
            elif result.status not in {"lost", "cancelled"}:
                self._uncounted.add(run.name)
            if time.monotonic() - began > patience_s:
                return
        self.is_whole = True

    def quality(self) -> list[SelectedMetric]:
        """Quality metrics, the primary one first."""
        metrics = [metric for metric in self._catalog.metrics if metric.role == "quality"]
        primary = self.primary()
        return sorted(metrics, key=lambda metric: metric.name != primary)

    def primary(self) -> str | None:
        """Name of the primary metric; None if there are several and none was selected."""
        from deviate.stats import find_primary

        return self.metric or find_primary(self._catalog.metrics, self.plan.selection.primary)[0]

    def means(self, confidence: float, most: int = MOST_METRICS, *, has_intervals: bool = True) -> tuple[Mean, ...]:
        """Estimates by variant; metrics without a score are left out.

        Args:
            has_intervals: whether to compute half-widths, which takes scipy.
        """
        from deviate import stats

        means = []
        for variant in self.plan.variants:
            scored = [
                run for run in self.runs.values() if run.variant == variant.name and run.replicate < variant.n_runs
            ]
            reported = [metric for metric in self.quality() if any(metric.name in run.scores for run in scored)]
            for metric in reported[:most]:
                values = [run.scores[metric.name] for run in scored if metric.name in run.scores]
                sample = stats.moments(values)
                sd: Estimate = sample.sd if len(values) > 1 else SINGLE
                half_width: Estimate = NOT_ASKED
                if has_intervals:
                    half_width = stats.half_width(values, confidence) if len(values) > 1 else SINGLE
                names = self.plan.name, variant.name, metric.name, metric.unit
                means.append(Mean(*names, len(values), sample.mean, sd, half_width, confidence))
        return tuple(means)

    def _unread(self) -> list[tuple[Path, Spec]]:
        folder = self.experiment
        fresh = {path for path in (folder / "runs").glob("*/") if path not in self._specs}
        if fresh:
            self._specs |= {run: spec for run, spec in runs_on_record(folder) if run in fresh}
        return [
            (run, spec)
            for run, spec in self._specs.items()
            if run.name not in self.runs and run.name not in self._uncounted
        ]

    def _with_aggregate(self, metric: SelectedMetric) -> SelectedMetric:
        """The metric with the aggregate that the user named, if any."""
        return metric if self.aggregate is None else replace(metric, aggregate=self.aggregate)

    def _read(self, attempt: Path, spec: Spec) -> RunScores:
        from deviate.stats import score_of

        files = [path for part in records.collect_continued(attempt) for path in records.event_files(part)]
        if self._main_loop is None:
            self._main_loop = records.confirm_main_loop(self._manifest, attempt)
        loop, found, is_whole = self._main_loop.id, self._catalog.found_by_running, self.plan.keeps_all_values
        logs = [records.read_events(path, loop, self._catalog.name, found, keeps_all=is_whole) for path in files]
        series = records.measure(logs)
        metrics = {
            metric.name: metric
            for metric in self._catalog.metrics
            if metric.role == "quality" and metric.name in series
        }
        is_diverged = any(not math.isfinite(series[name].values[-1]) for name in metrics)
        scores = {
            name: score_of(series, self._with_aggregate(metric), self._catalog.metrics)
            for name, metric in metrics.items()
            if not is_diverged
        }
        seeding = tuple(event for log in logs for event in log.seeds)
        available = {name: score for name, score in scores.items() if not isinstance(score, Unavailable)}
        return RunScores(attempt, spec.variant, spec.replicate, available, is_diverged, seeding)


class LiveEstimates:
    """Gives current estimates each time it is called.

    A call reads runs completed since the last one, for about `patience_s` at most. It may be called concurrently with
    the scheduler, from one thread at a time.
    """

    def __init__(self, experiments: Sequence[Path], *, patience_s: float = 1.0) -> None:
        self._folders = tuple(experiments)
        self._patience_s = patience_s
        self._scores: list[ExperimentScores] = []

    def __call__(self) -> tuple[Mean, ...]:
        """Return the estimates. Raises RecordError if an essential file is damaged."""
        if not self._scores:
            self._scores = [ExperimentScores(folder) for folder in self._folders]
        for scores in self._scores:
            scores.read(self._patience_s)
        return tuple(mean for scores in self._scores for mean in scores.means(CONFIDENCE))

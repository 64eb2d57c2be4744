"""What is decided between runs: whether there are enough, and whether the first ones were tested on the same data."""

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deviate.errors import DeviateError
from deviate.model.plan import Spec, Variant
from deviate.model.records import Experiment, Series
from deviate.records.events import ProcessLog, data_events
from deviate.records.experiments import read
from deviate.records.plans import change_experiment, read_plan
from deviate.records.read import read_experiment
from deviate.replay.experiments import PreparedExperiment, Request, fair_order
from deviate.replay.protocol import Order, Outcome, RunUpdate
from deviate.stats.options import AnalysisOptions


class StoppingRule:
    """Called by the scheduler when all runs have ended: returns runs to add, none if there are enough."""

    def __init__(
        self,
        experiments: Sequence[PreparedExperiment],
        variants: Sequence[str],
        request: Request,
        options: AnalysisOptions,
    ) -> None:
        self._experiments, self._variants = experiments, variants
        self._sample_size, self._options = request.sample_size, options
        self._at_a_time = request.settings.jobs
        self._n_runs = request.runs
        self._folder = experiments[0].folder.parent.parent

    def __call__(self, _: Sequence[Outcome]) -> Sequence[Order]:
        before, self._n_runs = self._n_runs, self._count_wanted()
        if self._n_runs == before:
            return ()
        grown = [_grow(experiment, self._variants, self._n_runs) for experiment in self._experiments]
        return [order for order in fair_order(grown, self._variants) if before <= order.spec.replicate < self._n_runs]

    def _count_wanted(self) -> int:
        """Number of runs per variant that are needed so far."""
        sample_size, n_runs = self._sample_size, self._n_runs
        if sample_size.precision:
            from deviate.stats.design.precision import parse_target
            from deviate.stats.interim_analysis import progress

            target, confidence = parse_target(sample_size.precision), self._options.confidence
            experiments = self._read(self._variants)
            far = [progress(one, target, confidence=confidence, min_runs=sample_size.least) for one in experiments]
            is_reached = all(progress.is_reached for progress in far)
            return n_runs if is_reached else min(sample_size.most, n_runs + self._at_a_time)
        if sample_size.looks and len(self._experiments) > 1:
            from deviate.stats.interim_analysis import is_settled, next_look
            from deviate.stats.judge import judge

            if not is_settled(judge(self._read(self._variants[:1]), self._options)):
                return next_look(sample_size.looks, n_runs) or n_runs
        return n_runs

    def _read(self, variants: Sequence[str]) -> tuple[Experiment, ...]:
        return read(self._folder, [f"{one.name}:{variant}" for one in self._experiments for variant in variants])


def _grow(experiment: PreparedExperiment, variants: Sequence[str], n_runs: int) -> PreparedExperiment:
    """Add runs to the plan of the experiment."""
    planned = tuple(
        dataclasses.replace(variant, n_runs=max(variant.n_runs, n_runs)) if variant.name in variants else variant
        for variant in read_plan(experiment.folder).variants
    )
    plan = change_experiment(experiment.folder, time=time.time(), variants=planned)
    return dataclasses.replace(experiment, plan=plan)


ENOUGH = 2
"""Runs of a variant that are looked at."""


@dataclass(slots=True)
class SameData:
    """Accepts updates on runs, and reports if the first runs of a variant had different test data.

    Data that is not known to be examples is ignored, as are variants that vary the split, and experiments of `diverge`,
    which says itself why runs differ.
    """

    experiments: Sequence[PreparedExperiment]
    _seen: dict[tuple[Path, str], list[ProcessLog]] = field(default_factory=dict)

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        if not update.is_completed:
            return None
        variant = self._variant(update)
        seen = self._seen.setdefault((update.order.experiment, update.order.spec.variant), [])
        if variant is None or "split" in variant.varied or len(seen) >= ENOUGH:
            return None
        try:
            seen.append(data_events(update.folder))
        except (DeviateError, OSError):  # reported when the records are read at the end
            return None
        return _sentence(variant, seen) if len(seen) == ENOUGH else None

    def _variant(self, update: RunUpdate) -> Variant | None:
        plans = [experiment.plan for experiment in self.experiments if experiment.folder == update.order.experiment]
        variants = (variant for plan in plans if "trace" not in dict(plan.capture) for variant in plan.variants)
        return next((variant.definition for variant in variants if variant.name == update.order.spec.variant), None)


def _sentence(variant: Variant, logs: Sequence[ProcessLog]) -> str | None:
    from deviate.series.repeatability import agreement, cure, hash_words  # numpy, which the report loads in any case

    evaluations = [tuple(dict.fromkeys(log.evaluation)) for log in logs]
    if agreement(evaluations) != "differ":
        return None
    hashed = hash_words([word for run in evaluations for word in run])
    sentence = f"{variant.name}: the first {ENOUGH} runs were not tested on the same data, by {hashed}"
    drawn = [event for log in logs for event in log.drawn]
    return f"{sentence}. {cure(variant.varied, drawn, [phrase for log in logs for phrase in log.uncontrolled])}"


Values = dict[str, Series]


@dataclass(slots=True)
class SweepEffect:
    """Accepts updates on runs, and reports once if runs with two values of the argument gave the same in all metrics.

    Runs are compared that have the same variant and replicate, and so the same seeds.
    """

    experiments: Sequence[PreparedExperiment]
    _first: dict[tuple[str, int], tuple[str, Values]] = field(default_factory=dict)
    _is_over: bool = False

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        if self._is_over or not update.is_completed:
            return None
        spec, folder = update.order.spec, update.order.experiment
        swept = next((one.plan.sweep for one in self.experiments if one.folder == folder), None)
        if swept is None:
            return None
        try:
            values = _quality_of(read_experiment(folder), spec)
        except DeviateError:  # reported when the records are read at the end
            return None
        value, others = self._first.setdefault((spec.variant, spec.replicate), (swept.value, values))
        if value == swept.value or not values:
            return None
        self._is_over = True
        if values != others:
            return None
        return (
            f"{swept.argument} changed nothing so far: the first runs with {value} and with {swept.value} reported "
            "bitwise identical values; check that the script uses it"
        )


def _quality_of(variants: Sequence[Experiment], spec: Spec) -> Values:
    """The values of one run, without times, which always differ, and settings, which may be the argument itself."""
    return {
        metric.name: run.series[metric.name]
        for variant in variants
        for run in variant.runs
        if (run.variant, run.replicate) == (spec.variant, spec.replicate)
        for metric in variant.metrics
        if metric.role == "quality" and metric.name in run.series
    }

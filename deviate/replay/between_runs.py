"""What is decided between runs: whether there are enough."""

import dataclasses
import time
from collections.abc import Sequence

from deviate.model.records import Experiment
from deviate.records.experiments import read
from deviate.records.plans import change_experiment, read_plan
from deviate.replay.experiments import PreparedExperiment, Request, fair_order
from deviate.replay.protocol import Order, Outcome
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

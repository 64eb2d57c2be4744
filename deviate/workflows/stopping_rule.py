"""Whether there are enough runs: checks precision and declared looks between runs, and adds runs."""

import dataclasses
import time
from collections.abc import Sequence

from deviate import records
from deviate.errors import InputError
from deviate.replay import Order, Outcome
from deviate.workflows.execute import fair_order
from deviate.workflows.judge import AnalysisOptions, judge_scores
from deviate.workflows.request import PreparedExperiment, Request, SampleSizeRule
from deviate.workflows.sources import read

MOST_RUNS = 30
"""Where precision decides and the user names no limit."""


def declare(
    *, until: str | None, looks: str | None, runs: int | None, least: int | None, most: int | None, confidence: float
) -> SampleSizeRule:
    """The user's declaration before the first run on the number of runs.

    Raises:
        InputError: a target or looks that cannot be read, both of them, or limits that make no sense.
    """
    if until is None and (least or most):
        raise InputError("--min-runs and --max-runs are for --until", "name a target as well, or give --runs alone")
    if until is None and looks is None:
        return SampleSizeRule()
    from deviate import stats  # half a second of scipy, which a plain run need not wait for

    if until is not None and looks is not None:
        raise InputError("--until and --looks exclude each other", "precision decides one, comparisons the other")
    if until is not None:
        first = least or runs or stats.MIN_RUNS
        last = most or max(MOST_RUNS, first)
        if last < first:
            raise InputError(f"--max-runs {last} is below --min-runs {first}", "let them rise")
        return SampleSizeRule(precision=stats.parse_target(until).text, least=first, most=last)
    plan = stats.parse_looks(looks or "", runs, confidence=confidence)
    if runs is not None and runs != plan.numbers[-1]:
        raise InputError(f"--runs {runs} is not the last of --looks {looks}", "leave --runs away, or let them agree")
    return SampleSizeRule(looks=plan.numbers, spending=plan.spending)


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
        if not sample_size.precision and not sample_size.looks:
            return n_runs
        from deviate import stats

        if sample_size.precision:
            target = stats.parse_target(sample_size.precision)
            names = [f"{experiment.name}:{variant}" for experiment in self._experiments for variant in self._variants]
            far = [
                stats.progress(experiment, target, confidence=self._options.confidence, min_runs=sample_size.least)
                for experiment in read(self._folder, names)
            ]
            return (
                n_runs
                if all(progress.is_reached for progress in far)
                else min(sample_size.most, n_runs + self._at_a_time)
            )
        if sample_size.looks and len(self._experiments) > 1:
            compared = read(
                self._folder, [f"{experiment.name}:{self._variants[0]}" for experiment in self._experiments]
            )
            if not stats.is_settled(judge_scores(compared, self._options)):
                return stats.next_look(sample_size.looks, n_runs) or n_runs
        return n_runs


def _grow(experiment: PreparedExperiment, variants: Sequence[str], n_runs: int) -> PreparedExperiment:
    """Add runs to the plan of the experiment."""
    planned = tuple(
        dataclasses.replace(variant, n_runs=max(variant.n_runs, n_runs)) if variant.name in variants else variant
        for variant in records.read_plan(experiment.folder).variants
    )
    plan = records.change_experiment(experiment.folder, time=time.time(), variants=planned)
    return dataclasses.replace(experiment, plan=plan)

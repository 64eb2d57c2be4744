"""Stopping rule: whether there are enough runs, and the progress towards that."""

from collections.abc import Sequence
from dataclasses import dataclass

from deviate.model import Estimate, Experiment, Findings, Unavailable
from deviate.stats.describe import describe_runs
from deviate.stats.design.precision import MIN_RUNS, Target, forecast, half_width, is_precise_enough
from deviate.stats.primary import require_metric

OPEN = frozenset({"undecided", "withheld"})


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an experiment towards a precision target; no p-value is involved.

    Attributes:
        n: runs with a score. n_forecast: total of such runs that are likely to be needed.
    """

    n: int
    mean: Estimate
    half_width: Estimate
    is_reached: bool
    n_forecast: int | Unavailable


def progress(experiment: Experiment, target: Target, *, confidence: float = 0.95, min_runs: int = MIN_RUNS) -> Progress:
    """The progress of an experiment, by the metric that the target names and its aggregate.

    Raises:
        InputError: the experiment has no such metric.
    """
    require_metric(target.metric, [metric.name for metric in experiment.metrics], f"experiment {experiment.name}")
    metric = next(metric for metric in experiment.metrics if metric.name == target.metric)
    description = describe_runs(experiment, metric, confidence=confidence)
    scores = description.values
    return Progress(
        n=len(scores),
        mean=description.mean,
        half_width=half_width(scores, confidence),
        is_reached=is_precise_enough(scores, target, confidence, min_runs=min_runs),
        n_forecast=forecast(scores, target, confidence, min_runs=min_runs),
    )


def next_look(looks: Sequence[int], n_runs: int) -> int | None:
    """The number of runs at the first declared look that comes after `n_runs`; None after the last."""
    return next((n for n in looks if n > n_runs), None)


def is_settled(findings: Findings) -> bool:
    """Whether every comparison has a headline verdict that no further look could change, so that runs can stop."""
    headlines = [pair.headline for pair in findings.pairs]
    return bool(headlines) and all(headline is not None and headline.verdict.word not in OPEN for headline in headlines)

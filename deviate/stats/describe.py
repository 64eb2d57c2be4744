"""Describing one metric over the runs of one experiment: level, spread and what is missing."""

import statistics
from dataclasses import replace

from deviate.model import (
    Description,
    Direction,
    Estimate,
    Experiment,
    Metric,
    Role,
    Run,
    Score,
    SelectedMetric,
    Series,
    Unavailable,
)
from deviate.stats.aggregate import aggregate_series
from deviate.stats.contention import contention
from deviate.stats.intervals import mean_interval, sd_interval
from deviate.stats.precision import precision_note, target_of
from deviate.stats.registry import statistic
from deviate.stats.sample import Values, count, moments, refusal, spread_refusal

VERDICT_RUNS = 5
"""Fewer runs than this are described, never judged."""
NO_RESULT = {"crashed": "crashed", "timed_out": "timed out", "silent": "the guest never reported"}
NOT_COUNTED = ("lost", "cancelled")
"""Runs that ended for no reason of their own: they are run again and count for nothing."""


def describe(
    values: Values, *, name: str = "value", direction: Direction | None = None, confidence: float = 0.95
) -> Description:
    """Describe the scores of runs, one value per run; values that are not finite are listed as missing."""
    series = [Series((None,), (float(value),)) for value in values]
    return _describe(
        named_metric(name, direction=direction),
        [(replicate, aggregate_series(one, "last")) for replicate, one in enumerate(series)],
        confidence,
    )


def describe_runs(experiment: Experiment, metric: SelectedMetric, *, confidence: float = 0.95) -> Description:
    """Describe one metric of an experiment after its aggregate; only completed runs give a score."""
    counted = [run for run in experiment.runs if run.status not in NOT_COUNTED]
    described = _describe(metric, [(run.replicate, _score(run, metric)) for run in counted], confidence)
    notes = [described.note]
    if metric.role == "time":
        scored = {score.replicate for score in described.scores}
        notes.append(contention(run for run in counted if run.replicate in scored))
    target = target_of(experiment)
    if target is not None and target.metric == metric.name:
        notes.append(precision_note([score.value for score in described.scores], target, confidence))
    return replace(described, note="; ".join(filter(None, notes)))


def named_metric(
    name: str, *, direction: Direction | None = None, role: Role = "quality", margin: float | None = None
) -> SelectedMetric:
    """A metric that comes from no script: scores typed in, imported or made up."""
    source = Metric(0, name, name, "", 0, "array", role, direction, (), None)
    return SelectedMetric(name, source, role, direction, margin=margin)


def _score(run: Run, metric: SelectedMetric) -> Estimate:
    if run.status in NO_RESULT:
        return Unavailable(NO_RESULT[run.status])
    score = aggregate_series(run.series.get(metric.name, Series((), ())), metric.aggregate, metric.direction)
    if run.status == "diverged":
        return Unavailable(f"diverged: {score.reason}" if isinstance(score, Unavailable) else "diverged")
    return score


def _describe(metric: SelectedMetric, outcomes: list[tuple[int, Estimate]], confidence: float) -> Description:
    scores = tuple(Score(replicate, value) for replicate, value in outcomes if not isinstance(value, Unavailable))
    missing = tuple((replicate, value.reason) for replicate, value in outcomes if isinstance(value, Unavailable))
    values = [score.value for score in scores]
    absent = Unavailable("no score")
    single = Unavailable("1 run: spread unknown") if len(values) == 1 else absent
    several = len(values) > 1
    return Description(
        metric=metric,
        scores=scores,
        n_runs=len(outcomes),
        missing=missing,
        mean=moments(values).mean if values else absent,
        mean_interval=mean_interval(values, confidence=confidence) if several else single,
        sd=moments(values).sd if several else single,
        sd_interval=sd_interval(values, confidence=confidence) if several else single,
        cv=coefficient_of_variation(values) if several else single,
        median=float(statistics.median(values)) if values else absent,
        minimum=min(values) if values else absent,
        maximum=max(values) if values else absent,
        range=max(values) - min(values) if several else single,
        note=_note(values, len(outcomes), missing),
    )


@statistic(n_samples=1, minimum=3, shift="neither", scale="ignores")
def coefficient_of_variation(values: Values) -> Estimate:
    """Standard deviation over |mean|, where the mean is a scale to measure by.

    It is one when all scores have the same sign and the 95 % interval of the mean excludes 0: a mean that the runs
    cannot tell from 0 would make the quotient arbitrarily large.
    """
    if reason := refusal(3, values):
        return reason
    sample = moments(values)
    if not (min(values) > 0 or max(values) < 0):
        return Unavailable("not defined for this metric: scores at or on both sides of 0")
    interval = mean_interval(values)
    if not isinstance(interval, Unavailable) and interval.low <= 0 <= interval.high:
        return Unavailable("not defined for this metric: mean near 0")
    return sample.sd / abs(sample.mean)


def _note(values: list[float], n_runs: int, missing: tuple[tuple[int, str], ...]) -> str:
    n = len(values)
    if n == 0:
        failed = all(reason in NO_RESULT.values() or reason.startswith("diverged") for _, reason in missing)
        return f"no completed run (0/{n_runs})" if failed else f"no run gave a score (0/{n_runs})"
    if n == 1:
        return "1 run: spread unknown"
    notes = []
    if reason := spread_refusal(values):
        notes.append(reason.reason)
    if n < VERDICT_RUNS:
        notes.append(f"{count(n, 'run')}: described, not judged (below {VERDICT_RUNS})")
    return "; ".join(notes)

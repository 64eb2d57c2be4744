"""Whether two sides can be compared in a metric: by scale, by how scores are read off, and by whose runs they are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal, NamedTuple

from deviate.model.aggregates import AT_BEST
from deviate.model.comparisons import Description
from deviate.model.findings import ExperimentFindings
from deviate.model.metric_vocabulary import BOUNDED, PLAIN_SCORES, word_set
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment
from deviate.model.texts import count
from deviate.series.score import is_telling
from deviate.series.words import words_of

Scale = Literal["percent", "fraction"]
SCALES, READ_OFF, SHARED = "the scales differ", "scores are read off differently", "the sides share runs"
NEAR_100 = (50.0, 200.0)
"""Ratio of the means of a percentage and a fraction that are the same measure of similar models."""
FEWEST_VALUES = 3
"""Values of more than three digits by which a run is recognised: fewer, or 0.95, may be equal by chance."""
FEWEST_SHARED = 2
"""Runs that both sides share from which they are no independent evidence; one may be equal by chance."""
CHOSEN = word_set("model checkpoint weights epoch params parameters estimator configuration config run threshold")
"""What may be the best of several by other data: `test accuracy of the best model`."""
BEST = "the best value"
READINGS = {
    "last": "the last value",
    "max": BEST,
    "min": BEST,
    "best": BEST,
    "mean": "the mean",
    "median": "the median",
}


class SharedRuns(NamedTuple):
    """How many runs two sides share, and the metrics that both report under one name, in which these are equal.

    A candidate that tests the same models in another way shares their losses, and not the metric in question.
    """

    n: int
    metrics: frozenset[str]


def why_apart(names: tuple[str, str], sides: tuple[Description, Description], shared: SharedRuns) -> tuple[str, str]:
    """Why no verdict is possible on two sides in one metric: in a few words, and in a sentence with what to do.

    Both are empty where a verdict is possible.

    Args:
        names, sides: of the experiments, the baseline first. shared: the runs that both have.
    """
    before, after = (side.metric for side in sides)
    if factor := scale_between(sides[0].values, sides[1].values, before):
        fraction, percentage = names if factor > 1 else names[::-1]
        return SCALES, (
            f"{before.name} looks like a fraction in {fraction} and like a percentage in {percentage}: "
            "let both scripts report the same, or compare with --scale percent"
        )
    if reading(before) != reading(after):
        return READ_OFF, (
            f"{before.name} is {reading(before)} in {names[0]}, but {after.name} is {reading(after)} in {names[1]}: "
            "compare what is read off alike, or set --aggregate"
        )
    is_of_both = {before.name, after.name} <= shared.metrics
    if is_of_both and shared.n >= FEWEST_SHARED and sides[0].scores != sides[1].scores:
        return SHARED, f"{count(shared.n, 'run')} of {names[1]} are bitwise the same as runs of {names[0]}"
    return "", ""


def scale_between(before: Sequence[float], after: Sequence[float], metric: SelectedMetric) -> float:
    """100 where `after` looks like a percentage and `before` like a fraction, 0.01 the other way round; else 0.

    A measure that ends at 1, or at 100 %, is recognised by its name. A bare score or error is one where the means are
    about a factor of 100 apart as well. Losses, returns and distances have no scale of their own.
    """
    if not before or not after or min(*before, *after) < 0:
        return 0.0
    words = words_of(f"{metric.name} {metric.metric.words}")
    is_bounded, is_plain = bool(words & BOUNDED), bool(words & PLAIN_SCORES)
    for one, other, factor in ((before, after, 100.0), (after, before, 0.01)):
        if max(one) <= 1 < max(other) <= 100 and fmean(one) > 0:
            is_near = NEAR_100[0] <= fmean(other) / fmean(one) <= NEAR_100[1]
            if (is_bounded and (min(other) > 1 or is_near)) or (is_plain and is_near):
                return factor
    return 0.0


def scale_factors(baseline: Description, candidates: Sequence[Description], scale: Scale) -> list[float]:
    """What each side's values are to be multiplied by, the baseline first, so that all have this scale.

    There are none where no side looks like a percentage and another like a fraction.
    """
    between = [scale_between(baseline.values, other.values, baseline.metric) for other in candidates]
    are_percent = [0.01 in between, *(factor == 100 or (not factor and 0.01 in between) for factor in between)]
    if not any(between) or {100.0, 0.01} <= {*between}:
        return []
    if scale == "percent":
        return [1.0 if is_percent else 100.0 for is_percent in are_percent]
    return [0.01 if is_percent else 1.0 for is_percent in are_percent]


def rescaled(experiment: Experiment, factors: Mapping[str, float], scale: Scale) -> Experiment:
    """The experiment with the values of some metrics, and what is in their unit, multiplied by a factor each."""
    changed = {name: factor for name, factor in factors.items() if factor != 1}
    notices = tuple(f"{name} is multiplied by {factor:g} (--scale {scale})" for name, factor in changed.items())
    return replace(
        experiment,
        metrics=tuple(
            _rescaled_metric(one, factors[one.name], scale) if one.name in factors else one
            for one in experiment.metrics
        ),
        runs=tuple(
            replace(
                run,
                series={
                    name: replace(series, values=[value * changed[name] for value in series.values])
                    if name in changed
                    else series
                    for name, series in run.series.items()
                },
            )
            for run in experiment.runs
        ),
        warnings=(*experiment.warnings, *notices),
    )


def _rescaled_metric(metric: SelectedMetric, factor: float, scale: Scale) -> SelectedMetric:
    margin, target = (None if value is None else value * factor for value in (metric.margin, metric.target))
    return replace(metric, unit="%" if scale == "percent" else "", margin=margin, target=target)


def reading(metric: SelectedMetric) -> str:
    """How a score is read off a run's values, in words; a value that the script calls the best is the best."""
    if metric.aggregate.startswith(AT_BEST):
        return f"the value at the best {metric.aggregate.removeprefix(AT_BEST)}"
    if metric.aggregate == "last" and is_called_best(f"{metric.name} {metric.metric.words}"):
        return BEST
    return READINGS.get(metric.aggregate, metric.aggregate)


def is_called_best(text: str) -> bool:
    """Whether a value is called the best one, and not that of the best model."""
    words = words_of(text)
    return "best" in words and not words & CHOSEN


def shared_runs(baseline: ExperimentFindings, candidate: ExperimentFindings) -> SharedRuns:
    """The runs of the candidate that reported bitwise the results of a run of the baseline.

    Runs are compared by all results that both sides report under one name. What two runs of the baseline share, as a
    constant, shows nothing.
    """
    ours, theirs = _results(baseline), _results(candidate)
    names = [name for name in ours if name in theirs]
    before, after = _scores(ours, names), _scores(theirs, names)
    # Long series are read only where scores are equal.
    alike = set(before.values()) & set(after.values())
    recorded = _values(baseline, names, [replicate for replicate in before if before[replicate] in alike])
    single = {values for values in recorded if recorded.count(values) == 1 and _is_recognised(values)}
    others = _values(candidate, names, [replicate for replicate in after if after[replicate] in alike])
    return SharedRuns(sum(values in single for values in others), frozenset(names))


def _is_recognised(values: Sequence[Sequence[float]]) -> bool:
    return sum(is_telling(value) for series in values for value in series) >= FEWEST_VALUES


def _results(findings: ExperimentFindings) -> dict[str, Description]:
    return {one.metric.name: one for one in findings.descriptions if one.metric.role == "quality"}


def _scores(results: Mapping[str, Description], names: Sequence[str]) -> dict[int, tuple[float, ...]]:
    """The scores of each run in these results, by replicate."""
    scores: dict[int, tuple[float, ...]] = {}
    for name in names:
        for score in results[name].scores:
            scores[score.replicate] = (*scores.get(score.replicate, ()), score.value)
    return scores


def _values(
    findings: ExperimentFindings, names: Sequence[str], replicates: Collection[int]
) -> list[tuple[tuple[float, ...], ...]]:
    """All values of these results in completed runs."""
    runs = [run for run in findings.experiment.runs if run.status == "completed" and run.replicate in replicates]
    return [tuple(tuple(run.series[name].values) if name in run.series else () for name in names) for run in runs]

"""The spread of a metric with and without models that are weak by a rule that was named."""

import math
from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model import Experiment, SelectedMetric, Series, Unavailable, WeakModels
from deviate.stats import aggregate_series, range_of, require_metric, sd_of

EMPTY = Series((), ())


def weak_models(experiments: Sequence[Experiment], name: str, bound: float) -> tuple[WeakModels, ...]:
    """Range and SD of a metric over the completed runs of each experiment that has it, with and without weak ones.

    Weak is a score below the bound, or above it where less of the metric is better. Leaving out runs after having seen
    them makes every spread smaller, so both figures stand beside each other.

    Raises:
        InputError: no experiment has the metric.

    Source: Pham et al. (2020), who exclude weak models without a stated rule.
    """
    names = {metric.name for experiment in experiments for metric in experiment.metrics}
    require_metric(name, sorted(names), "any experiment")
    if math.isnan(bound):
        raise InputError(f"The bound of weak models of {name} is no number.", "Give it in units of the metric.")
    return tuple(
        _of_experiment(experiment, index, metric, bound)
        for index, experiment in enumerate(experiments)
        for metric in experiment.metrics
        if metric.name == name
    )


def _of_experiment(experiment: Experiment, index: int, metric: SelectedMetric, bound: float) -> WeakModels:
    scores = {}
    for run in experiment.runs:
        score = aggregate_series(run.series.get(metric.name, EMPTY), metric.aggregate, metric.direction)
        if run.status == "completed" and not isinstance(score, Unavailable):
            scores[run.replicate] = score
    is_less_better = metric.direction == "min"
    weak = [replicate for replicate, score in scores.items() if (score > bound if is_less_better else score < bound)]
    strong = [score for replicate, score in scores.items() if replicate not in weak]
    return WeakModels(
        experiment=index,
        metric=metric.name,
        rule=f"{metric.name} {'above' if is_less_better else 'below'} {bound:g}",
        excluded=tuple(weak),
        range_all=range_of(list(scores.values())),
        sd_all=sd_of(list(scores.values())),
        range_kept=range_of(strong),
        sd_kept=sd_of(strong),
    )

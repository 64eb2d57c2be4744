"""What reported values alone say: time per main-loop step, time to convergence, spread without weak models."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deviate.errors import InputError
from deviate.model.analysis import Direction
from deviate.model.estimates import Estimate, Unavailable
from deviate.model.metric_vocabulary import split_identifier
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, Series
from deviate.model.stability import Convergence, ConvergenceRow, WeakModels
from deviate.series.headline import find_primary
from deviate.series.lookup import require_metric
from deviate.series.score import score_of
from deviate.stats.estimates.one_sample import mean_of, range_of, relative_range, sd_of
from deviate.stats.estimates.sampling import is_accuracy
from deviate.stats.hypothesis.curves import main_loop

TOLERANCE = 0.01
PATIENCE = 5
EMPTY = Series((), ())
UNTIMED = Unavailable("times were not recorded")
Floats = NDArray[np.float64]
Criterion = Callable[[Floats], int | None]
"""Maps the values of a run, larger being better, to the index at which it had converged."""


@dataclass(frozen=True, slots=True)
class _Curve:
    """What a run reported of one metric in its main loop: steps done and seconds since its start (NaN: unknown)."""

    n_steps: NDArray[np.int64]
    values: Floats
    seconds: Floats


def convergence(experiment: Experiment, index: int, *, metric: str | None = None) -> Convergence | None:
    """How long the completed runs of an experiment take; None where no metric has two values in the main loop.

    The artifact of Pham et al. (2020) has a column for the selection criterion and does not say which there are, so
    these are ours: the last step; the best value of the metric, and of a loss beside it; the first value within 1 %
    of the best; and early stopping, the first value that the next 5 do not beat.

    Args:
        index: of the experiment among those of the findings.
        metric: whose convergence is told; None for the primary one, else the first accuracy, else the first quality
            metric with a direction, that every run reported at two or more steps. Where none has a direction, only
            times are told.
    """
    runs = [run for run in experiment.runs if run.status == "completed"]
    # In order of preference, as a series is read from disk only when needed.
    metrics = _order_metrics(experiment, metric)
    chosen = next((metric for metric in metrics if _is_curve(runs, metric.name)), None)
    if chosen is None:
        return None
    curves = [_curve(run, chosen.name) for run in runs]
    step_seconds = [_step_seconds(curve) for curve in curves]
    timed = step_seconds if all(map(math.isfinite, step_seconds)) else []
    rows = [_row("last step", curves, curves, lambda values: len(values) - 1)]
    if chosen.direction is not None:
        rows += [_row(text, curves, curves, criterion, chosen.direction) for text, criterion in _criteria(chosen.name)]
        loss = next((loss for loss in _losses(experiment.metrics) if _is_curve(runs, loss.name)), chosen)
        if loss.name != chosen.name:
            losses = [_curve(run, loss.name) for run in runs]
            rows.append(_row(f"best {loss.name}", losses, curves, _best, "min"))
    replicates = tuple(run.replicate for run in runs)
    _, mean, sd, spread = _statistics(timed, UNTIMED)
    return Convergence(index, chosen.name, replicates, tuple(timed), mean, sd, spread, tuple(rows))


def _criteria(name: str) -> tuple[tuple[str, Criterion], ...]:
    return (
        (f"best {name}", _best),
        (f"within {100 * TOLERANCE:g}% of the best {name}", _near_best),
        (f"{name} not better for {PATIENCE} values", _find_stall),
    )


def _best(values: Floats) -> int | None:
    return None if np.isnan(values).all() else int(np.nanargmax(values))


def _near_best(values: Floats) -> int | None:
    best = _best(values)
    if best is None:
        return None
    return int(np.flatnonzero(values >= values[best] - TOLERANCE * abs(values[best]))[0])


def _find_stall(values: Floats) -> int | None:
    """Source: Prechelt (1998), stopping after successive checks without gain, as `EarlyStopping(patience=5)` has it."""
    best, since = None, 0
    for index, value in enumerate(values.tolist()):
        if best is None or value > values[best] or math.isnan(values[best]):
            best, since = index, 0
        else:
            since += 1
        if since == PATIENCE:
            return best
    return None


def _order_metrics(experiment: Experiment, metric_name: str | None) -> list[SelectedMetric]:
    """Metrics by preference: the named one, the primary one, accuracies, others with a direction, the rest."""
    primary = find_primary(experiment.metrics, experiment.primary)

    def place(metric: SelectedMetric) -> tuple[bool, ...]:
        is_quality = metric.role == "quality"
        of_kind = metric.name != metric_name, metric.name != primary, not is_quality, not is_accuracy(metric)
        return (metric.direction is None, *of_kind)

    return sorted(experiment.metrics, key=place)


def _losses(metrics: Sequence[SelectedMetric]) -> list[SelectedMetric]:
    """Losses, those on held-out data before that of training."""
    losses = [
        metric
        for metric in metrics
        if metric.direction == "min" and {"loss", "xent", "nll"} & set(split_identifier(metric.name))
    ]
    return sorted(losses, key=lambda metric: "train" in split_identifier(metric.name))


def _is_curve(runs: Sequence[Run], name: str) -> bool:
    """Whether every run reported the metric at least twice in its main loop."""
    series = [run.series.get(name, EMPTY) for run in runs]
    return (
        bool(runs) and all(len(one.values) > 1 for one in series) and all(len(main_loop(one)[1]) > 1 for one in series)
    )


def _curve(run: Run, name: str) -> _Curve:
    steps, values, times = main_loop(run.series.get(name, EMPTY))
    seconds = times if len(times) == len(values) else np.full(len(values), np.nan)
    return _Curve(steps + 1, values, seconds)


def _step_seconds(curve: _Curve) -> float:
    """Mean over the steps after the first recorded one, which includes start-up; NaN if times are not recorded."""
    n_steps = int(curve.n_steps[-1] - curve.n_steps[0])
    return float((curve.seconds[-1] - curve.seconds[0]) / n_steps) if n_steps else math.nan


def _row(
    text: str,
    curves: Sequence[_Curve],
    scored: Sequence[_Curve],
    criterion: Criterion,
    direction: Direction | None = "max",
) -> ConvergenceRow:
    sign = -1.0 if direction == "min" else 1.0
    minima = [criterion(np.where(np.isfinite(curve.values), sign * curve.values, np.nan)) for curve in curves]
    steps = [None if at is None else int(curve.n_steps[at]) for at, curve in zip(minima, curves, strict=True)]
    seconds = [
        None if at is None or not np.isfinite(curve.seconds[at]) else float(curve.seconds[at])
        for at, curve in zip(minima, curves, strict=True)
    ]
    times = [duration for duration in seconds if duration is not None]
    reached = [step for step in steps if step is not None]
    nobody = Unavailable("no run converged") if not reached else UNTIMED
    return ConvergenceRow(
        text,
        tuple(steps),
        tuple(seconds),
        *_statistics(times, nobody),
        steps_relative_range=relative_range(reached) if reached else nobody,
        scores=tuple(None if step is None else _score(one, step) for step, one in zip(steps, scored, strict=True)),
    )


def _statistics(seconds: Sequence[float], missing: Unavailable) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Range, mean, SD and range relative to the smallest."""
    if not seconds:
        return missing, missing, missing, missing
    return range_of(seconds), mean_of(seconds), sd_of(seconds), relative_range(seconds)


def _score(curve: _Curve, n_steps: int) -> float | None:
    """The last value reported up to this step; None if it is not finite."""
    until = curve.values[curve.n_steps <= n_steps]
    return float(until[-1]) if len(until) and np.isfinite(until[-1]) else None


def weak_models(experiments: Sequence[Experiment], name: str, bound: float) -> tuple[WeakModels, ...]:
    """Range and SD of a metric over the completed runs of each experiment that has it, with and without weak ones.

    Weak is a score below the bound, or above it where less of the metric is better. Leaving out runs after having seen
    them makes every spread smaller, so both figures stand beside each other.

    Raises:
        InputError: no experiment has the metric.

    Source: Pham et al. (2020), who exclude weak models without a stated rule.
    """
    names = {metric.name for experiment in experiments for metric in experiment.metrics}
    require_metric(name, sorted(names))
    if math.isnan(bound):
        raise InputError(f"The bound of weak models for {name} is not a number.", "Give it in units of the metric.")
    return tuple(
        _of_experiment(experiment, index, metric, bound)
        for index, experiment in enumerate(experiments)
        for metric in experiment.metrics
        if metric.name == name
    )


def _of_experiment(experiment: Experiment, index: int, metric: SelectedMetric, bound: float) -> WeakModels:
    scores = {}
    for run in experiment.runs:
        score = score_of(run.series, metric, experiment.metrics)
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

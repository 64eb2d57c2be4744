"""Compares two runs from start to end, as far as records allow: reported values, losses and final weights."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import Difference, DivergenceFindings, Growth, RungFindings, Unit
from deviate.diverge.levels import Window
from deviate.diverge.moments import Moments
from deviate.diverge.printed import VOLATILE, compare_printed
from deviate.diverge.requests import Pair, is_cut
from deviate.diverge.traces import Trace
from deviate.diverge.ulps import are_within, value_ulps
from deviate.model.records import Experiment, Run, Series
from deviate.model.texts import first_few
from deviate.series.repeatability import values_by_place, weights_agreement
from deviate.series.score import is_telling
from deviate.series.words import MEASURES, kind_of, words_of

MOST_POINTS = 400
"""Maximum number of points per quantity, evenly on a logarithmic scale of steps counted from the first difference."""
END = "final weights"


@dataclass(frozen=True, slots=True)
class Quantities:
    """What two runs are compared by.

    Attributes:
        names: of reported quantities, the primary one first.
        is_told: whether results or weights tell trainings apart, so that other numbers do not count.
        counts_fractions: whether printed numbers with decimals count all the same.
    """

    names: tuple[str, ...]
    is_told: bool
    counts_fractions: bool = False

    @classmethod
    def of(cls, experiment: Experiment) -> "Quantities":
        """Measures, and where these say too little other numbers that both runs report, such as counts.

        Clocks do not count, nor does what the system gives each process.
        """
        runs = experiment.runs
        metrics = [metric for metric in experiment.metrics if VOLATILE.isdisjoint(metric.name.split("_"))]
        series = {
            metric.name: [run.series[metric.name] for run in runs if metric.name in run.series] for metric in metrics
        }
        results = [
            metric for metric in metrics if metric.role == "quality" and is_measured(metric.name, series[metric.name])
        ]
        is_told = weights_agreement(runs) != "not reached" or any(
            is_telling(value) for metric in results for one in series[metric.name] for value in one.values
        )
        others = [
            one for one in metrics if one.role != "time" and one not in results and len(series[one.name]) == len(runs)
        ]
        ordered = [*sorted(results, key=lambda metric: not metric.is_primary), *(() if is_told else others)]
        return cls(tuple(metric.name for metric in ordered), is_told)


def is_measured(name: str, every: Sequence[Series]) -> bool:
    """Whether a series is a measure or a loss by its name: an unknown word may stand for anything."""
    is_whole = all(value.is_integer() for series in every for value in series.values)
    text = name.replace("_", " ")
    return kind_of(text, is_whole=is_whole) in ("result", "loss") and bool(words_of(text) & MEASURES)


def compare_ends(
    pair: Pair, quantities: Quantities, *, tolerance: int, is_second_ended: bool = False
) -> DivergenceFindings:
    """Compare both runs; the result has the first level, and what was compared.

    Args:
        tolerance: units in the last place of single precision that still count as equal; with one, weights do not
            count, of which there is a hash alone.
        is_second_ended: whether deviate ended the second run early: what it lacks is no difference, nor are the values
            of its last step of the main loop, which may be those of an earlier moment.
    """
    mine, theirs = pair.runs
    are_whole = not pair.failed and not is_second_ended
    weights = weights_agreement(pair.runs) if are_whole else "not reached"
    in_both = tuple(name for name in quantities.names if name in mine.series and name in theirs.series)
    in_one = {name for name in quantities.names if (name in mine.series) != (name in theirs.series)}
    if are_whole:
        in_both = without_clocked(in_both, pair.runs, are_weights_equal=weights == "equal")
    counted = {*in_both, *(name for name in in_one if not is_under_another_name(name, pair))}
    reported = tuple(name for name in quantities.names if name in counted)
    reported, n_steps = (in_both, _last_step(theirs, in_both)) if is_second_ended else (reported, None)
    comparison = compare_traces(*pair.traces, "metrics", tolerance_ulps=tolerance)
    loss, metric = comparison.difference, _first_metric(pair, reported, tolerance, n_steps)
    if loss is not None and is_cut(loss, pair):
        loss = None
    if metric is not None:
        is_missing = bool(pair.failed) and metric.phase == "program"
        metric = None if is_missing else dataclasses.replace(metric, step=update_of(metric, pair))
    if metric is None and weights == "equal":
        loss = None  # of a training that was thrown away, such as a warm-up
    n_values = sum(
        None not in values
        for name in in_both
        for _, *values in _side_by_side(mine.series[name], theirs.series[name], n_steps)
    )
    first, n_printed, passed_over = _earlier(loss, metric), 0, tuple[str, ...]()
    if not tolerance and first is None:
        if not pair.failed:
            is_told = quantities.is_told or comparison.n_compared > 0
            n_printed, first, passed_over = compare_printed(
                pair, is_told=is_told, counts_fractions=quantities.counts_fractions
            )
        if first is None and weights == "differ":
            first = Difference("metrics", "update", None, None, "weights", END)
    parts = {
        "metrics": n_values,
        "losses": comparison.n_compared,
        "weights": weights != "not reached" and not tolerance,
        "printed numbers": n_printed and not n_values,
    }
    compared = ", ".join(name for name, is_there in parts.items() if is_there)
    losses = growth_of_losses(pair.traces[0][0], pair.traces[1][0]) if all(pair.traces) else ()
    level = RungFindings(
        "metrics",
        n_runs=2,
        n_steps=comparison.n_steps if comparison.n_compared else _main_steps(pair, reported),
        n_compared=(n_values or n_printed) + comparison.n_compared,
        wall_time_s=pair.wall_time_s,
        difference=first,
        by_rank=comparison.by_rank if first is loss else (),
    )
    return DivergenceFindings(
        is_equal=False if first is not None else True if compared and not pair.failed else None,
        what=compared,
        n_steps=level.n_steps,
        unit="update" if comparison.n_compared or weights != "not reached" else "main-loop step",
        n_metrics=len(reported),
        n_values=n_values or n_printed,
        weights=weights,
        tolerance_ulps=tolerance,
        rungs=(level,),
        growth=tuple(growth for growth in (*losses, *growth_of_metrics(mine, theirs, reported)) if growth.steps),
        ranks=pair.n_ranks,
        notes=(f"numbers that are no results differ: {first_few(passed_over, 3)}",)
        if passed_over and first is None
        else (),
    )


def without_clocked(names: Sequence[str], runs: tuple[Run, Run], *, are_weights_equal: bool) -> tuple[str, ...]:
    """The quantities without those that come by the clock, at other steps in each run.

    Only where equal weights, or an equal result that is reported at the same steps, tell that the trainings are equal.
    """
    mine, theirs = (run.series for run in runs)
    steady = tuple(name for name in names if mine[name].steps == theirs[name].steps)
    is_told = any(mine[name] == theirs[name] and any(map(is_telling, mine[name].values)) for name in steady)
    return steady if are_weights_equal or is_told else tuple(names)


def is_under_another_name(name: str, pair: Pair) -> bool:
    """Whether the other run reported the same values under a name that it has alone.

    A name may hold what is drawn anew in each run: `crimson_sponge_acc`.
    """
    for run, other in (pair.runs, pair.runs[::-1]):
        if name in run.series and name not in other.series:
            return run.series[name] in (other.series[one] for one in other.series if one not in run.series)
    return False


def update_of(difference: Difference, pair: Pair) -> int | None:
    """The update for the main-loop step of a difference: its last one; None if unknown."""
    if difference.step is not None or difference.main_step is None or not pair.traces[0]:
        return difference.step
    trace = pair.traces[0][0]
    if not len(trace.records):
        # Steps of the main loop are used, unless a framework counted updates that have no record on this level.
        n_main = 1 + max(_last_step(run, tuple(run.series)) for run in pair.runs)
        return difference.main_step if difference.main_step <= trace.n_steps <= n_main else None
    steps = [
        record.step
        for record in trace.records
        if record.main_step is not None and record.main_step <= difference.main_step
    ]
    return max(steps, default=None)


def window_beyond(difference: Difference | None, pair: Pair, n_beyond: int) -> Window:
    """The updates in which further runs show whether they are equal up to a difference of a pair and beyond it.

    Args:
        n_beyond: updates beyond it, or steps of the main loop where a metric differs.
    """
    if difference is None or difference.step is None or not pair.traces[0]:
        return Window()
    records, last = pair.traces[0][0].records, difference.step + n_beyond
    if difference.kind != "metric" or not len(records):
        return Window(0, last + 1)
    main_step = (difference.main_step or 0) + n_beyond
    later = (step for step, main in zip(records.steps, records.main_steps, strict=True) if main > main_step)
    return Window(0, min(later, default=None))


def _main_steps(pair: Pair, names: Sequence[str]) -> int:
    """Main-loop steps that both runs reached, used as updates if none were reported."""
    steps = [[step for name in names if name in run.series for step in run.series[name].steps] for run in pair.runs]
    return max(
        pair.n_steps, min(max((step for step in of_run if step is not None), default=-1) for of_run in steps) + 1
    )


def _earlier(loss: Difference | None, metric: Difference | None) -> Difference | None:
    """The earlier difference; in the same main-loop step the loss, on which other values usually depend."""
    if loss is None or metric is None:
        return loss or metric
    if loss.main_step is None or metric.main_step is None:
        return loss
    return loss if loss.main_step <= metric.main_step else metric


def _last_step(run: Run, names: Sequence[str]) -> int:
    """The last step of the main loop with a value; 0 without any."""
    return max((step for name in names for step in run.series[name].steps if step is not None), default=0)


def _first_metric(pair: Pair, names: Sequence[str], tolerance: int, n_steps: int | None) -> Difference | None:
    (mine, theirs), moments = pair.runs, Moments(pair)
    candidates: list[tuple[float, int, Difference]] = []
    for order, name in enumerate(names):
        one, other = mine.series.get(name), theirs.series.get(name)
        difference = _first_value(name, one, other, tolerance, n_steps)
        if difference is None or _is_reordered(one, other):
            continue
        if not (difference.values and moments.explain(difference.values)):
            step = difference.main_step
            candidates.append((math.inf if step is None else step, order, difference))
    return min(candidates, key=lambda candidate: candidate[:2])[2] if candidates else None


def _is_reordered(mine: Series | None, theirs: Series | None) -> bool:
    """Whether both runs reported the same values in another order, as parallel work does."""
    if mine is None or theirs is None or len(mine.values) != len(theirs.values):
        return False
    return all(map(is_same, sorted(mine.values), sorted(theirs.values)))


def _first_value(
    name: str, mine: Series | None, theirs: Series | None, tolerance: int, n_steps: int | None
) -> Difference | None:
    """The first value in the main loop that differs or is missing in one run; else the first outside of it."""
    outside: Difference | None = None
    for n_equal, (step, one, other) in enumerate(_side_by_side(mine, theirs, n_steps)):
        if one is not None and other is not None:
            if is_same(one, other) or (tolerance and are_within(one, other, tolerance)):
                continue
            size, values = value_ulps(one, other), (one, other)
            difference = Difference(
                "metrics", "metric", None, step, "metric", name, values=values, ulps=size, n_equal=n_equal
            )
        else:
            only_in: Literal[1, 2] = 1 if other is None else 2
            difference = Difference(
                "metrics", "program", None, step, "metric", name, only_in=only_in, instead="nothing reported"
            )
        if step is not None:
            return difference
        outside = outside or difference
    return outside


def _side_by_side(
    mine: Series | None, theirs: Series | None, n_steps: int | None
) -> Iterator[tuple[int | None, float | None, float | None]]:
    """Values of both series at the same position within a main-loop step, and at the same one outside of the loop.

    Args:
        n_steps: steps of which values that both have are compared, and no others; None for all values.
    """
    one, other = values_by_place(mine), values_by_place(theirs)
    places = one.keys() | other.keys()
    if n_steps is not None:
        places = {place for place in one.keys() & other.keys() if not place[0] and place[1] < n_steps}
    for place in sorted(places):
        yield None if place[0] else place[1], one.get(place), other.get(place)


def growth_of_losses(first: Trace, second: Trace) -> tuple[Growth, ...]:
    """Each loss of both traces by update; of several with one name in a step, the last one is used."""
    mine, theirs = _losses(first), _losses(second)
    return tuple(_growth(name, "update", mine[name], theirs[name]) for name in mine if name in theirs)


def growth_of_metrics(first: Run, second: Run, names: Sequence[str]) -> tuple[Growth, ...]:
    """Each metric that both runs report within the main loop, in the order of their names."""
    return tuple(
        _growth(name, "main-loop step", _points(first.series[name]), _points(second.series[name]))
        for name in names
        if name in first.series and name in second.series
    )


def _losses(trace: Trace) -> dict[str, dict[int, float]]:
    losses: dict[str, dict[int, float]] = {}
    for record in trace.records:
        if record.kind == "loss" and record.value is not None:
            losses.setdefault(record.name, {})[record.step] = record.value
    return losses


def _points(series: Series) -> dict[int, float]:
    """Values in the main loop by step; of several in a step, the last one."""
    return {step: value for step, value in zip(series.steps, series.values, strict=True) if step is not None}


def _growth(name: str, unit: Unit, mine: Mapping[int, float], theirs: Mapping[int, float]) -> Growth:
    steps = sorted(mine.keys() & theirs.keys())
    begin = next((at for at, step in enumerate(steps) if not is_same(mine[step], theirs[step])), None)
    chosen = [steps[at] for at in thin_indices(len(steps), begin)]
    return Growth(
        name=name,
        unit=unit,
        steps=tuple(chosen),
        differences=tuple(_distance(mine[step], theirs[step]) for step in chosen),
        first=tuple(mine[step] for step in chosen),
        second=tuple(theirs[step] for step in chosen),
    )


def thin_indices(n: int, begin: int | None, most: int = MOST_POINTS) -> list[int]:
    """At most `most` indices of `n` points, including the first, the last, `begin` and the one before it.

    Args:
        begin: of the first difference, from which on distances grow by a factor; None where all are equal.
    """
    if n <= most:
        return list(range(n))
    start = begin or 0
    spread = start + np.geomspace(1, n - start, most - 2).round().astype(int) - 1
    return sorted({0, max(0, start - 1), *spread.tolist()})


def is_same(one: float, other: float) -> bool:
    """Whether two values are bitwise the same; any two NaN are."""
    return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)  # noqa: PLR0124


def _distance(one: float, other: float) -> float:
    """Absolute difference; 0 for equal infinities and for two NaN, infinite if only one is finite."""
    if one == other or (one != one and other != other):  # noqa: PLR0124  (NaN alone differs from itself)
        return 0.0
    apart = abs(one - other)
    return apart if apart == apart else math.inf  # noqa: PLR0124

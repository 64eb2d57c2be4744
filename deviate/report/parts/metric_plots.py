"""Plots of one metric: scores with their difference, and curves."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise

from deviate.model.analysis import LoopCounter
from deviate.model.comparisons import Comparison, Description
from deviate.model.estimates import Interval, Test
from deviate.model.findings import Findings
from deviate.model.records import Run, Series
from deviate.report.format import ELLIPSIS, confidence_text, counted, difference_unit, number, unit_head
from deviate.report.parts.compare import difference_cell, places_of_difference, verdict_word
from deviate.report.parts.describe import mean_cell, n_text, places_of, unit_of
from deviate.report.parts.many_runs import CURVES_ON_PAGE, MOST_POINTS, by_rank, drawn_points_note
from deviate.report.plots import (
    STEPS,
    CurveGroup,
    CurvePlot,
    EstimationPlot,
    PlottedDifference,
    PointGroup,
    ends_of,
    known,
)

MOST_NAMED = 40
"""Runs of a group whose points say which run they are."""
FEWEST_THINNED = 24
"""Points up to which no form thins a curve."""


def estimation_plot(
    key: str,
    name: str,
    row: Sequence[Description | None],
    labels: Sequence[str],
    comparisons: Sequence[Comparison | None],
    n_points: int = MOST_POINTS,
) -> EstimationPlot | None:
    """The scores of every run, or of each experiment `n_points` of them, by rank; None without a score."""
    described = [
        (description, label) for description, label in zip(row, labels, strict=True) if description is not None
    ]
    place = {label: index for index, label in enumerate(labels)}
    if not any(description.scores for description, _ in described):
        return None
    unit = unit_of(described[0][0].metric)
    compared = [(one, label) for one, label in zip(comparisons, labels[1:], strict=False) if one is not None]
    differences = tuple(_plot_difference(comparison, label, n_points) for comparison, label in compared)
    intervals = [comparison.difference_interval for comparison, _ in compared]
    # An axis has no room for the whole note, which stands in the tables.
    levels = dict.fromkeys(
        "CI not valid" if interval.note else f"{confidence_text(interval.confidence)} CI"
        for interval in intervals
        if isinstance(interval, Interval)
    )
    drawn = "; ".join(
        f"{label} {mean_cell(description, unit).text}, n = {n_text(description)}" for description, label in described
    )
    texts = [
        f"{label} − {labels[0]}: {difference_cell(comparison, places_of_difference(comparison)).text}, "
        f"verdict {verdict_word(comparison)}"
        for comparison, label in compared
    ]
    groups = tuple(_points(description, label, place[label], n_points) for description, label in described)
    plot = EstimationPlot(
        key=key,
        title=name,
        description=f"Score of every run in {name}: {drawn}. {'; '.join(texts)}".strip(),
        caption="",
        axis=unit_head(name, unit),
        difference_axis=", ".join((unit_head("difference", difference_unit(unit)), *levels)),
        groups=groups,
        differences=differences,
        reading=_reading(groups, differences),
    )
    means = [description.mean_interval for description, _ in described]
    level = next((f"{confidence_text(mean.confidence)} " for mean in means if isinstance(mean, Interval)), "")
    left_out = drawn_points_note(n_points, [len(description.scores) for description, _ in described])
    return replace(plot, caption=_estimation_caption(plot, level, left_out))


def _estimation_caption(plot: EstimationPlot, level: str, left_out: str) -> str:
    sentences = ["Each point is one run.", *([left_out] if left_out else [])]
    if any(len(group.values) > 1 for group in plot.groups):
        sentences.append(f"Beside them: mean {'± SD' if plot.differences else f'and its {level}interval'}.")
    if any(difference.pairs for difference in plot.differences):
        sentences.append("Thin lines join the runs of a pair.")
    if plot.has_shared_axis:
        sentences.append(
            "Right: the difference with its interval, and as a curve how plausible other values are. Its zero is at "
            "the mean of the baseline."
        )
    elif plot.differences:
        sentences.append("A panel of its own has the differences to the baseline with their intervals.")
    if any(difference.margin is not None for difference in plot.differences):
        sentences.append("Grey: the margin.")
    return " ".join(sentences)


def _reading(groups: Sequence[PointGroup], differences: Sequence[PlottedDifference]) -> str:
    if any(difference.low is not None for difference in differences):
        return "Chance alone rarely gives an interval without 0 (dotted); if it contains 0, either side may be better."
    if not differences and any(group.low is not None for group in groups):
        return "The mean of many more runs probably lies in the interval; another single run lands among the points."
    return ""


def _points(description: Description, label: str, index: int, n_most: int) -> PointGroup:
    values = by_rank([score.value for score in description.scores], n_most)
    mean, sd, ends = known(description.mean), known(description.sd), ends_of(description.mean_interval)
    names = tuple(f"{score.replicate}: {number(score.value, None)}" for score in description.scores)
    shown = names if len(names) == len(values) <= MOST_NAMED else ()
    return PointGroup(index, label, f"n = {n_text(description)}", values, mean, sd, *ends, names=shown)


def _plot_difference(comparison: Comparison, label: str, n_points: int) -> PlottedDifference:
    has_all_points = max(comparison.baseline.n, comparison.candidate.n) <= n_points
    pairs = _pairs(comparison) if comparison.is_paired and has_all_points else ()
    t_test, interval = comparison.both_tests[0], comparison.difference_interval
    return PlottedDifference(
        label,
        known(comparison.difference),
        *ends_of(interval),
        pairs,
        df=t_test.df if isinstance(t_test, Test) else None,
        confidence=interval.confidence if isinstance(interval, Interval) else 0.95,
        margin=comparison.metric.margin,
    )


def _pairs(comparison: Comparison) -> tuple[tuple[int, int], ...]:
    """Indices of scores that share a replicate."""
    place = {score.replicate: index for index, score in enumerate(comparison.candidate.scores)}
    return tuple(
        (index, place[score.replicate])
        for index, score in enumerate(comparison.baseline.scores)
        if score.replicate in place
    )


def curve_plot(
    key: str,
    name: str,
    findings: Findings,
    row: Sequence[Description | None],
    labels: Sequence[str],
    n_lines: int = CURVES_ON_PAGE,
) -> CurvePlot | None:
    """The curve of every run, or of each experiment `n_lines` of them; None where no run has one."""
    groups: list[CurveGroup] = []
    courses: list[str] = []
    for index, (description, item, label) in enumerate(zip(row, findings.experiments, labels, strict=True)):
        if description is None:
            continue
        metric = description.metric.name
        scored = {score.replicate for score in description.scores}
        runs_with_series = [(run, run.series[metric]) for run in item.experiment.runs if _has_curve(run, metric)]
        completed = tuple(series for run, series in runs_with_series if run.replicate in scored)
        failed = tuple(series for run, series in runs_with_series if run.replicate not in scored)
        groups.append(CurveGroup(index, label, completed, failed))
        courses.append(_course(groups[-1], places_of(description)))
    if not any(group.counted or group.failed for group in groups):
        return None
    unit = next(unit_of(description.metric) for description in row if description is not None)
    counter = shared_counter(findings)
    return CurvePlot(
        key=key,
        title=name,
        description=f"{name} of every run over main-loop steps. {'; '.join(courses)}",
        caption=_curve_caption(groups, counter, confidence_text(findings.confidence), n_lines),
        axis=unit_head(name, unit),
        confidence=findings.confidence,
        groups=tuple(groups),
        counter=counter,
        n_lines=n_lines,
    )


def _has_curve(run: Run, metric: str) -> bool:
    series: Series | None = run.series.get(metric)
    return series is not None and len(list(islice((step for step in series.steps if step is not None), 2))) == 2


def shared_counter(findings: Findings) -> LoopCounter:
    """The counter by which all scripts count their main loops; steps from 0 where one has none or they differ."""
    first, *others = (item.experiment.counter for item in findings.experiments)
    return STEPS if first is None or any(other != first for other in others) else first


def _curve_caption(groups: Sequence[CurveGroup], counter: LoopCounter, level: str, n_lines: int) -> str:
    caption = "Each thin line is one run"
    if max(max(len(group.counted), len(group.failed)) for group in groups) > n_lines:
        caption += f" (at most {n_lines:,} are drawn, evenly spaced by replicate; the mean is of all)"
    if any(len(group.counted) > 1 for group in groups):
        caption += (
            ", the thick line the mean of the runs that count, the band its "
            f"{level} interval at each step (pointwise, not for the curve as a whole)"
        )
    all_series = [series for group in groups for series in (*group.counted, *group.failed)]
    longest = max(len(series.values) for series in all_series)
    if any(one == other is not None for series in all_series for one, other in pairwise(series.steps)):
        caption += (
            ". Several values within a step are spread over it in their order; where their number differs between "
            "runs, mean and band are those of the means within each step"
        )
    if longest > FEWEST_THINNED:
        caption += (
            ". Long curves are drawn by their lowest and highest values per stretch; all values, up to "
            f"{longest:,} in a run, are recorded"
        )
    if (counter.first, counter.stride) != (STEPS.first, STEPS.stride):
        caption += f". {counter.name} {counter.first} is main-loop step 0"
    return f"{caption}."


def _course(group: CurveGroup, places: int | None) -> str:
    """Curves in words: `a: 10 runs, first value 0.10, last values 0.91 … 0.95, 1 failed`."""
    parts = [counted(len(group.counted), "run")]
    for name, way in (("first", 1), ("last", -1)):
        values = [value for series in group.counted if (value := _first_finite(series, way)) is not None]
        if values:
            low, high = number(min(values), places), number(max(values), places)
            parts.append(f"{name} value {low}" if low == high else f"{name} values {low} {ELLIPSIS} {high}")
    parts += [f"{len(group.failed)} failed"] if group.failed else []
    return f"{group.label}: {', '.join(parts)}"


def _first_finite(series: Series, way: int) -> float | None:
    """The first finite value inside the main loop, from the start or from the end."""
    places = range(len(series.values))[::way]
    values = (float(series.values[place]) for place in places if series.steps[place] is not None)
    return next((value for value in values if math.isfinite(value)), None)

"""Stability measures as text: names, methods, and display scales."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import Measure, MeasureName, SetStability, StabilityFindings, WeightStability
from deviate.report.document import Absent, Entry, ReportFigure, TableRow, cell
from deviate.report.format import clean, confidence_text, decimals, unit_head
from deviate.report.numbers import Pieces, ShownNumber, ends, text_of
from deviate.report.parts.describe import cell_of
from deviate.report.plots import Plot

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Words:
    """Display properties of a measure.

    Attributes:
        scale: factor from the findings to what is shown: 100 for shares.
        unit: of the figure shown; points for differences and spreads of shares.
        brief: its label where a column is narrow; empty where that is short enough.
        is_signed: it is a difference, shown with its sign. is_bounded: it is a correlation, 1 at most.
    """

    label: str
    how: str
    scale: float = 1.0
    unit: str = ""
    is_signed: bool = False
    is_bounded: bool = False
    brief: str = ""

    @property
    def head(self) -> str:
        """The short label with the unit, for tables whose numbers have no unit."""
        return unit_head(self.brief or self.label, self.unit)


in_percent = partial(Words, scale=100, unit="%")
in_points = partial(Words, scale=100, unit="points")
MEASURES: dict[MeasureName, Words] = {
    "churn": in_percent("churn", "share of examples on which two runs disagree, mean over pairs"),
    "majority-agreement": in_percent(
        "agreement with the majority",
        "share of examples on which a run agrees with most runs, mean over runs", brief="majority agreement",
    ),
    "unstable-examples": in_percent(
        "unstable examples", "share of examples on which not all runs agree; grows with n"
    ),
    "pearson": Words(
        "correlation of outputs (Pearson)", "of flattened outputs, mean over pairs",
        is_bounded=True, brief="Pearson correlation",
    ),
    "spearman": Words(
        "correlation of ranks (Spearman)", "of flattened outputs, mean over pairs",
        is_bounded=True, brief="Spearman correlation",
    ),
    "cka": Words(
        "similarity of outputs (linear CKA)", "1: equal up to rotation; mean over pairs",
        is_bounded=True, brief="linear CKA",
    ),
    "ensemble-accuracy": in_points(
        "gain of two runs averaged: accuracy", "mean output of two runs minus single run",
        is_signed=True, brief="gain, accuracy",
    ),
    "ensemble-cross-entropy": Words(
        "gain of two runs averaged: cross-entropy", "mean output of two runs minus single run",
        is_signed=True, brief="gain, cross-entropy",
    ),
    "accuracy-sd": in_points("SD of the accuracy", "over runs, ddof 1", brief="accuracy SD"),
    "cross-entropy-sd": Words(
        "SD of the cross-entropy", "over runs, ddof 1", brief="cross-entropy SD"
    ),
    "ece": in_percent("calibration error (ECE)", "expected, mean over runs", brief="ECE"),
    "ece-sd": in_points("SD of the calibration error", "over runs, ddof 1", brief="ECE SD"),
    "weight-distance": Words(
        "distance of weights", "L2 after scaling each to length 1, mean over pairs; at most 2"
    ),
}  # fmt: skip
"""Measures in report order."""
SHARE = in_percent("", "")


def scale_number(value: float, places: int | None, words: Words) -> ShownNumber:
    """The number on the display scale, without its unit."""
    return ShownNumber(words.scale * value, places, "signed" if words.is_signed else "plain")


def places_for(value: Estimate, interval: Interval | Unavailable, words: Words) -> int | None:
    """Decimals from the standard error, taken as a quarter of the interval's width; two digits without an interval."""
    if isinstance(interval, Interval):
        places = decimals(words.scale * (interval.high - interval.low) / 4)
        if places is not None:
            return max(places, 0)
    if isinstance(value, Unavailable):
        return None
    magnitude = 1 - abs(value) if words.is_bounded else abs(words.scale * value)
    places = decimals(magnitude)
    return None if places is None else max(places, 0)


def figure_pieces(
    value: float, interval: Interval | Unavailable, words: Words, *, has_level: bool = False
) -> tuple[Pieces, Pieces]:
    """The estimate `8.2 %`, and the interval ` [7.6 … 8.8]`, which may be empty."""
    places = places_for(value, interval, words)
    figure = scale_number(value, places, words)
    estimate: Pieces = (figure, f" {words.unit}") if words.unit else (figure,)
    if isinstance(interval, Unavailable):
        return estimate, ()
    level = f"{confidence_text(interval.confidence)} CI " if has_level else ""
    return estimate, (f" [{level}", *ends(words.scale * interval.low, words.scale * interval.high, places), "]")


def figure_cell(value: Estimate, interval: Interval | Unavailable, words: Words) -> Entry:
    if isinstance(value, Unavailable):
        return Absent(clean(value.reason))
    estimate, bracket = figure_pieces(value, interval, words)
    return cell(*estimate, *bracket, value=value)


def hundredfold_cell(share: Estimate, places: int) -> Entry:
    """A share in percent, or a spread of shares in points, without the unit."""
    return cell_of(share, lambda value: (ShownNumber(100 * value, places),))


def measure_cell(measure: Measure | None) -> Entry:
    if measure is None:
        return Absent("not measured")
    return figure_cell(measure.value, measure.interval, MEASURES[measure.name])


def measure_rows(columns: Sequence[Iterable[Measure]], group: str = "") -> Iterator[TableRow]:
    """A row for each measure that a column has, in the order of a report."""
    by_name = [{measure.name: measure for measure in measures} for measures in columns]
    for name, words in MEASURES.items():
        if any(name in measures for measures in by_name):
            cells = tuple(measure_cell(measures.get(name)) for measures in by_name)
            yield TableRow(words.label, cells, method=words.how, group=group)


def rows_of(
    rules: Iterable[tuple[str, str, Callable[[Item], Entry]]], columns: Sequence[Item], group: str = ""
) -> list[TableRow]:
    """Rows of a table whose columns are experiments.

    Args:
        rules: label and method of each row, and its cell for a column.
    """
    return [TableRow(label, tuple(map(entry_of, columns)), method=how, group=group) for label, how, entry_of in rules]


def figures_of(plots: Iterable[Plot | None]) -> tuple[ReportFigure, ...]:
    """Figures of the plots that there are."""
    return tuple(ReportFigure(plot, plot.caption, plot.title) for plot in plots if plot is not None)


def measure_text(measure: Measure, *, has_level: bool = False) -> str:
    """`8.2 % [7.6 … 8.8]`, the figure alone where it has no interval, or why there is none."""
    if isinstance(measure.value, Unavailable):
        return clean(measure.value.reason)
    estimate, bracket = figure_pieces(measure.value, measure.interval, MEASURES[measure.name], has_level=has_level)
    return text_of((*estimate, *bracket))


def find_measure(measures: Iterable[Measure], name: MeasureName) -> Measure | None:
    return next((measure for measure in measures if measure.name == name), None)


def all_measures(stability: StabilityFindings) -> list[Measure]:
    """Measures of all sets, and distances of weights."""
    of_sets = [measure for captured in stability.sets for measure in captured.measures]
    return of_sets + [weights.distance for weights in stability.weights]


def over(stability: SetStability | WeightStability) -> str:
    """The number of runs behind a measure of pairs: `mean over the pairs of 8 runs`."""
    n = len(stability.replicates)
    return f"mean over the pairs of {n} runs" if n > 2 else "from one pair of runs"


def missing_intervals(label: str, measures: Sequence[Measure]) -> str:
    """Reasons why measures of an experiment have no intervals, without duplicates; empty if all have one."""
    reasons = dict.fromkeys(
        clean(measure.interval.reason)
        for measure in measures
        if isinstance(measure.interval, Unavailable) and not isinstance(measure.value, Unavailable)
    )
    return f"{label}, missing intervals: {'; '.join(reasons)}." if reasons else ""


def methods(intervals: Iterable[Interval | Unavailable]) -> str:
    """Methods of the intervals: `95%, jackknife over runs`."""
    texts = dict.fromkeys(
        f"{confidence_text(interval.confidence)}, {interval.method}"
        for interval in intervals
        if isinstance(interval, Interval)
    )
    return "; ".join(texts)


def difference_rows(findings: Findings, set_name: str, indices: Sequence[int], labels: Sequence[str]) -> list[TableRow]:
    """A row with the differences of a measure over pairs to the baseline; none if nothing is compared.

    Args:
        indices: of the experiments whose columns there are.
    """
    differences = {one.experiment: one.difference for one in findings.stability.differences if one.set_name == set_name}
    measures = [differences[index] for index in indices if index in differences]
    if not measures:
        return []
    words = MEASURES[measures[0].name]
    apart = replace(words, unit="points" if words.unit == "%" else words.unit, is_signed=True)

    def entry_of(index: int) -> Entry:
        if index in differences:
            return figure_cell(differences[index].value, differences[index].interval, apart)
        return Absent("reference" if index == 0 else "not compared")

    how = f"this experiment minus {labels[0]}; jackknife over the runs of both"
    return rows_of([(f"{words.label}, difference", how, entry_of)], indices)

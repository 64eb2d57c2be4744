"""Compared curves as text and figures: where they differ, and the areas under them."""

import itertools
import math
from collections.abc import Iterator, Sequence

from deviate.model import NOT_ASKED, Comparison, CurveComparison, Findings, Unavailable
from deviate.report import numbers
from deviate.report.document import Absent, Entry, Row, Table, cell
from deviate.report.format import clean, confidence_text, counted, difference_unit, unit_head
from deviate.report.numbers import Number
from deviate.report.parts.compare import metric_name, test_cell
from deviate.report.parts.describe import noted_ends, places_of_interval, unit_of
from deviate.report.plots import DifferencePlot

MOST_FIGURES = 6
"""Bands that are drawn, the primary metric first: a page of thirty would hide the one that counts."""


def curve_table(findings: Findings, labels: Sequence[str]) -> Table | None:
    """A row per metric and candidate with curves; None if no metric has any."""
    rows = tuple(
        Row(f"{metric_name(comparison)}, {label}", (_first(curve), *_area(comparison, curve), _remarks(curve)))
        for comparison, label, _, curve in _curves(findings, labels)
    )
    columns = ("", "first difference", "mean over the curve", "CI", "Welch", "steps")
    return Table(f"Curves against {labels[0]}, exploratory", columns, rows) if rows else None


def no_curves(findings: Findings) -> str:
    """Why no curves are compared; empty if some are."""
    compared = [comparison.curve for pair in findings.pairs for comparison in pair.comparisons]
    if not compared:
        return "Curves are not compared: that takes a baseline and a candidate that report the same metric."
    if any(isinstance(comparison, CurveComparison) for comparison in compared):
        return ""
    reasons = dict.fromkeys(
        comparison.reason for comparison in compared if isinstance(comparison, Unavailable) and comparison != NOT_ASKED
    )
    return f"Curves are not compared: {'; '.join(map(clean, reasons)) or NOT_ASKED.reason}."


def difference_plots(findings: Findings, labels: Sequence[str]) -> tuple[DifferencePlot, ...]:
    """Differences with bands for the first metrics whose band is finite."""
    return tuple(
        _plot(comparison, label, index, curve, f"d{place}")
        for place, (comparison, label, index, curve) in enumerate(_with_ends(findings, labels)[:MOST_FIGURES])
    )


def not_drawn(findings: Findings, labels: Sequence[str]) -> str:
    """The number of bands that are not drawn; empty if all are drawn."""
    n_more = len(_with_ends(findings, labels)) - MOST_FIGURES
    return f"{counted(n_more, 'more band')} not drawn; --json has them all." if n_more > 0 else ""


def curve_line(comparison: Comparison, against: str) -> Iterator[str]:
    curve = comparison.curve
    if isinstance(curve, CurveComparison) and curve.band:
        yield f"{against}: curves of {metric_name(comparison)} {_first_words(curve)} (exploratory)"


def _curves(findings: Findings, labels: Sequence[str]) -> Iterator[tuple[Comparison, str, int, CurveComparison]]:
    for index, (pair, label) in enumerate(zip(findings.pairs, labels[1:], strict=bool(findings.pairs)), start=1):
        for comparison in pair.comparisons:
            if isinstance(comparison.curve, CurveComparison):
                yield comparison, label, index, comparison.curve


def _with_ends(findings: Findings, labels: Sequence[str]) -> list[tuple[Comparison, str, int, CurveComparison]]:
    curves = _curves(findings, labels)
    return [curve for curve in curves if any(map(math.isfinite, itertools.chain.from_iterable(curve[3].band)))]


def _caption(curve: CurveComparison, level: str) -> str:
    caption = f"The line is the difference of the mean curves; the band ({level}) holds at all steps at once."
    return caption if curve.first_difference is None else f"{caption} Dotted: the first step at which it leaves 0."


def _first_words(curve: CurveComparison) -> str:
    if curve.first_difference is None:
        return f"are told apart at none of {counted(len(curve.steps), 'step')}"
    return f"first differ at step {curve.first_difference}"


def _first(curve: CurveComparison) -> Entry:
    if not curve.band:
        return Absent(curve.band_method)
    none = f"at none of {counted(len(curve.steps), 'step')}"
    return cell(none) if curve.first_difference is None else cell("step ", Number(curve.first_difference, 0))


def _area(comparison: Comparison, curve: CurveComparison) -> tuple[Entry, Entry, Entry]:
    """Difference of the areas under the curves, with its interval and test."""
    interval, difference, test = curve.area_interval, curve.area_difference, curve.area_test
    places = places_of_interval(interval)
    unit = difference_unit(unit_of(comparison.metric))
    area: Entry = (
        Absent(difference.reason)
        if isinstance(difference, Unavailable)
        else cell(*numbers.with_unit((Number(difference, places, "signed"),), unit))
    )
    if isinstance(interval, Unavailable):
        return area, Absent(interval.reason), test_cell(test, "t")
    around = cell(f"{confidence_text(interval.confidence)}: ", *noted_ends(interval, places))
    return area, around, test_cell(test, "t")


def _remarks(curve: CurveComparison) -> Entry:
    remarks = [f"{len(curve.steps)} compared, n = {curve.n[0]} + {curve.n[1]}"]
    remarks += [clean(note) for note in curve.note.split("; ") if note and note != "exploratory"]
    remarks += [f"{curve.n_left_out} left out that some run did not report"] if curve.n_left_out else []
    remarks += [clean(curve.band_method)] if curve.band else []
    return cell("; ".join(remarks))


def _plot(comparison: Comparison, label: str, index: int, curve: CurveComparison, key: str) -> DifferencePlot:
    name = metric_name(comparison)
    unit = difference_unit(unit_of(comparison.metric))
    level = confidence_text(curve.confidence)
    return DifferencePlot(
        key=key,
        title=f"{name}: {label} less the baseline",
        description=(
            f"Difference of the mean curves of {name}, n = {curve.n[0]} + {curve.n[1]}, with a band that holds at all "
            f"steps at once ({level}): they {_first_words(curve)}"
        ),
        caption=_caption(curve, level),
        axis=unit_head(f"difference of {name}", unit),
        note=f"n = {curve.n[0]} + {curve.n[1]}",
        index=index,
        steps=curve.steps,
        difference=curve.difference,
        band=curve.band,
        first=curve.first_difference,
    )

"""A sweep as a document: primary metric, its spread, and captured measures by value of the argument."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from deviate.base.redaction import redact_words
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.sweep import SweepFindings, SweepRow
from deviate.report.data.published import SWEEP_SCHEMA, document_data
from deviate.report.data.tables import shield_rows
from deviate.report.document import Absent, Document, DocumentTable, Entry, Fact, ReportFigure, Section, TableRow, cell
from deviate.report.format import (
    clean,
    confidence_text,
    decimals,
    group_pairs,
    name_text,
    number,
    percentage,
    unit_head,
)
from deviate.report.numbers import ShownNumber, append_unit, ends
from deviate.report.parts.describe import cell_of, mean_and_sd
from deviate.report.plots import Ends, SweepLine, SweepPlot, SweepPoint, ends_of, known

SCALES = {"log": ", logarithmic", "linear": "", "names": ""}
Drawn = tuple[float | None, float | None, float | None, tuple[float, ...]]
"""Estimate, both ends, and the scores of single runs."""


NO_METRIC = "there is no primary metric: name one with --metric"


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A quantity: a column of the table with its own figure."""

    key: str
    title: str
    axis: str
    caption: str
    heads: tuple[str, ...]
    cells: Callable[[SweepRow], tuple[Entry, ...]]
    drawn: Callable[[SweepRow], Drawn]
    from_zero: bool = True


def sweep_document(sweep: SweepFindings) -> Document:
    if not sweep.metric:
        from deviate.report.advice import ask_for_primary  # scipy, which the help of a verb has no use for

        sweep = replace(sweep, why_no_metric=ask_for_primary(sweep.question) if sweep.question else NO_METRIC)
    argument = name_text(sweep.argument)
    warnings = tuple(_warnings(sweep))
    return Document(
        title=f"{name_text(sweep.name)} over {argument}",
        subtitle=f"{argument} at {', '.join(map(name_text, sweep.values))}; {_variants(sweep)}",
        paste=tuple(_paste(sweep)),
        sections=(_section(sweep),),
        warnings=warnings,
        footnotes=tuple(_footnotes(sweep)),
        facts=(Fact("command", cell(clean(" ".join(redact_words(sweep.command))))),),
        data=lambda: document_data(SWEEP_SCHEMA, sweep, warnings),
        rows=lambda: shield_rows(_csv(sweep)),
    )


def _variants(sweep: SweepFindings) -> str:
    names = list(dict.fromkeys(row.variant for row in sweep.rows))
    return f"variant{'s' if len(names) > 1 else ''} {', '.join(map(name_text, names))}" if names else "no runs"


def _section(sweep: SweepFindings) -> Section:
    heading = f"Measures over {name_text(sweep.argument)}"
    if not sweep.rows:
        return Section("measures", heading, (Absent(sweep.why_no_metric or "no value has a recorded run"),))
    several = len({row.variant for row in sweep.rows}) > 1
    quantities = list(_quantities(sweep))
    columns = (sweep.argument, "n", *itertools.chain.from_iterable(quantity.heads for quantity in quantities))
    rows = tuple(
        TableRow(
            name_text(row.value) + (f" · {name_text(row.variant)}" if several else ""),
            (
                cell(ShownNumber(row.n, 0), "/", ShownNumber(row.n_runs, 0)),
                *itertools.chain.from_iterable(quantity.cells(row) for quantity in quantities),
            ),
            note=_why_no_intervals(row),
        )
        for row in sweep.rows
    )
    table = DocumentTable(f"{name_text(sweep.metric)} over {name_text(sweep.argument)}", columns, rows)
    plots = [_plot(sweep, quantity) for quantity in quantities]
    figures = tuple(ReportFigure(plot, plot.caption) for plot in plots if plot is not None)
    return Section("measures", heading, (*figures, table))


def _why_no_intervals(row: SweepRow) -> str:
    """Reasons why the SD and captured measures have no intervals, without duplicates."""
    intervals = [("the SD", row.sd_interval)]
    intervals += [
        (_label(measure.set_name, measure.measure.name), measure.measure.interval) for measure in row.measures
    ]
    whose = group_pairs((interval.reason, name) for name, interval in intervals if isinstance(interval, Unavailable))
    texts = (f"{' and '.join(names)}: {reason}" for reason, names in whose.items())
    return f"no interval of {'; of '.join(texts)}" if whose else ""


def _label(set_name: str, name: str) -> str:
    return f"{name} on {name_text(set_name)}" if set_name else "distance of weights"


def _quantities(sweep: SweepFindings) -> Iterator[_Quantity]:
    level, metric = confidence_text(sweep.confidence), name_text(sweep.metric)
    yield _Quantity(
        "mean",
        f"{metric} over {name_text(sweep.argument)}",
        unit_head(f"{metric}, mean ± SD", sweep.unit),
        "Each run is a point beside the mean of its value; the line is one SD to either side.",
        ("mean ± SD",),
        lambda row: (_mean_cell(row, sweep.unit),),
        lambda row: (known(row.mean), *_one_sd(row), row.scores),
        from_zero=False,
    )
    yield _Quantity(
        "sd",
        f"SD of {metric} over {name_text(sweep.argument)}",
        unit_head(f"SD of {metric}", sweep.unit),
        f"SD over runs (ddof 1) with its {level} interval.",
        ("SD", f"SD, {level} CI"),
        lambda row: _cells(row.sd, row.sd_interval),
        lambda row: (known(row.sd), *ends_of(row.sd_interval), ()),
    )
    measured = dict.fromkeys((measure.set_name, measure.measure.name) for row in sweep.rows for measure in row.measures)
    for set_name, name in measured:
        yield _measure(set_name, name, level)


def _measure(set_name: str, name: str, level: str) -> _Quantity:
    """A captured measure: churn of an evaluation set in percent, or distance of weights."""
    label, unit, factor = _label(set_name, name), "%" if set_name else "", 100.0 if set_name else 1.0
    key = f"{name}-{set_name}" if set_name else name

    def of(row: SweepRow) -> tuple[Estimate, Interval | Unavailable]:
        value: Estimate = Unavailable("not captured")
        interval: Interval | Unavailable = Unavailable("not captured")
        for one in row.measures:
            if (one.set_name, one.measure.name) == (set_name, name):
                value, interval = one.measure.value, one.measure.interval
        if isinstance(interval, Interval):
            interval = replace(interval, low=factor * interval.low, high=factor * interval.high)
        return value if isinstance(value, Unavailable) else factor * value, interval

    return _Quantity(
        "".join(sign if sign.isalnum() else "-" for sign in key),
        label.capitalize(),
        unit_head(label, unit),
        f"Mean over pairs of runs with its {level} interval (jackknife over runs).",
        (label, f"{level} CI"),
        lambda row: _cells(*of(row), unit),
        lambda row: (known(of(row)[0]), *ends_of(of(row)[1]), ()),
    )


def _plot(sweep: SweepFindings, quantity: _Quantity) -> SweepPlot | None:
    """The plot of a quantity; None if no value has the quantity."""
    by_variant = group_pairs((row.variant, _point(sweep, row, quantity)) for row in sweep.rows)
    lines = tuple(
        SweepLine(index, name_text(variant), tuple(some)) for index, (variant, some) in enumerate(by_variant.items())
    )
    points = [(line.label, point) for line in lines for point in line.points if point.estimate is not None]
    if not points:
        return None
    described = "; ".join(f"{point.label}, {label}: {number(point.estimate or 0.0, None)}" for label, point in points)
    return SweepPlot(
        key=f"sweep-{quantity.key}",
        title=quantity.title,
        description=f"{described}.",
        caption=quantity.caption,
        axis=quantity.axis,
        argument=f"{name_text(sweep.argument)}{SCALES[sweep.scale]}",
        scale=sweep.scale,
        from_zero=quantity.from_zero,
        lines=lines,
    )


def _point(sweep: SweepFindings, row: SweepRow, quantity: _Quantity) -> SweepPoint:
    at = float(sweep.values.index(row.value)) if sweep.scale == "names" else float(row.value)
    estimate, low, high, raw = quantity.drawn(row)
    return SweepPoint(at, name_text(row.value), estimate, low, high, raw)


def _one_sd(row: SweepRow) -> Ends:
    if isinstance(row.mean, Unavailable) or isinstance(row.sd, Unavailable):
        return None, None
    return row.mean - row.sd, row.mean + row.sd


def _mean_cell(row: SweepRow, unit: str) -> Entry:
    places = None if isinstance(row.sd, Unavailable) else decimals(row.sd / math.sqrt(row.n))
    return mean_and_sd(row.mean, row.sd, places, unit)


def _cells(value: Estimate, interval: Interval | Unavailable, unit: str = "") -> tuple[Entry, Entry]:
    """A figure with two significant digits, as few runs do not determine a spread any better, and its interval."""
    places = None if isinstance(value, Unavailable) else decimals(abs(value))
    around: Entry = Absent("none")
    if isinstance(interval, Interval):
        around = cell(*ends(interval.low, interval.high, places))
    return cell_of(value, lambda figure: append_unit((ShownNumber(figure, places),), unit)), around


def _paste(sweep: SweepFindings) -> Iterator[str]:
    for variant, rows in group_pairs((row.variant, row) for row in sweep.rows).items():
        parts = []
        for row in rows:
            churn = "".join(
                f", churn on {name_text(measure.set_name)} {percentage(measure.measure.value)}"
                for measure in row.measures
                if measure.set_name and not isinstance(measure.measure.value, Unavailable)
            )
            parts.append(f"{name_text(row.value)}: {_mean_cell(row, sweep.unit).text} (n = {row.n}{churn})")
        yield (
            f"{name_text(sweep.metric)} over {name_text(sweep.argument)}, mean ± SD over runs of "
            f"{name_text(variant)}: {'; '.join(parts)}."
        )


def _footnotes(sweep: SweepFindings) -> Iterator[str]:
    yield "SDs have ddof 1 and intervals by chi-square, which take scores as normal."
    if any(row.measures for row in sweep.rows):
        yield "Churn: share of examples on which two runs disagree; distance of weights: of vectors of length 1."
        yield "Both are means over pairs of runs; intervals leave out one run at a time, because pairs share runs."
    yield "Runs of all values share the seeds of each replicate, and ran replicate by replicate in random order."
    yield "Values are shown side by side; differences between them are not tested."


def _warnings(sweep: SweepFindings) -> Iterator[str]:
    if sweep.why_no_metric:
        yield sweep.why_no_metric
    for row in sweep.rows:
        if row.n < row.n_runs:
            name = f"{name_text(row.experiment)}, {name_text(row.variant)}"
            others = f"the others are in its own report: deviate report {row.experiment}"
            yield f"{name}: {row.n} of {row.n_runs} runs have a score; {others}"


def _csv(sweep: SweepFindings) -> Iterator[tuple[str | float, ...]]:
    """CSV with a row per value, variant and quantity: run scores, SD, or captured measures as shares."""
    yield "argument", "value", "experiment", "variant", "quantity", "set", "run", "estimate", "low", "high"
    for row in sweep.rows:
        head = (sweep.argument, row.value, row.experiment, row.variant)
        for place, score in enumerate(row.scores):
            yield *head, sweep.metric, "", place, score, "", ""
        yield *head, "mean", "", "", *_plain(row.mean, row.mean_interval)
        yield *head, "sd", "", "", *_plain(row.sd, row.sd_interval)
        for set_name, one in ((measure.set_name, measure.measure) for measure in row.measures):
            yield *head, one.name, set_name, "", *_plain(one.value, one.interval)


def _plain(value: Estimate, interval: Interval | Unavailable) -> Sequence[str | float]:
    low_high: tuple[str | float, ...] = ("", "") if isinstance(interval, Unavailable) else (interval.low, interval.high)
    return ("" if isinstance(value, Unavailable) else value, *low_high)

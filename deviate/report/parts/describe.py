"""Descriptions as text: one metric over the runs of one experiment."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from deviate.model.comparisons import Description
from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Reason, parts_of
from deviate.model.plan import SelectedMetric
from deviate.model.texts import first_few
from deviate.report.document import Absent, Cell, Entry, SummaryLine, TableRow, cell
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    counted,
    decimals,
    group_pairs,
    name_text,
    replicates,
    shorten_middle,
    with_unit,
)
from deviate.report.numbers import PLUS_MINUS, Pieces, ShownNumber, append_unit, ends, share, text_of

LONGEST_UNIT = 40
Figure = TypeVar("Figure", float, Interval, Test)
MOST_NAMED = 5
"""Restated metrics that are named beside the one that stands for them."""


class Footnotes:
    """Footnotes in order of first use; equal footnotes share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def numbers(self, *texts: str) -> tuple[int, ...]:
        cleaned = dict.fromkeys(clean(text) for text in texts if text)
        self.texts += [text for text in cleaned if text not in self.texts]
        return tuple(sorted(self.texts.index(text) + 1 for text in cleaned))


def absent(reason: str, notes: Footnotes) -> Absent:
    return Absent(reason, marks=notes.numbers(reason))


def mark(entry: Entry, notes: Footnotes, note: str = "") -> Entry:
    reason = entry.reason if isinstance(entry, Absent) else ""
    return replace(entry, marks=notes.numbers(reason, note))


def places_of(description: Description) -> int | None:
    """Decimals for the metric, from the smallest standard error of the mean among the compared sides."""
    if description.rounding_se is not None:
        return decimals(description.rounding_se)
    if isinstance(description.sd, Unavailable) or description.n == 0:
        return None
    return decimals(description.sd / math.sqrt(description.n))


def unit_of(metric: SelectedMetric) -> str:
    return shorten_middle(clean(metric.unit), LONGEST_UNIT)


def n_text(description: Description) -> str:
    """`8`, or `7 of 8` when runs gave no score."""
    return text_of(n_pieces(description))


def runs_of(description: Description, noun: str = "run") -> str:
    """`8 seeds`, or `8 of 10 runs` when runs gave no score."""
    if description.n == description.n_runs:
        return counted(description.n, noun)
    return f"{description.n} of {counted(description.n_runs, 'run')}"


def endings_of(description: Description) -> str:
    """`2 crashed`: how runs without a score ended; empty where that is not known."""
    return ", ".join(f"{n} {_ended(kind)}" for kind, n in Counter(description.missing_kinds).items())


def _ended(kind: str | None) -> str:
    if kind is None:
        return "without a score"
    return "without any report" if kind is Reason.SILENT else kind


def n_pieces(description: Description, of: str = " of ") -> Pieces:
    n, n_runs = ShownNumber(description.n, 0), ShownNumber(description.n_runs, 0)
    return (n,) if description.n == description.n_runs else (n, of, n_runs)


def cell_of(figure: Figure | Unavailable, written: Callable[[Figure], Pieces]) -> Entry:
    """A figure as text, or the reason why there is none; an interval is sorted by its lower end, a test by its p."""
    match figure:
        case Unavailable():
            return Absent(clean(figure.reason))
        case Interval():
            value = figure.low
        case Test():
            value = figure.p_value
        case _:
            value = figure
    return cell(*written(figure), value=value)


def estimate_cell(estimate: Estimate, places: int | None) -> Entry:
    return cell_of(estimate, lambda value: (ShownNumber(value, places),))


def signed_cell(estimate: Estimate, places: int | None, unit: str = "") -> Entry:
    """A difference with its sign."""
    return cell_of(estimate, lambda value: append_unit((ShownNumber(value, places, "signed"),), unit))


def interval_cell(interval: Interval | Unavailable, places: int | None) -> Entry:
    return cell_of(interval, lambda known: noted_ends(known, places))


def noted_ends(interval: Interval, places: int | None) -> Pieces:
    """Both ends of an interval, with its caveat."""
    note = (f", {interval.note}",) if interval.note else ()
    return (*ends(interval.low, interval.high, places), *note)


def bracket(interval: Interval | Unavailable | None, places: int | None) -> Pieces:
    """` [0.12 … 0.54]`, to follow an estimate; empty without an interval."""
    return (" [", *noted_ends(interval, places), "]") if isinstance(interval, Interval) else ()


def places_of_interval(interval: Interval | Unavailable) -> int | None:
    """Decimals from the standard error, estimated as a quarter of the interval's width."""
    return None if isinstance(interval, Unavailable) else decimals((interval.high - interval.low) / 4)


def mean_cell(description: Description, unit: str = "") -> Entry:
    """Mean ± SD; only the mean if there is no SD."""
    places = places_of(description)
    return mean_and_sd(description.mean, NOT_ASKED if places is None else description.sd, places, unit)


def mean_and_sd(mean: Estimate, sd: Estimate, places: int | None, unit: str = "") -> Entry:
    """`93.41 ± 0.22 %`; only the mean if there is no SD."""
    spread = () if isinstance(sd, Unavailable) else (PLUS_MINUS, ShownNumber(sd, places))
    return cell_of(mean, lambda value: append_unit((ShownNumber(value, places), *spread), unit))


def mean_text(description: Description) -> str:
    """Mean ± SD with its unit, as in a sentence; `unknown` where no run has a score."""
    mean = mean_cell(description, unit_of(description.metric))
    return "unknown" if isinstance(mean, Absent) else mean.text


def range_cell(description: Description) -> Entry:
    highest = description.maximum
    if isinstance(highest, Unavailable):
        return Absent(highest.reason)
    return cell_of(description.minimum, lambda lowest: ends(lowest, highest, places_of(description)))


def summary_line(description: Description) -> SummaryLine:
    """The summary line of one metric, for a terminal and the head of the page."""
    name = name_text(description.metric.shown)
    has_spread = places_of(description) is not None and not isinstance(description.mean, Unavailable)
    mean, places = description.mean_interval, places_of(description)
    level = f"{confidence_text(mean.confidence)} CI " if isinstance(mean, Interval) else ""
    intervals = [
        f"{name_of} {between(interval.low, interval.high, places)}"
        for name_of, interval in ((f"{level}mean", mean), ("SD", description.sd_interval))
        if isinstance(interval, Interval)
    ]
    return SummaryLine(
        label=f"{name} (mean ± SD)" if has_spread else name,
        value=mean_cell(description, unit_of(description.metric)).text,
        details=(*intervals, *parts_of(description.note), f"n = {n_text(description)}"),
        remarks=tuple(restated(description)),
    )


def restated(description: Description) -> list[str]:
    """What is the same metric under other names, and what is a fixed function of it."""
    names = {"also": description.aliases, "with it": description.functions}
    return [f"{word} {first_few(list(map(name_text, some)), MOST_NAMED)}" for word, some in names.items() if some]


def range_lines(description: Description) -> Iterator[SummaryLine]:
    """The range, shown below the primary metric; nothing if there is no spread."""
    spread = range_cell(description)
    if isinstance(spread, Cell) and places_of(description) is not None:
        yield SummaryLine("range", with_unit(spread.text, unit_of(description.metric)), ())


def description_columns(description: Description) -> tuple[str, ...]:
    """Column headings with level and method of the intervals, from the description."""
    heads = (
        _interval_head(interval, f"CI of the {name}")
        for name, interval in (("mean", description.mean_interval), ("SD", description.sd_interval))
    )
    return ("Experiment", "n", "mean ± SD", *heads, "CV", "median", "min … max")


def description_row(description: Description, experiment: str) -> TableRow:
    places = places_of(description)
    cells = (
        cell(*n_pieces(description), value=description.n),
        mean_cell(description),
        interval_cell(description.mean_interval, places),
        interval_cell(description.sd_interval, places),
        cell_of(description.cv, share),
        estimate_cell(description.median, places),
        range_cell(description),
    )
    notes = (description.note, tails_text(description), missing_text(description))
    return TableRow(experiment, cells, note="; ".join(filter(None, notes)))


def missing_text(description: Description) -> str:
    """Replicates without a score, with reasons; equal reasons are merged."""
    by_reason = group_pairs((clean(reason), replicate) for replicate, reason in description.missing)
    parts = [f"{replicates(indices)}: {reason}" for reason, indices in by_reason.items()]
    return f"no score from {'; '.join(parts)}" if parts else ""


def tails_text(description: Description) -> str:
    """The effect of heavy tails on the results, and outlying runs; empty if tails are not heavy."""
    if not (description.tails and description.outliers):
        return description.tails
    return f"{description.tails}; far out: {replicates(description.outliers)}"


def _interval_head(interval: Interval | Unavailable, name: str) -> str:
    if isinstance(interval, Unavailable):
        return name
    return f"{confidence_text(interval.confidence)} {name} ({interval.method})"

"""Descriptions as text: one metric over the runs of one experiment."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from deviate.model.comparisons import Description
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.phrases import Reason, parts_of
from deviate.model.plan import SelectedMetric
from deviate.model.texts import first_few
from deviate.report.document import Absent, Entry, SummaryLine, TableRow, cell
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
)
from deviate.report.numbers import PLUS_MINUS, Pieces, ShownNumber, append_unit, ends, share, text_of

LONGEST_UNIT = 40
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


def cell_of(estimate: Estimate, written: Callable[[float], Pieces]) -> Entry:
    """An estimate as text, or the reason why there is none."""
    if isinstance(estimate, Unavailable):
        return Absent(clean(estimate.reason))
    return cell(*written(estimate), value=estimate)


def estimate_cell(estimate: Estimate, places: int | None) -> Entry:
    return cell_of(estimate, lambda value: (ShownNumber(value, places),))


def signed_cell(estimate: Estimate, places: int | None, unit: str = "") -> Entry:
    """A difference with its sign."""
    return cell_of(estimate, lambda value: append_unit((ShownNumber(value, places, "signed"),), unit))


def interval_cell(interval: Interval | Unavailable, places: int | None) -> Entry:
    if isinstance(interval, Unavailable):
        return Absent(interval.reason)
    return cell(*noted_ends(interval, places), value=interval.low)


def note_interval(text: str, interval: Interval) -> str:
    """The text of an interval with its caveat."""
    return f"{text}, {interval.note}" if interval.note else text


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
    if isinstance(description.mean, Unavailable):
        return estimate_cell(description.mean, places)
    pieces: Pieces = (ShownNumber(description.mean, places),)
    if not isinstance(description.sd, Unavailable) and places is not None:
        pieces = (*pieces, PLUS_MINUS, ShownNumber(description.sd, places))
    return cell(*append_unit(pieces, unit), value=description.mean)


def mean_text(description: Description) -> str:
    """Mean ± SD with its unit, as in a sentence; `unknown` where no run has a score."""
    mean = mean_cell(description, unit_of(description.metric))
    return "unknown" if isinstance(mean, Absent) else mean.text


def range_cell(description: Description) -> Entry:
    if isinstance(description.minimum, Unavailable):
        return Absent(description.minimum.reason)
    if isinstance(description.maximum, Unavailable):
        return Absent(description.maximum.reason)
    pieces = ends(description.minimum, description.maximum, places_of(description))
    return cell(*pieces, value=description.minimum)


def summary_line(description: Description) -> SummaryLine:
    """The summary line of one metric, for a terminal and the head of the page."""
    name = name_text(description.metric.shown)
    has_spread = places_of(description) is not None and not isinstance(description.mean, Unavailable)
    intervals: list[str] = []
    places = places_of(description)
    if isinstance(description.mean_interval, Interval):
        level = confidence_text(description.mean_interval.confidence)
        mean = between(description.mean_interval.low, description.mean_interval.high, places)
        intervals.append(f"{level} CI mean {mean}")
    if isinstance(description.sd_interval, Interval):
        intervals.append(f"SD {between(description.sd_interval.low, description.sd_interval.high, places)}")
    remarks = restated(description)
    return SummaryLine(
        label=f"{name} (mean ± SD)" if has_spread else name,
        value=mean_cell(description, unit_of(description.metric)).text,
        details=(*intervals, *parts_of(description.note), f"n = {n_text(description)}"),
        remarks=tuple(remarks),
    )


def restated(description: Description) -> list[str]:
    """What is the same metric under other names, and what is a fixed function of it."""
    texts = [f"also {first_few([name_text(name) for name in description.aliases], MOST_NAMED)}"] * bool(
        description.aliases
    )
    functions = [name_text(text) for text in description.functions]
    return texts + [f"with it {first_few(functions, MOST_NAMED)}"] * bool(functions)


def range_line(description: Description) -> SummaryLine | None:
    """The range, shown below the primary metric; None if there is no spread."""
    spread, unit = range_cell(description), unit_of(description.metric)
    if isinstance(spread, Absent) or places_of(description) is None:
        return None
    return SummaryLine("range", f"{spread.text} {unit}" if unit else spread.text, ())


def description_columns(description: Description) -> tuple[str, ...]:
    """Column headings with level and method of the intervals, from the description."""
    return (
        "Experiment",
        "n",
        "mean ± SD",
        _interval_head(description.mean_interval, "CI of the mean"),
        _interval_head(description.sd_interval, "CI of the SD"),
        "CV",
        "median",
        "min … max",
    )


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

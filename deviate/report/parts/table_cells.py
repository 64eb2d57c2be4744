"""Cells of the results table: each value in one or two lines, with its footnotes."""

from dataclasses import replace

from deviate.model import Comparison, Description, Interval, Unavailable
from deviate.report.document import NOTHING, Absent, Cell, Entry, cell
from deviate.report.format import clean
from deviate.report.numbers import Number, ends, share
from deviate.report.parts.compare import margin_words, p_value_cell, places_of_difference
from deviate.report.parts.describe import cell_of, mean_cell, missing_text, n_pieces, places_of, range_cell

EMPTY = cell()


class Footnotes:
    """Footnotes in order of first use; equal footnotes share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def numbers(self, *texts: str) -> tuple[int, ...]:
        cleaned = dict.fromkeys(clean(text) for text in texts if text)
        self.texts += [text for text in cleaned if text not in self.texts]
        return tuple(sorted(self.texts.index(text) + 1 for text in cleaned))


def join_cells(first: Entry, second: Entry) -> Entry:
    """Two cells joined into one, with the footnotes of both."""
    marks = tuple(sorted({*first.marks, *second.marks}))
    if isinstance(second, Absent) or not second.pieces:
        return replace(first, marks=marks)
    if isinstance(first, Absent):
        return Cell((NOTHING, " ", *second.pieces), marks=marks)
    return replace(first, pieces=(*first.pieces, " ", *second.pieces), marks=marks)


def describe_cells(description: Description, notes: Footnotes) -> dict[str, Entry]:
    """The cells of one description by name."""
    places = places_of(description)
    mean_interval, sd_interval = (
        _bracket(interval, places, notes.numbers(interval.note))
        if isinstance(interval, Interval)
        else _mark(Absent(interval.reason), notes)
        for interval in (description.mean_interval, description.sd_interval)
    )
    return {
        "n": n_cell(description, notes),
        "mean": _mark(mean_cell(description), notes, description.note),
        "mean interval": mean_interval,
        "SD interval": sd_interval,
        "CV": _mark(cell_of(description.cv, share), notes),
        "range": _mark(range_cell(description), notes),
    }


def n_cell(description: Description, notes: Footnotes) -> Cell:
    return Cell(n_pieces(description, "/"), marks=notes.numbers(missing_text(description)))


def mean_of(description: Description, notes: Footnotes, *, is_best: bool) -> Entry:
    """Mean ± SD, for tables with a column of n."""
    mean = mean_cell(description)
    if isinstance(mean, Absent):
        return replace(mean, marks=notes.numbers(description.note or mean.reason))
    return replace(mean, is_best=is_best, marks=notes.numbers(description.note))


def mean_with_n(description: Description | None, label: str, notes: Footnotes, *, is_best: bool) -> Entry:
    """Mean ± SD, and n in parentheses."""
    if description is None:
        return absent(f"not reported by {label}", notes)
    mean, n = mean_of(description, notes, is_best=is_best), n_cell(description, notes)
    return join_cells(mean, replace(n, pieces=("(", *n.pieces, ")")))


def absent(reason: str, notes: Footnotes) -> Absent:
    return Absent(reason, marks=notes.numbers(reason))


def compare_cells(comparison: Comparison | None, notes: Footnotes) -> dict[str, Entry]:
    """The cells of one comparison by name; where a candidate did not report the metric, the verdict says so.

    Two that stand in one column are there as one too; `within` is the margin of an equivalence.
    """
    if comparison is None:
        nothing = Absent("not compared")
        cells: dict[str, Entry] = {"difference": nothing, "interval": EMPTY, "p": nothing}
        cells |= {"verdict": cell("not compared"), "within": EMPTY}
    else:
        word, within = comparison.verdict.word, margin_words(comparison)
        difference, interval = _difference(comparison, notes)
        p_adjusted = _mark(p_value_cell(comparison.p_adjusted), notes)
        verdict = Cell((word,), marks=notes.numbers(comparison.verdict.reason if word == "withheld" else ""))
        cells = {"difference": difference, "interval": interval, "p": p_adjusted}
        cells |= {"verdict": verdict, "within": cell(within) if within else EMPTY}
    return cells | {
        "difference and interval": join_cells(cells["difference"], cells["interval"]),
        "verdict and margin": join_cells(cells["verdict"], cells["within"]),
    }


def _difference(comparison: Comparison, notes: Footnotes) -> tuple[Entry, Entry]:
    """Difference with interval; the unit is stated with the metric."""
    difference, interval = comparison.difference, comparison.difference_interval
    if isinstance(difference, Unavailable):
        return Absent(difference.reason, marks=notes.numbers(difference.reason, comparison.note)), EMPTY
    places = places_of_difference(comparison)
    entry = cell(Number(difference, places, "signed"))
    if isinstance(interval, Unavailable):
        return replace(entry, marks=notes.numbers(interval.reason, comparison.note)), EMPTY
    return entry, _bracket(interval, places, notes.numbers(interval.note, comparison.note))


def _mark(entry: Entry, notes: Footnotes, note: str = "") -> Entry:
    reason = entry.reason if isinstance(entry, Absent) else ""
    return replace(entry, marks=notes.numbers(reason, note))


def _bracket(interval: Interval, places: int | None, marks: tuple[int, ...]) -> Cell:
    return Cell(("[", *ends(interval.low, interval.high, places), "]"), marks=marks)

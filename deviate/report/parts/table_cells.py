"""Cells of the table of results: each figure as one or two lines, with the footnotes that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from deviate.model import Comparison, Description, Estimate, Interval, Unavailable
from deviate.report.document import Absent, Entry
from deviate.report.format import between, clean, p_cell, percentage, signed
from deviate.report.parts.compare import places_of_difference, verdict_word
from deviate.report.parts.describe import mean_cell, missing_text, n_text, places_of, range_cell

NOTHING = "—"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of the table.

    Attributes:
        is_figure: numbers and signs alone, nothing of the user's.
        is_best: better than every other experiment of this row, by adjusted p.
        notes: numbers of the footnotes that belong to it, from 1.
    """

    text: str
    is_figure: bool = True
    is_best: bool = False
    notes: tuple[int, ...] = ()


EMPTY = TableCell("")


class Footnotes:
    """Footnotes in the order of their first use; equal ones share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def numbers(self, *texts: str) -> tuple[int, ...]:
        cleaned = dict.fromkeys(clean(text) for text in texts if text)
        self.texts += [text for text in cleaned if text not in self.texts]
        return tuple(sorted(self.texts.index(text) + 1 for text in cleaned))


@dataclass(frozen=True, slots=True)
class Described:
    """The cells of one description."""

    n: TableCell
    mean: TableCell
    mean_interval: TableCell
    sd_interval: TableCell
    cv: TableCell
    range: TableCell


@dataclass(frozen=True, slots=True)
class Compared:
    """The cells of one comparison; `within` is the margin of an equivalence."""

    difference: TableCell
    interval: TableCell
    p_value: TableCell
    verdict: TableCell
    within: TableCell

    @property
    def difference_and_interval(self) -> TableCell:
        return joined(self.difference, self.interval, " ")

    @property
    def verdict_and_margin(self) -> TableCell:
        return joined(self.verdict, self.within, " ")


def joined(first: TableCell, second: TableCell, between_them: str) -> TableCell:
    """Two cells as one; of two dashes one is enough."""
    texts = [it.text for it in (first, second) if it.text]
    if NOTHING in texts[1:]:
        texts = texts[:1]
    return replace(first, text=between_them.join(texts), notes=tuple(sorted({*first.notes, *second.notes})))


def described(description: Description, notes: Footnotes) -> Described:
    places = places_of(description)
    mean_interval, sd_interval = (
        TableCell(_bracket(it, places), notes=notes.numbers(it.note))
        if isinstance(it, Interval)
        else _cell(Absent(it.reason), notes)
        for it in (description.mean_interval, description.sd_interval)
    )
    return Described(
        n=n_cell(description, notes),
        mean=_cell(mean_cell(description), notes, description.note),
        mean_interval=mean_interval,
        sd_interval=sd_interval,
        cv=_estimate_cell(description.cv, percentage, notes),
        range=_cell(range_cell(description), notes),
    )


def n_cell(description: Description, notes: Footnotes) -> TableCell:
    return TableCell(_n(description), notes=notes.numbers(missing_text(description)))


def mean_of(description: Description, notes: Footnotes, *, is_best: bool) -> TableCell:
    """Mean ± SD, where n has a column of its own."""
    cell = mean_cell(description)
    reason = cell.text if isinstance(cell, Absent) and not description.note else ""
    told = notes.numbers(reason, description.note)
    return TableCell(NOTHING if isinstance(cell, Absent) else cell.text, is_best=is_best, notes=told)


def mean_with_n(description: Description | None, label: str, notes: Footnotes, *, is_best: bool) -> TableCell:
    """Mean ± SD, and n in parentheses."""
    if description is None:
        return TableCell(NOTHING, notes=notes.numbers(f"not reported by {label}"))
    mean = mean_of(description, notes, is_best=is_best)
    return joined(mean, replace(n_cell(description, notes), text=f"({_n(description)})"), " ")


def compared(comparison: Comparison | None, notes: Footnotes) -> Compared:
    """None where a candidate did not report the metric: said in the place of the verdict."""
    if comparison is None:
        dash = TableCell(NOTHING)
        return Compared(dash, EMPTY, dash, TableCell("not compared", is_figure=False), EMPTY)
    is_withheld = comparison.verdict.word == "withheld"
    word, within, margin = verdict_word(comparison).partition(" within ")
    difference, interval = _difference(comparison, notes)
    return Compared(
        difference=difference,
        interval=interval,
        p_value=_estimate_cell(comparison.p_adjusted, p_cell, notes),
        verdict=TableCell(word, is_figure=False, notes=notes.numbers(comparison.verdict.reason if is_withheld else "")),
        within=TableCell(f"{within.lstrip()}{margin}", is_figure=False),
    )


def _difference(comparison: Comparison, notes: Footnotes) -> tuple[TableCell, TableCell]:
    """With its interval, and without a unit, which stands with the metric."""
    difference, interval = comparison.difference, comparison.difference_interval
    if isinstance(difference, Unavailable):
        return TableCell(NOTHING, notes=notes.numbers(difference.reason, comparison.note)), EMPTY
    places = places_of_difference(comparison)
    text = signed(difference, places)
    if isinstance(interval, Unavailable):
        return TableCell(text, notes=notes.numbers(interval.reason, comparison.note)), EMPTY
    noted = TableCell(_bracket(interval, places), notes=notes.numbers(interval.note, comparison.note))
    return TableCell(text), noted


def _n(description: Description) -> str:
    return n_text(description).replace(" of ", "/")


def _cell(cell: Entry, notes: Footnotes, note: str = "") -> TableCell:
    if isinstance(cell, Absent):
        return TableCell(NOTHING, notes=notes.numbers(cell.text, note))
    return TableCell(cell.text, notes=notes.numbers(note))


def _estimate_cell(estimate: Estimate, written: Callable[[float], str], notes: Footnotes) -> TableCell:
    if isinstance(estimate, Unavailable):
        return TableCell(NOTHING, notes=notes.numbers(estimate.reason))
    return TableCell(written(estimate))


def _bracket(interval: Interval, places: int | None) -> str:
    return f"[{between(interval.low, interval.high, places)}]"

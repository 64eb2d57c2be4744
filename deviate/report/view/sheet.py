"""The view of a sheet: every word and rounded number of a short document, and what a program reads of it."""

from dataclasses import dataclass

from deviate.report.document import Fact, Row
from deviate.report.plots import GrowthPlot, KernelPlot, SweepPlot
from deviate.report.view.answer import Answer, Excerpt, Remark


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table; the cells of its rows follow the headers.

    Attributes:
        first: head of the column of labels.
    """

    caption: str
    first: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class SheetFigure:
    """A figure with the sentences below it."""

    plot: KernelPlot | SweepPlot | GrowthPlot
    caption: str


@dataclass(frozen=True, slots=True)
class SheetSection:
    """A part of the page.

    Attributes:
        key: its anchor.
        sentences: paragraphs before all else.
        absent: why there is nothing to show; empty where there is.
        excerpts: of files of the user's. remarks: titled parts, the weightiest first. limits: items of a list.
    """

    key: str
    heading: str
    sentences: tuple[str, ...] = ()
    figures: tuple[SheetFigure, ...] = ()
    tables: tuple[SheetTable, ...] = ()
    absent: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    remarks: tuple[Remark, ...] = ()
    limits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A short document.

    Attributes:
        answer: what a terminal shows of it and every form shows first; None where the first table is what was found.
        paste: what was found, in sentences with every figure of the first table.
        warnings: each with what to do.
        footnotes: how the numbers were made.
        facts: provenance.
        schema: number of the format of its JSON. data: the values behind it, unrounded.
        csv_rows: heads, and a row each, of the values in long form.
    """

    title: str
    subtitle: str
    paste: tuple[str, ...]
    sections: tuple[SheetSection, ...]
    warnings: tuple[str, ...]
    footnotes: tuple[str, ...]
    facts: tuple[Fact, ...]
    schema: int
    data: object
    csv_rows: tuple[tuple[str, ...], ...] = ()
    answer: Answer | None = None

"""Spread per class and sub-group, as a report shows it."""

from dataclasses import dataclass

from deviate.report.document import Row
from deviate.report.plots import BreakdownPlot


@dataclass(frozen=True, slots=True)
class BreakdownSection:
    """One measure of one experiment; `plot` is None where no class has a score."""

    anchor: str
    heading: str
    sentences: tuple[str, ...]
    caption: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    plot: BreakdownPlot | None
    is_folded: bool


@dataclass(frozen=True, slots=True)
class BreakdownsView:
    """Measures per class; `no_breakdowns` says why there are none."""

    no_breakdowns: str
    sections: tuple[BreakdownSection, ...]
    footnotes: tuple[str, ...]

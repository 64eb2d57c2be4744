"""Spread per class and sub-group, as a report shows it."""

from dataclasses import dataclass

from deviate.report.view.parts import Row


@dataclass(frozen=True, slots=True)
class BreakdownLine:
    """One class: the scores of its runs, and its mean with the SD where there is one."""

    label: str
    values: tuple[float, ...]
    mean: float | None
    sd: float | None


@dataclass(frozen=True, slots=True)
class BreakdownPlot:
    """Classes below each other, the widest first; `index` is the place of the experiment in the report.

    Attributes:
        has_range: a thin line joins the points of a class.
    """

    key: str
    title: str
    description: str
    caption: str
    axis: str
    index: int
    lines: tuple[BreakdownLine, ...]
    has_range: bool = False


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

"""How alike runs are beyond their scores, as a report shows it."""

from dataclasses import dataclass

from deviate.report.document import Row
from deviate.report.plots import BreakdownPlot, MatrixPlot, StepsPlot
from deviate.report.view.metrics import QuantityRow


@dataclass(frozen=True, slots=True)
class Quantities:
    """A row per quantity with how it was computed, a column per experiment."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[QuantityRow, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A row per class, group, example or experiment."""

    caption: str
    first: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """What is folded away under its name: figures first, then tables."""

    name: str
    plots: tuple[MatrixPlot | StepsPlot | BreakdownPlot, ...] = ()
    tables: tuple[Quantities, ...] = ()
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True)
class StabilityPart:
    """One evaluation set, the weights, the classes of a set …: sentences, figures, tables, what is folded away.

    Attributes:
        absent: what is not there, and why.
        notes: of what was taken for granted.
    """

    anchor: str
    heading: str
    sentences: tuple[str, ...] = ()
    plots: tuple[MatrixPlot | StepsPlot | BreakdownPlot, ...] = ()
    tables: tuple[Quantities, ...] = ()
    grids: tuple[Grid, ...] = ()
    folds: tuple[Fold, ...] = ()
    absent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StabilityView:
    """How alike runs are.

    Attributes:
        no_stability: why there is nothing at all; empty where there are parts.
        parts: evaluation sets, weights, convergence, weak models.
        absent: what of these is not there, and what to type.
        footnotes: how to read them.
        classes: classes and sub-groups of evaluation sets. no_classes, no_groups: why they are not there.
        class_footnotes: how to read these.
        lines: for a terminal and for a comment: at most four sentences.
    """

    no_stability: str
    parts: tuple[StabilityPart, ...] = ()
    absent: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    classes: tuple[StabilityPart, ...] = ()
    no_classes: str = ""
    no_groups: str = ""
    class_footnotes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

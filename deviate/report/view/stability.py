"""How alike runs are beyond their scores, as a report shows it."""

from dataclasses import dataclass

from deviate.report.view.breakdowns import BreakdownPlot
from deviate.report.view.metrics import QuantityRow
from deviate.report.view.parts import Row


@dataclass(frozen=True, slots=True)
class MatrixPlot:
    """A share or a distance for each pair of runs, as a heat map.

    Attributes:
        index: place of the experiment in the report. names: of the runs.
        values: (R, R), symmetric; what stands on the diagonal is not drawn.
        texts: what stands in the cells, alike; empty where they are too many for words.
        low, high: what the lightest and the darkest cell stand for.
    """

    key: str
    title: str
    description: str
    caption: str
    axis: str
    index: int
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class StepLine:
    """One experiment over main-loop steps; NaN where there is nothing, and where there is no interval."""

    index: int
    label: str
    note: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    band: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class StepsPlot:
    """How far runs are apart after steps of the main loop."""

    key: str
    title: str
    description: str
    caption: str
    axis: str
    lines: tuple[StepLine, ...]


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

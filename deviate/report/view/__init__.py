"""The report as a value: every number a chosen, rounded string, every sentence written, nothing left to decide.

Renderers lay out a view; they do not compute, round or choose words. Raw floats stand beside the text only where a
figure is drawn from them, and in `findings`, for the formats that machines read.
"""

from deviate.report.view.figures import (
    CurveGroup,
    CurvePlot,
    EstimationPlot,
    ForestPlot,
    ForestRow,
    PlottedDifference,
    PointGroup,
)
from deviate.report.view.many import ManyView, ProfileLine, ProfilePlot, RankPlot, TaskView
from deviate.report.view.metrics import (
    DescriptionRow,
    ExperimentSummary,
    MetricView,
    OverviewComparison,
    QuantityRow,
    SummaryLine,
    VerdictView,
)
from deviate.report.view.noise import (
    NoiseRowView,
    NoiseTableView,
    NoiseView,
    ProofRow,
)
from deviate.report.view.page import (
    View,
)
from deviate.report.view.parts import (
    Cell,
    Fact,
    Row,
    Tone,
)
from deviate.report.view.runs import (
    ControlRow,
    EnvironmentRow,
    FailureView,
    FlipRow,
    HashRow,
    Provenance,
    RunRow,
    SeedCallRow,
)

__all__ = [
    "Cell",
    "ControlRow",
    "CurveGroup",
    "CurvePlot",
    "DescriptionRow",
    "EnvironmentRow",
    "EstimationPlot",
    "ExperimentSummary",
    "Fact",
    "FailureView",
    "FlipRow",
    "ForestPlot",
    "ForestRow",
    "HashRow",
    "ManyView",
    "MetricView",
    "NoiseRowView",
    "NoiseTableView",
    "NoiseView",
    "OverviewComparison",
    "PlottedDifference",
    "PointGroup",
    "ProfileLine",
    "ProfilePlot",
    "ProofRow",
    "Provenance",
    "QuantityRow",
    "RankPlot",
    "Row",
    "RunRow",
    "SeedCallRow",
    "SummaryLine",
    "TaskView",
    "Tone",
    "VerdictView",
    "View",
]

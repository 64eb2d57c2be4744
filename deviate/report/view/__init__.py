"""The report as a value: every number a chosen, rounded string, every sentence written, nothing left to decide.

Renderers lay out a view; they do not compute, round or choose words. Raw floats stand beside the text only where a
figure is drawn from them, and in `findings`, for the formats that machines read.
"""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.view.metrics import DescriptionRow as DescriptionRow
    from deviate.report.view.metrics import ExperimentSummary as ExperimentSummary
    from deviate.report.view.metrics import MetricView as MetricView
    from deviate.report.view.metrics import OverviewComparison as OverviewComparison
    from deviate.report.view.metrics import SummaryLine as SummaryLine
    from deviate.report.view.metrics import VerdictView as VerdictView
    from deviate.report.view.page import View as View
    from deviate.report.view.runs import ControlRow as ControlRow
    from deviate.report.view.runs import EnvironmentRow as EnvironmentRow
    from deviate.report.view.runs import FailureView as FailureView
    from deviate.report.view.runs import FlipRow as FlipRow
    from deviate.report.view.runs import HashRow as HashRow
    from deviate.report.view.runs import Provenance as Provenance
    from deviate.report.view.runs import RunRow as RunRow
    from deviate.report.view.runs import SeedCallRow as SeedCallRow

load_on_first_use(
    __name__,
    {
        "deviate.report.view.metrics": (
            "DescriptionRow",
            "ExperimentSummary",
            "MetricView",
            "OverviewComparison",
            "SummaryLine",
            "VerdictView",
        ),
        "deviate.report.view.page": ("View",),
        "deviate.report.view.runs": (
            "ControlRow",
            "EnvironmentRow",
            "FailureView",
            "FlipRow",
            "HashRow",
            "Provenance",
            "RunRow",
            "SeedCallRow",
        ),
    },
)

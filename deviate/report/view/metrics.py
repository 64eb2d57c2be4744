"""Experiments, metrics and verdicts as a report shows them."""

from dataclasses import dataclass

from deviate.report.document import Entry, Row, Tone
from deviate.report.plots import CurvePlot, EstimationPlot


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One metric of one experiment in a line: `93.41 ± 0.22 %`, then interval, SD interval and n."""

    label: str
    value: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """The block of one experiment: its primary metric (or all, when there is none), then the others."""

    role: str
    label: str
    state: tuple[str, ...]
    lines: tuple[SummaryLine, ...]
    others: tuple[SummaryLine, ...]
    more: str


@dataclass(frozen=True, slots=True)
class DescriptionRow:
    """One metric of one experiment; the cells follow `MetricView.description_headers`."""

    experiment: str
    cells: tuple[Entry, ...]
    note: str


@dataclass(frozen=True, slots=True)
class OverviewComparison:
    """One metric of one candidate against the baseline, as the overview shows it; `remark` stands below it.

    `method` is that of the interval, such as `Welch`; empty where there is none.
    """

    difference: Entry
    interval: Entry
    p_adjusted: Entry
    word: str
    tone: Tone
    remark: str
    method: str = ""


@dataclass(frozen=True, slots=True)
class MetricView:
    """One metric: its row in the overview, its tables and its figures.

    Attributes:
        is_folded: its figures are there, but folded away.
        overview: mean ± SD per experiment; `overview_n` the number of runs behind each.
        cv: coefficient of variation by which metrics are ordered.
        overview_comparisons: per candidate; None where `not_compared` says why there is none.
        shape: further figures about the scores, a cell for each of `shape_experiments`: standard error, robust
            companions, cross-checks by resampling.
        no_estimation, no_curve: why a figure is absent; empty when it is there.
    """

    anchor: str
    name: str
    is_primary: bool
    is_folded: bool
    facts: tuple[str, ...]
    overview: tuple[Entry, ...]
    overview_n: tuple[str, ...]
    cv: Entry
    overview_comparisons: tuple[OverviewComparison | None, ...]
    not_compared: tuple[str, ...]
    description_headers: tuple[str, ...]
    descriptions: tuple[DescriptionRow, ...]
    shape_experiments: tuple[str, ...]
    shape: tuple[Row, ...]
    quantities: tuple[Row, ...]
    no_comparison: str
    estimation: EstimationPlot | None
    no_estimation: str
    curve: CurvePlot | None
    no_curve: str


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The answer for one candidate.

    Attributes:
        change: the metric with its difference, e.g. `test_acc +0.33 points`; interval and effect follow it.
        paste: the sentence to paste into a paper.
    """

    candidate: str
    baseline: str
    word: str
    tone: Tone
    metric: str
    change: str
    interval: str
    effect: str
    tests: tuple[str, ...]
    spread: str
    detectable: str
    reason: str
    paste: str

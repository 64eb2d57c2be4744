"""The report as a value: every number a chosen, rounded string, every sentence written, nothing left to decide.

Renderers lay out a view; they do not compute, round or choose words. Raw floats stand beside the text only where a
figure is drawn from them, and in `findings`, for the formats that machines read.
"""

from dataclasses import dataclass
from typing import Literal

from deviate.model import Findings, Series

Tone = Literal["good", "bad", "neutral"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as text, or, with `is_reason`, why there is none."""

    text: str
    is_reason: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled piece of provenance."""

    label: str
    cell: Cell


# ---------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class PointGroup:
    """The scores of one experiment; `mean` and its interval are None where the findings have none."""

    label: str
    note: str
    values: tuple[float, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PlottedDifference:
    """Candidate minus baseline with its interval, or the reason why there is none to draw."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class EstimationPlot:
    """Raw points of every experiment, the baseline first, and the difference of each candidate to it."""

    key: str
    title: str
    description: str
    axis: str
    difference_axis: str
    groups: tuple[PointGroup, ...]
    differences: tuple[PlottedDifference, ...]


@dataclass(frozen=True, slots=True)
class CurveGroup:
    """The runs of one experiment: those that count, and those that ended otherwise."""

    label: str
    counted: tuple[Series, ...]
    failed: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """One metric over main-loop steps, in every run."""

    key: str
    title: str
    description: str
    axis: str
    confidence: float
    groups: tuple[CurveGroup, ...]


# ---------------------------------------------------------------- experiments and metrics


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


@dataclass(frozen=True, slots=True)
class DescriptionRow:
    """One metric of one experiment; the cells follow `MetricView.description_headers`."""

    experiment: str
    cells: tuple[Cell, ...]
    note: str


@dataclass(frozen=True, slots=True)
class QuantityRow:
    """One quantity of a comparison: its name, how it is computed, and a cell per candidate."""

    label: str
    method: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class OverviewComparison:
    """One metric of one candidate against the baseline, as the overview shows it."""

    difference: Cell
    interval: Cell
    p_adjusted: Cell
    word: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class MetricView:
    """One metric: its row in the overview, its tables and its figures.

    Attributes:
        overview: mean ± SD per experiment; `overview_n` the number of runs behind each.
        overview_comparisons: per candidate; None where the candidate did not report the metric.
        no_estimation, no_curve: why a figure is absent; empty when it is there.
    """

    anchor: str
    name: str
    is_primary: bool
    facts: tuple[str, ...]
    overview: tuple[Cell, ...]
    overview_n: tuple[str, ...]
    overview_comparisons: tuple[OverviewComparison | None, ...]
    description_headers: tuple[str, ...]
    descriptions: tuple[DescriptionRow, ...]
    quantities: tuple[QuantityRow, ...]
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


# ---------------------------------------------------------------- runs


@dataclass(frozen=True, slots=True)
class FailureView:
    """A run that did not complete."""

    experiment: str
    run: str
    outcome: str
    reason: str
    log: str
    stderr: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the table of runs and seed sets."""

    replicate: str
    outcome: str
    exit_code: str
    started: str
    wall_time: str
    seeds: str


@dataclass(frozen=True, slots=True)
class SeedCallRow:
    """A seeding call of the script: what it asked for and what became of it."""

    call: str
    place: str
    value: str
    action: str
    n_runs: str


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """A fact about the environment; `differs` if not all runs found the same."""

    name: str
    value: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the runs of one experiment come from; `no_…` says why a part is absent."""

    label: str
    facts: tuple[Fact, ...]
    runs: tuple[RunRow, ...]
    seed_calls: tuple[SeedCallRow, ...]
    no_seed_calls: str
    environment: tuple[EnvironmentRow, ...]
    no_environment: str


# ---------------------------------------------------------------- the page


@dataclass(frozen=True, slots=True)
class View:
    """A whole report.

    Attributes:
        verdicts: one per candidate; empty for a single experiment or without a primary metric (then see `no_verdict`).
        paste: sentences to paste, one per verdict, or one that describes the single experiment.
        limits: what this report does not show.
    """

    title: str
    subtitle: str
    experiments: tuple[ExperimentSummary, ...]
    candidates: tuple[str, ...]
    verdicts: tuple[VerdictView, ...]
    no_verdict: str
    paste: tuple[str, ...]
    scope: str
    limits: tuple[str, ...]
    warnings: tuple[str, ...]
    metrics: tuple[MetricView, ...]
    curves_note: str
    footnotes: tuple[str, ...]
    failures: tuple[FailureView, ...]
    no_failures: str
    provenance: tuple[Provenance, ...]
    analysis: tuple[Fact, ...]
    findings: Findings

"""A whole report."""

from dataclasses import dataclass

from deviate.model import Findings
from deviate.report.document import Fact, Section
from deviate.report.view.metrics import ExperimentSummary, MetricView, VerdictView
from deviate.report.view.runs import FailureView, Provenance


@dataclass(frozen=True, slots=True)
class View:
    """A whole report.

    Attributes:
        verdicts: one per candidate; empty for a single experiment or without a primary metric (then see `no_verdict`).
        paste: sentences to paste, one per verdict, or one that describes the single experiment.
        points_note, curves_note: how to read the figures of every run, and of curves; empty where there are none.
        no_curves: why there are no curves; empty where there are.
        folded_metrics: how many metrics have figures that are folded away; empty where none has.
        overview_caption, cv_head: of the table of all metrics.
        limits: what this report does not show.
        many: a metric each, where three or more experiments are compared; tasks: where metrics are tasks.
        outcome_lines: failures, time to targets, curves compared, for a terminal.
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
    points_note: str
    overview_caption: str
    cv_head: str
    metrics: tuple[MetricView, ...]
    curves_note: str
    no_curves: str
    folded_metrics: str
    many: tuple[Section, ...]
    tasks: Section | None
    together: tuple[str, ...]
    together_left: int
    task_lines: tuple[str, ...]
    outcomes: Section
    outcome_lines: tuple[str, ...]
    noise: Section
    noise_brief: Section | None
    statements: tuple[str, ...]
    footnotes: tuple[str, ...]
    failures: tuple[FailureView, ...]
    no_failures: str
    divergence: Section
    stability: Section
    stability_lines: tuple[str, ...]
    classes: Section
    breakdowns: Section
    planning: Section
    data: Section
    provenance: tuple[Provenance, ...]
    analysis: tuple[Fact, ...]
    findings: Findings

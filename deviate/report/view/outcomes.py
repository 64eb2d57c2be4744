"""How runs ended, when they reached a target, and how their curves differ, as a report shows it."""

from dataclasses import dataclass

from deviate.report.document import Entry
from deviate.report.plots import DifferencePlot, SurvivalPlot


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """A table; each row is a label with cells that follow `headers`, the first of which stands above the labels."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]


@dataclass(frozen=True, slots=True)
class OutcomeView:
    """Outcomes of runs.

    Attributes:
        completion: how many runs of each experiment completed. rates: candidates compared with the baseline in it.
        worst_rank: metrics with failed runs ranked worst. targets: time to each target.
        curves: one row per metric; without any, `no_curves` says why.
        lines: for a terminal, a line each. footnotes: how to read the tables.
    """

    completion: OutcomeTable
    rates: OutcomeTable | None
    worst_rank: OutcomeTable | None
    targets: OutcomeTable | None
    target_tests: OutcomeTable | None
    curves: OutcomeTable | None
    no_curves: str
    survival: tuple[SurvivalPlot, ...]
    differences: tuple[DifferencePlot, ...]
    lines: tuple[str, ...]
    footnotes: tuple[str, ...]

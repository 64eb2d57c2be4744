"""How runs ended, when they reached a target, and how their curves differ, as a report shows it."""

from dataclasses import dataclass

from deviate.report.view.parts import Cell


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """A table; each row is a label with cells that follow `headers`, the first of which stands above the labels."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class SurvivalLine:
    """Share of the runs of one experiment that are not there yet, by step; it changes at each point.

    Attributes:
        index: of the experiment, which gives the colour.
        ended: steps at which runs ended that never got there.
    """

    label: str
    note: str
    index: int
    points: tuple[tuple[int, float], ...]
    ended: tuple[int, ...]
    last: int


@dataclass(frozen=True, slots=True)
class SurvivalPlot:
    """Runs on their way to the target of one metric."""

    key: str
    title: str
    description: str
    caption: str
    lines: tuple[SurvivalLine, ...]


@dataclass(frozen=True, slots=True)
class DifferencePlot:
    """Candidate less baseline over steps with a band that holds at all of them at once.

    Attributes:
        first: the first step at which the band leaves 0; None where it never does.
        index: of the candidate, which gives the colour.
        note: how many runs of each side there are.
    """

    key: str
    title: str
    description: str
    caption: str
    axis: str
    note: str
    index: int
    steps: tuple[int, ...]
    difference: tuple[float, ...]
    band: tuple[tuple[float, float], ...]
    first: int | None


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

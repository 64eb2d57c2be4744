"""Where the spread comes from, as a report shows it."""

from dataclasses import dataclass

from deviate.report.document import Entry
from deviate.report.plots import ForestPlot


@dataclass(frozen=True, slots=True)
class NoiseRowView:
    """One variant in one metric; the cells follow `NoiseTableView.headers`.

    Attributes:
        brief: n, SD, ratio and share with their intervals; empty where there is none.
        remark: what stands below the row in the brief form; empty where nothing does.
    """

    variant: str
    cells: tuple[Entry, ...]
    note: str
    brief: tuple[str, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class NoiseTableView:
    """One metric over the variants; `brief_headers` are for the brief form, the metric first.

    Attributes:
        missing: why some variants have no ratio or no share, each reason once.
    """

    anchor: str
    name: str
    is_primary: bool
    headers: tuple[str, ...]
    brief_headers: tuple[str, ...]
    rows: tuple[NoiseRowView, ...]
    missing: tuple[str, ...]
    excess: Entry
    forest: ForestPlot | None
    no_forest: str


@dataclass(frozen=True, slots=True)
class ProofRow:
    """Whether the runs of one variant are bitwise equal: in all, in metrics, in weights, and in what they tested."""

    variant: str
    n: str
    equal: str
    metrics: str
    weights: str
    evaluation: str


@dataclass(frozen=True, slots=True)
class NoiseView:
    """Where the spread comes from.

    Attributes:
        no_tables: why there are none; empty when there are.
        overhead: wall time with kernels held over that with kernels free; empty when not both sorts were run.
    """

    no_tables: str
    tables: tuple[NoiseTableView, ...]
    statements: tuple[str, ...]
    overhead: str
    proofs: tuple[ProofRow, ...]
    paste: tuple[str, ...]
    footnotes: tuple[str, ...]

"""Three or more experiments, and experiments over several tasks, as a report shows them."""

from dataclasses import dataclass

from deviate.report.document import Fact, Row
from deviate.report.plots import ProfilePlot, RankPlot


@dataclass(frozen=True, slots=True)
class ManyView:
    """One metric over three or more experiments.

    Attributes:
        sentence: to paste. lines: the same for a terminal, a line each.
        omnibus: whether they differ at all, a test each.
        no_dunnett: why no candidate is compared with the baseline; empty where they are.
        matrix: row less column, below the diagonal; empty cells elsewhere.
    """

    anchor: str
    name: str
    is_primary: bool
    sentence: str
    lines: tuple[str, ...]
    omnibus: tuple[Fact, ...]
    dunnett_caption: str
    dunnett_headers: tuple[str, ...]
    dunnett: tuple[Row, ...]
    no_dunnett: str
    matrix_caption: str
    matrix_headers: tuple[str, ...]
    matrix: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class TaskView:
    """Experiments over several tasks.

    Attributes:
        rows: an experiment each, in the order of `headers`. no_rows: why there are none.
        no_ranks, no_profile: why a figure is absent; empty where it is there.
        matrix: p of each pair by ranks, below the diagonal.
    """

    sentence: str
    lines: tuple[str, ...]
    facts: tuple[Fact, ...]
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    no_rows: str
    ranks: RankPlot | None
    no_ranks: str
    profile: ProfilePlot | None
    no_profile: str
    matrix_headers: tuple[str, ...]
    matrix: tuple[Row, ...]
    footnotes: tuple[str, ...]

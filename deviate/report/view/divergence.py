"""Where runs part, as a report shows it."""

from dataclasses import dataclass

from deviate.report.document import Row


@dataclass(frozen=True, slots=True)
class DivergenceView:
    """Whether runs of a variant are bitwise equal, and where they differ first.

    Attributes:
        no_divergence: why it cannot be told where runs with everything held part; there may be rows all the same.
        sentences: the first difference of each variant in full precision.
        advice: what finds the line of the program, where runs part that should not; empty where none do.
        commands: to copy, one for each experiment of which that is so.
    """

    no_divergence: str
    sentences: tuple[str, ...]
    caption: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    advice: str = ""
    commands: tuple[str, ...] = ()

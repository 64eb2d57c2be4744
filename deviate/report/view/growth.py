"""How two runs grow apart in one reported quantity, as a figure shows it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GrowthPanel:
    """One axis over the steps.

    Attributes:
        axis: its name.
        lines: a line each, by its label; the values stand at the steps of the plot, NaN where there is none.
        is_logarithmic: the axis is one of powers of ten, with a place of its own for 0 below them.
    """

    axis: str
    lines: tuple[tuple[str, tuple[float, ...]], ...]
    is_logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class GrowthPlot:
    """Panels above each other over the same steps.

    Attributes:
        steps_axis: name of the axis of steps. first: the first step at which the runs differ, None where they do not.
        names: of both runs.
    """

    key: str
    title: str
    description: str
    steps_axis: str
    steps: tuple[int, ...]
    first: int | None
    names: tuple[str, str]
    panels: tuple[GrowthPanel, ...]
    caption: str = ""

"""One measure against the values of an argument, as a figure shows it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One value of the argument.

    Attributes:
        at: place on the axis: the value, or its number from 0 where values are words.
        label: the value as it was given.
        estimate, low, high: the measure and its interval, None where there is none.
        raw: scores of single runs where the measure is their mean.
    """

    at: float
    label: str
    estimate: float | None
    low: float | None = None
    high: float | None = None
    raw: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One variant over all values; `index` gives it colour and shape."""

    index: int
    label: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True, slots=True)
class SweepPlot:
    """Attributes: scale of the argument's axis: "log", "linear", or "names" where values are words."""

    key: str
    title: str
    description: str
    axis: str
    argument: str
    scale: str
    from_zero: bool
    lines: tuple[SweepLine, ...]
    caption: str = ""

"""The kernels of two modes as a figure shows them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One kernel: seconds in a window, None where a mode does without it."""

    label: str
    free: float | None
    held: float | None


@dataclass(frozen=True, slots=True)
class KernelPlot:
    """Kernels below each other, the longest first, on a logarithmic axis of seconds.

    Attributes:
        axis: its name. ticks: places in seconds, and what stands there.
        free, held: names of the modes.
    """

    key: str
    title: str
    description: str
    axis: str
    ticks: tuple[tuple[float, str], ...]
    free: str
    held: str
    lines: tuple[KernelLine, ...]
    caption: str = ""

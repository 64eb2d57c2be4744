"""What determinism costs: times with kernels free and with kernels held, of whole runs, of steps and of kernels."""

from dataclasses import dataclass
from typing import Literal

from deviate.model.estimates import Estimate, Interval, Unavailable

Timed = Literal["run", "step", "kernels"]
"""run: wall time of a whole run, start-up included. step: of one step of the main loop. kernels: self time of all
kernels, or operators, in the window that was profiled."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the main loop of one run went.

    Attributes:
        n_steps: that began, two at least.
        step_s: mean seconds from the beginning of one to that of the next.
    """

    n_steps: int
    step_s: float


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel, or operator, in a window; `seconds` of its own, over all calls. Of several windows, the means."""

    name: str
    calls: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profiler saw in a window of one run.

    Attributes:
        replicate: of the run. device: "cpu", or the kind of the accelerator.
        measure: what the times are, in words.
        window: first step of the main loop, and the first one after.
        n_updates: of the weights in the window; None where the framework does not tell.
        wall_s: of the window, slowed down by the profiler. reading_s: until what was seen had been read.
        kernels: longest first.
    """

    replicate: int
    framework: str
    device: str
    measure: str
    window: tuple[int, int]
    n_updates: int | None
    wall_s: float
    reading_s: float
    kernels: tuple[KernelTime, ...]

    @property
    def total_s(self) -> float:
        """Self times of all kernels together."""
        return sum(kernel.seconds for kernel in self.kernels)


@dataclass(frozen=True, slots=True)
class CostFactor:
    """One quantity in both modes.

    Attributes:
        free_s, held_s: seconds in each run that counts, in order of replicate.
        factor: mean held over mean free: 1 is free of charge. What is published in percent is 100 times that.
            Source: Zhuang et al. (2022), 100 T_det / T_default.
    """

    quantity: Timed
    free_s: tuple[float, ...]
    held_s: tuple[float, ...]
    free_mean_s: Estimate
    held_mean_s: Estimate
    factor: Estimate
    interval: Interval | Unavailable


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One kernel in both modes, over the profiled runs that count.

    Attributes:
        free_s, held_s: mean seconds in a window; 0 where a mode does without the kernel.
        free_calls, held_calls: mean number of calls in a window.
        factor: held_s over free_s; unavailable where one mode does without it.
    """

    name: str
    free_s: float
    held_s: float
    free_calls: float
    held_calls: float
    factor: Estimate


@dataclass(frozen=True, slots=True)
class ProfileFindings:
    """What profiled runs say.

    Attributes:
        n_free, n_held: profiled runs that count; the first of each warms up and does not.
        kernels: the longest ones of either mode, by the longer of their two times. n_kernels: of all.
        free_s, held_s: mean self time of all kernels in a window.
        shown_share: of the time of all kernels of both modes, that of those shown.
        slowdown: wall time of a profiled run over that of one that is not, in the free mode.
    """

    framework: str
    device: str
    measure: str
    window: tuple[int, int]
    n_updates: int | None
    n_free: int
    n_held: int
    n_kernels: int
    kernels: tuple[KernelCost, ...]
    free_s: Estimate
    held_s: Estimate
    shown_share: float
    slowdown: Estimate


@dataclass(frozen=True, slots=True)
class CostFindings:
    """The cost of determinism of one command.

    Attributes:
        free, held: names of the variants, with kernels free and with kernels held.
        n_free, n_held: completed runs of each, without the first, which warms up.
        factors: of whole runs, of steps, and of kernels where they were profiled.
        profile: unavailable with the reason where nothing was profiled.
        facts: label and text: machine, device, threads, versions.
    """

    experiment: str
    command: tuple[str, ...]
    free: str
    held: str
    n_free: int
    n_held: int
    confidence: float
    factors: tuple[CostFactor, ...]
    profile: ProfileFindings | Unavailable
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

"""Statistics by name: which functions of scores there are, and what must hold of each whatever the scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from deviate.registry import Registry

Behaviour = Literal["follows", "ignores", "squares", "neither"]
"""What a number does when all scores are shifted or scaled: moves with them, stays, goes with the square of the scale,
or none of these."""
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of one or more samples of scores, each a sequence of floats, one per run, the baseline first.

    Attributes:
        n_samples: samples it takes as positional arguments; None for any number of them.
        minimum: runs it needs in each; with fewer it returns an `Unavailable`, it never raises.
        shift, scale: of an estimate, of both ends of an interval, or of the p of a test.
        draws: whether it takes `rng`.
        is_paired: whether the order of runs within samples binds them together.
    """

    name: str
    function: Callable[..., Any]
    n_samples: int | None
    minimum: int
    shift: Behaviour
    scale: Behaviour
    draws: bool
    is_paired: bool


STATISTICS: Registry[Statistic] = Registry("deviate.stats", "deviate.statistics")


def statistic(
    *,
    n_samples: int | None,
    minimum: int,
    shift: Behaviour,
    scale: Behaviour,
    draws: bool = False,
    is_paired: bool = False,
) -> Callable[[Function], Function]:
    """Register a function under its own name; it is returned as it is."""

    def register(function: Function) -> Function:
        name = function.__name__
        STATISTICS.add(name, Statistic(name, function, n_samples, minimum, shift, scale, draws, is_paired))
        return function

    return register

"""Registry of statistics: functions of scores by name, and the properties that hold for all scores."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from deviate.errors import ToolError
from deviate.model.estimates import Interval, Unavailable
from deviate.registry import Registry

Behaviour = Literal["follows", "ignores", "squares", "neither"]
"""How a statistic changes when all scores are shifted or scaled: with them, not at all, with the square of the scale,
or in none of these ways."""
Function = TypeVar("Function", bound=Callable[..., Any])
Refuse = Callable[..., Unavailable | None]
"""A function of the minimum number of runs and the samples: why there is no answer, or None."""

NumberKind = Literal["ratio", "difference", "test"]
"""Kind of a number, which decides its rounding: without a unit, in units of the metric, or of a test."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A function of one or more samples of scores, each a sequence of floats, one per run, the baseline first.

    A statistic that compares two samples and has a `label` is shown wherever comparisons are: in tables, JSON and its
    schema, CSV, LaTeX macros and the bibliography. One without has a field of `Comparison`, or is part of others.

    Attributes:
        name: of the function; of JSON members and CSV columns too, and of LaTeX commands in capitals and without `_`.
        n_samples: samples it takes as positional arguments; None for any number of them.
        minimum: runs it needs in each; with fewer it returns an `Unavailable`, it never raises.
        shift, scale: of an estimate, of both ends of an interval, or of the p of a test.
        draws: whether it takes `rng`.
        is_paired: whether the order of runs within samples binds them together.
        group, label: the heading under which a table has it, and what it is called there.
        kind: of the number. letter: of the statistic of a test, as t or U.
        method: how it is computed, in a few words.
        interval: a function of the same samples and of `confidence`, for an interval around the estimate.
        cites: what a paper cites for it: keys of the bibliography, or whole entries of BibTeX.
    """

    name: str
    function: Callable[..., Any]
    n_samples: int | None
    minimum: int
    shift: Behaviour
    scale: Behaviour
    draws: bool
    is_paired: bool
    group: str = ""
    label: str = ""
    kind: NumberKind = "ratio"
    letter: str = ""
    method: str = ""
    interval: Callable[..., Interval | Unavailable] | None = None
    cites: tuple[str, ...] = ()


STATISTICS: Registry[Statistic] = Registry("deviate.stats", "deviate.statistics")


def statistic(
    *,
    n_samples: int | None,
    minimum: int,
    shift: Behaviour,
    scale: Behaviour,
    draws: bool = False,
    is_paired: bool = False,
    name: str = "",
    refuse: Refuse | None = None,
    **presentation: Any,
) -> Callable[[Function], Function]:
    """Register a function; it is returned as it is, or behind `refuse`. The arguments are those of `Statistic`.

    Args:
        name: where it is not the function's own.
        refuse: asked with `minimum` and the samples before the function is; its reason is the answer.
    """

    def register(function: Function) -> Function:
        guarded = function if refuse is None else _guard(function, minimum, refuse)
        entry = Statistic(
            name or function.__name__, guarded, n_samples, minimum, shift, scale, draws, is_paired, **presentation
        )
        if entry.label and n_samples != 2:
            raise ToolError(f"{entry.name} has a label, but does not compare two samples", "remove the label")
        STATISTICS.add(entry.name, entry, function.__module__)
        return guarded

    return register


def _guard(function: Function, minimum: int, refuse: Refuse) -> Function:
    @functools.wraps(function)
    def guarded(*samples: Any, **options: Any) -> Any:
        return refuse(minimum, *samples) or function(*samples, **options)

    return cast(Function, guarded)


@functools.cache
def labelled_statistics() -> tuple[Statistic, ...]:
    """Every statistic with a label, ordered by name."""
    return tuple(statistic for statistic in STATISTICS.values() if statistic.label)

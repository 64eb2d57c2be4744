"""Growth of a difference: losses by update, and metrics by main-loop step, thinned for a plot."""

import math
from collections.abc import Mapping, Sequence

from deviate.diverge.columns import columns
from deviate.diverge.findings import Growth, Trace
from deviate.diverge.ulps import float_form, value_ulps
from deviate.model import Run, Series

MOST_POINTS = 400
"""Of one quantity that are kept, evenly on a logarithmic scale of steps counted from the first difference."""


def growth_of_losses(first: Trace, second: Trace) -> tuple[Growth, ...]:
    """Each loss of both traces by update; of several with one name in a step, the last one is used."""
    mine, theirs = _losses(first), _losses(second)
    return tuple(_growth(name, mine[name], theirs[name], is_update=True) for name in mine if name in theirs)


def growth_of_metrics(first: Run, second: Run, names: Sequence[str]) -> tuple[Growth, ...]:
    """Each metric that both runs report within the main loop, sorted by name."""
    return tuple(
        _growth(name, _points(first.series[name]), _points(second.series[name]), is_update=False)
        for name in names
        if name in first.series and name in second.series
    )


def _losses(trace: Trace) -> dict[str, dict[int, float]]:
    records = columns(trace.records)
    distances: dict[str, dict[int, float]] = {}
    values = [more.get("value") for more in records.mores]
    for index, more in enumerate(records.more):
        value = values[more]
        if isinstance(value, int | float | str) and records.heads[records.head[index]][0] == "loss":
            distances.setdefault(records.heads[records.head[index]][1], {})[records.steps[index]] = float(value)
    return distances


def _points(series: Series) -> dict[int, float]:
    return {step: value for step, value in zip(series.steps, series.values, strict=True) if step is not None}


def _growth(name: str, mine: Mapping[int, float], theirs: Mapping[int, float], *, is_update: bool) -> Growth:
    steps = sorted(mine.keys() & theirs.keys())
    form = float_form(*(values[step] for values in (mine, theirs) for step in steps))
    begin = next((at for at, step in enumerate(steps) if not is_same(mine[step], theirs[step])), None)
    chosen = [steps[at] for at in thin_indices(len(steps), begin)]
    return Growth(
        name=name,
        unit="update" if is_update else "main-loop step",
        steps=tuple(chosen),
        differences=tuple(_distance(mine[step], theirs[step]) for step in chosen),
        ulps=tuple(value_ulps(mine[step], theirs[step], form) for step in chosen),
        first=tuple(mine[step] for step in chosen),
        second=tuple(theirs[step] for step in chosen),
        form=form,
    )


def thin_indices(n: int, begin: int | None, most: int = MOST_POINTS) -> list[int]:
    """At most `most` indices of `n` points, including the first, the last, `begin` and the one before it.

    Args:
        begin: of the first difference, from which on distances grow by a factor; None where all are equal.
    """
    if n <= most:
        return list(range(n))
    start = begin or 0
    indices = {0, max(0, start - 1), start, n - 1}
    span = n - 1 - start
    room = most - len(indices)
    indices |= {start + round(span ** (at / max(1, room - 1))) for at in range(room)} if span > 0 else set()
    return sorted(indices)


def is_same(one: float, other: float) -> bool:
    """Whether two values are bitwise the same; any two NaN are."""
    return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)  # noqa: PLR0124


def _distance(one: float, other: float) -> float:
    """Absolute difference; 0 for equal infinities and for two NaN, infinite if only one is finite."""
    if one == other or (one != one and other != other):  # noqa: PLR0124  (NaN alone differs from itself)
        return 0.0
    apart = abs(one - other)
    return apart if apart == apart else math.inf  # noqa: PLR0124

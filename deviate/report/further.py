"""Statistics that are registered with a label: each is shown by what it says of itself, in every form."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from deviate.model import NOT_ASKED, Comparison, Estimate, FurtherFigure, Interval, Test, Unavailable
from deviate.stats import Statistic, labelled_statistics


@dataclass(frozen=True, slots=True)
class FurtherField:
    """What such a statistic adds to the fields of a comparison.

    Attributes:
        kind: the type of its values, as annotated.
    """

    name: str
    kind: object
    statistic: Statistic
    of: Callable[[Comparison], object]


def figure_of(comparison: Comparison, name: str) -> FurtherFigure:
    """The figure of a statistic; one that was not asked for where the comparison has none."""
    return next((figure for figure in comparison.further if figure.name == name), FurtherFigure(name, NOT_ASKED))


def further_fields() -> Iterator[FurtherField]:
    """In the order of names, the interval of an estimate behind it."""
    for statistic in labelled_statistics():
        kind: object = Test | Unavailable if statistic.kind == "test" else Estimate
        yield FurtherField(statistic.name, kind, statistic, partial(_member, statistic.name, "value"))
        if statistic.interval is not None:
            interval = partial(_member, statistic.name, "interval")
            yield FurtherField(f"{statistic.name}_interval", Interval | Unavailable, statistic, interval)


def _member(name: str, member: str, comparison: Comparison) -> object:
    return getattr(figure_of(comparison, name), member)

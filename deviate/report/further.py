"""Statistics that are registered with a label, which every form shows by their own description."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from deviate.model import NOT_ASKED, Comparison, Estimate, FurtherFigure, Interval, Test, Unavailable
from deviate.stats import Statistic, labelled_statistics


@dataclass(frozen=True, slots=True)
class FurtherField:
    """The fields that such a statistic adds to a comparison.

    Attributes:
        kind: the type of its values, as annotated.
    """

    name: str
    kind: object
    statistic: Statistic
    of: Callable[[Comparison], object]


def figure_of(comparison: Comparison, name: str) -> FurtherFigure:
    """The value of the statistic; unavailable if the comparison does not have it."""
    return next((figure for figure in comparison.further if figure.name == name), FurtherFigure(name, NOT_ASKED))


def further_fields() -> Iterator[FurtherField]:
    """Fields in order of name, each estimate followed by its interval."""
    for statistic in labelled_statistics():
        kind: object = Test | Unavailable if statistic.kind == "test" else Estimate
        yield FurtherField(statistic.name, kind, statistic, partial(_member, statistic.name, "value"))
        if statistic.interval is not None:
            interval = partial(_member, statistic.name, "interval")
            yield FurtherField(f"{statistic.name}_interval", Interval | Unavailable, statistic, interval)


def _member(name: str, member: str, comparison: Comparison) -> object:
    return getattr(figure_of(comparison, name), member)

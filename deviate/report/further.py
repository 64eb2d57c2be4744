"""Statistics that are registered with a label: each is shown by what it says of itself, in every form."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
        yield FurtherField(statistic.name, kind, statistic, _value_of(statistic.name))
        if statistic.interval is not None:
            yield FurtherField(
                f"{statistic.name}_interval", Interval | Unavailable, statistic, _interval_of(statistic.name)
            )


def _value_of(name: str) -> Callable[[Comparison], object]:
    return lambda comparison: figure_of(comparison, name).value


def _interval_of(name: str) -> Callable[[Comparison], object]:
    return lambda comparison: figure_of(comparison, name).interval

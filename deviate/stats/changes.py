"""Changes the tests and intervals of a comparison: why they do not hold, or a note on them."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from deviate.model.comparisons import Comparison
from deviate.model.estimates import Interval, Test, Unavailable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


def change_comparison(
    comparison: Comparison,
    test: Callable[[Test], Test | Unavailable],
    interval: Callable[[Interval], Interval | Unavailable],
) -> Comparison:
    """Apply functions to every test and interval of a comparison.

    `detectable_interval` is left alone: it is about the spread, not about the difference.
    """
    parts: dict[str, Any] = {
        name: part if isinstance(part, Unavailable) else change_results(part, test, interval)
        for name in ("paired", "curve", "attainment")
        for part in [getattr(comparison, name)]
    }
    return replace(
        change_results(comparison, test, interval),
        detectable_interval=comparison.detectable_interval,
        further=tuple(change_results(figure, test, interval) for figure in comparison.further),
        **parts,
    )


def change_results(
    record: Record,
    test: Callable[[Test], Test | Unavailable],
    interval: Callable[[Interval], Interval | Unavailable],
) -> Record:
    """A dataclass with the tests and the intervals among its fields changed; those of records inside it stay."""
    results = {field.name: getattr(record, field.name) for field in fields(record)}
    changed: dict[str, Any] = {name: test(result) for name, result in results.items() if isinstance(result, Test)}
    changed |= {name: interval(result) for name, result in results.items() if isinstance(result, Interval)}
    return replace(record, **changed)

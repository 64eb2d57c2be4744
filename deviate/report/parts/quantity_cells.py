"""Cells of the table of one metric: how each quantity of a comparison is written, and how it was computed."""

from collections.abc import Callable

from deviate.model import (
    NOT_ASKED,
    Comparison,
    Equivalence,
    Estimate,
    Interval,
    Paired,
    SpreadVerdict,
    Test,
    Unavailable,
)
from deviate.report.document import Absent, Entry, cell
from deviate.report.format import (
    clean,
    confidence_text,
    difference_unit,
    p_cell,
    replicates,
)
from deviate.report.numbers import Number, p_value, with_unit
from deviate.report.parts.compare import (
    difference_cell,
    equivalence_texts,
    level_and_method,
    places_of_difference,
    ratio_cell,
    reason_text,
    spread_word,
    test_cell,
    verdict_word,
)
from deviate.report.parts.describe import interval_cell, n_pieces, noted_ends, unit_of

Made = Entry | None
"""A cell; None for what nobody asked for, such as a paired test of runs that were not paired."""


def always(text: str) -> Callable[[Comparison], str]:
    return lambda _: text


def test_of(name: str, letter: str) -> Callable[[Comparison], Made]:
    return lambda comparison: _test_made(getattr(comparison, name), letter)


def _test_made(test: Test | Unavailable, letter: str) -> Made:
    return None if test == NOT_ASKED else test_cell(test, letter)


def permutation_cell(comparison: Comparison) -> Made:
    """Its statistic is the difference, which stands above."""
    test = comparison.permutation
    if isinstance(test, Unavailable):
        return None if test == NOT_ASKED else Absent(test.reason)
    return cell(*p_value(test.p_value), f" ({test.note})")


def ratio_of(name: str, interval: str = "") -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        estimate: Estimate = getattr(comparison, name)
        around = getattr(comparison, interval) if interval else None
        return None if estimate == NOT_ASKED else ratio_cell(estimate, around)

    return cell


def ratio_interval_of(name: str) -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        interval: Interval | Unavailable = getattr(comparison, name)
        return None if interval == NOT_ASKED else interval_cell(interval, 2)

    return cell


def method_of(name: str, before: str = "") -> Callable[[Comparison], str]:
    return lambda comparison: "; ".join(filter(None, (before, level_and_method(getattr(comparison, name)))))


def paired_test_of(name: str, letter: str) -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        paired = _find_paired(comparison)
        return None if paired is None else _test_made(getattr(paired, name), letter)

    return cell


def _find_paired(comparison: Comparison) -> Paired | None:
    return comparison.paired if isinstance(comparison.paired, Paired) else None


def pairs_cell(comparison: Comparison) -> Made:
    paired = _find_paired(comparison)
    if paired is None:
        return None
    alone = f"; without a partner: {replicates(paired.unpaired)}" if paired.unpaired else ""
    return cell(Number(paired.n, 0), alone)


def correlation_cell(comparison: Comparison) -> Made:
    paired = _find_paired(comparison)
    return None if paired is None else ratio_cell(paired.correlation)


def verdict_cell(comparison: Comparison) -> Made:
    return cell(f"{verdict_word(comparison)}: {reason_text(comparison)}")


def numbers_cell(comparison: Comparison) -> Made:
    return cell(*n_pieces(comparison.baseline), " and ", *n_pieces(comparison.candidate))


def interval_of(name: str) -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        interval: Interval | Unavailable = getattr(comparison, name)
        return None if interval == NOT_ASKED else interval_cell(interval, places_of_difference(comparison))

    return cell


def detectable_cell(comparison: Comparison) -> Made:
    places, size, around = places_of_difference(comparison), comparison.detectable, comparison.detectable_interval
    if isinstance(size, Unavailable):
        return Absent(size.reason)
    pieces = with_unit((Number(size, places),), difference_unit(unit_of(comparison.metric)))
    bracket = (" [", *noted_ends(around, places), "]") if isinstance(around, Interval) else ()
    return cell(*pieces, *bracket)


def detectable_method(comparison: Comparison) -> str:
    around = comparison.detectable_interval
    text = (
        f"; in brackets for the ends of the {confidence_text(around.confidence)} CI of the SD"
        if isinstance(around, Interval)
        else ""
    )
    return f"smallest difference seen with 80% power{text}"


def equivalence_cell(comparison: Comparison) -> Made:
    equivalence = comparison.equivalence
    if isinstance(equivalence, Unavailable):
        return None if equivalence == NOT_ASKED else Absent(equivalence.reason)
    sides = " and ".join(p_cell(test.p_value) for test in (equivalence.above, equivalence.below))
    return cell(f"{equivalence_texts(comparison)[0]}; one-sided {sides}")


def equivalence_interval_cell(comparison: Comparison) -> Made:
    equivalence = comparison.equivalence
    if isinstance(equivalence, Unavailable):
        return None
    return interval_cell(equivalence.interval, places_of_difference(comparison))


def equivalence_method(comparison: Comparison) -> str:
    equivalence = comparison.equivalence
    return level_and_method(equivalence.interval) if isinstance(equivalence, Equivalence) else "no interval"


def not_worse_cell(comparison: Comparison) -> Made:
    equivalence = comparison.equivalence
    if isinstance(equivalence, Unavailable):
        return None
    if equivalence.is_not_worse is None:
        return Absent("the metric has no direction")
    return cell(equivalence_texts(comparison)[1] if equivalence.is_not_worse else "not shown")


def spread_verdict_cell(comparison: Comparison) -> Made:
    verdict = comparison.spread_verdict
    if not isinstance(verdict, SpreadVerdict):
        return None
    return cell(f"{spread_word(comparison)}: {clean(verdict.reason)}")


def difference_of(comparison: Comparison) -> Made:
    return difference_cell(comparison, places_of_difference(comparison))


def difference_method(comparison: Comparison) -> str:
    return "candidate − baseline" + (", mean over the pairs" if comparison.is_paired else "")

"""The table of one metric: every quantity of its comparisons, in groups, a cell per candidate."""

from collections.abc import Callable
from dataclasses import dataclass

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
from deviate.report.compare import (
    difference_cell,
    equivalence_texts,
    level_and_method,
    p_value_cell,
    places_of_difference,
    ratio_cell,
    reason_text,
    spread_word,
    test_cell,
    verdict_word,
)
from deviate.report.describe import interval_cell, n_text, noted, unit_of
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    difference_unit,
    number,
    p_cell,
    p_text,
    replicates,
    with_unit,
)
from deviate.report.view import Cell, QuantityRow

Made = Cell | None
"""A cell; None for what nobody asked for, such as a paired test of runs that were not paired."""


@dataclass(frozen=True, slots=True)
class _Quantity:
    group: str
    label: str
    method: Callable[[Comparison], str]
    cell: Callable[[Comparison], Made]


def quantity_rows(comparisons: tuple[Comparison | None, ...], absent: tuple[str, ...]) -> tuple[QuantityRow, ...]:
    """A row per quantity, a cell per candidate; `absent` says why a candidate has none.

    A quantity that was asked for in no comparison has no row.
    """
    rows = []
    for quantity in _QUANTITIES:
        made = [None if comparison is None else quantity.cell(comparison) for comparison in comparisons]
        first = next((it for it, cell in zip(comparisons, made, strict=True) if it is not None and cell), None)
        if first is None:
            continue
        cells = (
            cell or Cell(reason if comparison is None else NOT_ASKED.reason, is_reason=True)
            for comparison, cell, reason in zip(comparisons, made, absent, strict=True)
        )
        rows.append(QuantityRow(quantity.label, quantity.method(first), tuple(cells), quantity.group))
    return tuple(rows)


def _said(text: str) -> Callable[[Comparison], str]:
    return lambda _: text


def _test(name: str, letter: str) -> Callable[[Comparison], Made]:
    return lambda comparison: _test_made(getattr(comparison, name), letter)


def _test_made(test: Test | Unavailable, letter: str) -> Made:
    return None if test == NOT_ASKED else test_cell(test, letter)


def _permutation(comparison: Comparison) -> Made:
    """Its statistic is the difference, which stands above."""
    test = comparison.permutation
    if isinstance(test, Unavailable):
        return None if test == NOT_ASKED else Cell(test.reason, is_reason=True)
    return Cell(f"{p_text(test.p_value)} ({test.note})")


def _ratio(name: str, interval: str = "") -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        estimate: Estimate = getattr(comparison, name)
        around = getattr(comparison, interval) if interval else None
        return None if estimate == NOT_ASKED else ratio_cell(estimate, around)

    return cell


def _ratio_interval(name: str) -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        interval: Interval | Unavailable = getattr(comparison, name)
        return None if interval == NOT_ASKED else interval_cell(interval, 2)

    return cell


def _method_of(name: str, before: str = "") -> Callable[[Comparison], str]:
    return lambda comparison: "; ".join(filter(None, (before, level_and_method(getattr(comparison, name)))))


def _paired_test(name: str, letter: str) -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        paired = _asked(comparison)
        return None if paired is None else _test_made(getattr(paired, name), letter)

    return cell


def _asked(comparison: Comparison) -> Paired | None:
    return comparison.paired if isinstance(comparison.paired, Paired) else None


def _pairs(comparison: Comparison) -> Made:
    paired = _asked(comparison)
    if paired is None:
        return None
    alone = f"; without a partner: {replicates(paired.unpaired)}" if paired.unpaired else ""
    return Cell(f"{paired.n}{alone}")


def _correlation(comparison: Comparison) -> Made:
    paired = _asked(comparison)
    return None if paired is None else ratio_cell(paired.correlation)


def _verdict(comparison: Comparison) -> Made:
    return Cell(f"{verdict_word(comparison)}: {reason_text(comparison)}")


def _numbers(comparison: Comparison) -> Made:
    return Cell(f"{n_text(comparison.baseline)} and {n_text(comparison.candidate)}")


def _interval(name: str) -> Callable[[Comparison], Made]:
    def cell(comparison: Comparison) -> Made:
        interval: Interval | Unavailable = getattr(comparison, name)
        return None if interval == NOT_ASKED else interval_cell(interval, places_of_difference(comparison))

    return cell


def _detectable(comparison: Comparison) -> Made:
    places, size, around = places_of_difference(comparison), comparison.detectable, comparison.detectable_interval
    if isinstance(size, Unavailable):
        return Cell(size.reason, is_reason=True)
    text = with_unit(number(size, places), difference_unit(unit_of(comparison.metric)))
    if isinstance(around, Interval):
        text += f" [{noted(between(around.low, around.high, places), around)}]"
    return Cell(text)


def _detectable_method(comparison: Comparison) -> str:
    around = comparison.detectable_interval
    known = (
        f"; in brackets for the ends of the {confidence_text(around.confidence)} CI of the SD"
        if isinstance(around, Interval)
        else ""
    )
    return f"smallest difference seen with 80% power{known}"


def _equivalence(comparison: Comparison) -> Made:
    found = comparison.equivalence
    if isinstance(found, Unavailable):
        return None if found == NOT_ASKED else Cell(found.reason, is_reason=True)
    sides = " and ".join(p_cell(test.p_value) for test in (found.above, found.below))
    return Cell(f"{equivalence_texts(comparison)[0]}; one-sided {sides}")


def _equivalence_interval(comparison: Comparison) -> Made:
    found = comparison.equivalence
    if isinstance(found, Unavailable):
        return None
    return interval_cell(found.interval, places_of_difference(comparison))


def _equivalence_method(comparison: Comparison) -> str:
    found = comparison.equivalence
    return level_and_method(found.interval) if isinstance(found, Equivalence) else "no interval"


def _not_worse(comparison: Comparison) -> Made:
    found = comparison.equivalence
    if isinstance(found, Unavailable):
        return None
    if found.is_not_worse is None:
        return Cell("the metric has no direction", is_reason=True)
    return Cell(equivalence_texts(comparison)[1] if found.is_not_worse else "not shown")


def _spread_verdict(comparison: Comparison) -> Made:
    verdict = comparison.spread_verdict
    if not isinstance(verdict, SpreadVerdict):
        return None
    return Cell(f"{spread_word(comparison)}: {clean(verdict.reason)}")


def _difference(comparison: Comparison) -> Made:
    return difference_cell(comparison, places_of_difference(comparison))


def _difference_method(comparison: Comparison) -> str:
    return "candidate − baseline" + (", mean over the pairs" if comparison.is_paired else "")


_QUANTITIES = (
    _Quantity("", "Verdict", _said("by the rules under the tables"), _verdict),
    _Quantity("", "n, baseline and candidate", _said("runs with a score"), _numbers),
    _Quantity("Difference", "Difference of means", _difference_method, _difference),
    _Quantity(
        "Difference", "Interval of the difference", _method_of("difference_interval"), _interval("difference_interval")
    ),
    _Quantity("Difference", "Welch's t-test", _said("unequal variances"), _test("welch", "t")),
    _Quantity("Difference", "p, adjusted", _said("Holm over the family"), lambda it: p_value_cell(it.p_adjusted)),
    _Quantity("Difference", "Student's t-test", _said("equal variances assumed"), _test("student", "t")),
    _Quantity("Difference", "Permutation test", _said("of the difference of means"), _permutation),
    _Quantity(
        "Difference",
        "Bootstrap of the difference",
        _method_of("difference_bootstrap", "cross-check"),
        _interval("difference_bootstrap"),
    ),
    _Quantity("Difference", "Detectable difference", _detectable_method, _detectable),
    _Quantity("Pairing", "Pairs", _said("runs of both sides that share their replicate"), _pairs),
    _Quantity("Pairing", "Correlation of the pairs", _said("Pearson"), _correlation),
    _Quantity("Pairing", "Paired t-test", _said("of the mean difference; decides"), _paired_test("t_test", "t")),
    _Quantity(
        "Pairing",
        "Wilcoxon signed-rank",
        _said("V: rank sum of the differences above 0"),
        _paired_test("wilcoxon", "V"),
    ),
    _Quantity("Equivalence", "Two one-sided tests", _said("against the margin that was given"), _equivalence),
    _Quantity("Equivalence", "Interval for equivalence", _equivalence_method, _equivalence_interval),
    _Quantity("Equivalence", "Not worse", _said("bound of the interval in the metric's direction"), _not_worse),
    _Quantity(
        "Ranks",
        "Mann–Whitney U",
        _said("exact, or by permutation with ties, as noted"),
        _test("mann_whitney", "U"),
    ),
    _Quantity(
        "Ranks",
        "U with failures ranked worst",
        _said("a failed run is worse than every other"),
        _test("worst_rank", "U"),
    ),
    _Quantity(
        "Ranks",
        "P(candidate > baseline)",
        _method_of("superiority_interval", "ties count half"),
        _ratio("superiority", "superiority_interval"),
    ),
    _Quantity(
        "Ranks",
        "Cliff's delta",
        _said("P(candidate > baseline) − P(candidate < baseline)"),
        _ratio("cliffs_delta", "cliffs_delta_interval"),
    ),
    _Quantity(
        "Ranks",
        "Kolmogorov–Smirnov test",
        _said("largest distance of the distributions"),
        _test("kolmogorov_smirnov", "D"),
    ),
    _Quantity(
        "Effect size",
        "Hedges' g",
        _method_of("hedges_g_interval", "small-sample corrected"),
        _ratio("hedges_g", "hedges_g_interval"),
    ),
    _Quantity("Effect size", "Cohen's d", _said("pooled SD weighted by degrees of freedom"), _ratio("cohens_d")),
    _Quantity(
        "Effect size",
        "Cohen's d, as DEVIATE",
        _said("pooled SD unweighted; for comparison with published tables only"),
        _ratio("cohens_d_unweighted"),
    ),
    _Quantity(
        "Effect size",
        "Glass's delta",
        _method_of("glass_delta_interval", "in SDs of the baseline"),
        _ratio("glass_delta", "glass_delta_interval"),
    ),
    _Quantity(
        "Spread",
        "Verdict on spread",
        _said("by the SD ratio; not adjusted for other metrics"),
        _spread_verdict,
    ),
    _Quantity(
        "Spread",
        "SD ratio",
        _method_of("sd_ratio_interval", "candidate / baseline"),
        _ratio("sd_ratio", "sd_ratio_interval"),
    ),
    _Quantity(
        "Spread",
        "Bootstrap of the SD ratio",
        _method_of("sd_ratio_bootstrap", "cross-check"),
        _ratio_interval("sd_ratio_bootstrap"),
    ),
    _Quantity(
        "Spread",
        "Brown–Forsythe test",
        _said("equal variances, centred at the median"),
        _test("brown_forsythe", "F"),
    ),
    _Quantity("Spread", "Levene's test", _said("the same, centred at the mean"), _test("levene", "F")),
)

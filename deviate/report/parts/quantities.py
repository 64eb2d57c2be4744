"""The table of one metric: all quantities of its comparisons in groups, with a cell per candidate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deviate.model.comparisons import Comparison, Equivalence, Paired, SpreadVerdict
from deviate.model.estimates import NOT_ASKED, Interval, Test, Unavailable
from deviate.report.data.published import figure_of
from deviate.report.document import Absent, Entry, TableRow, cell
from deviate.report.format import clean, confidence_text, difference_unit, p_cell, replicates
from deviate.report.numbers import ShownNumber, append_unit, p_value
from deviate.report.parts.compare import (
    difference_cell,
    equivalence_texts,
    level_and_method,
    p_value_cell,
    places_of_difference,
    ratio_cell,
    reason_text,
    test_cell,
    verdict_word,
)
from deviate.report.parts.describe import bracket, cell_of, interval_cell, n_pieces, signed_cell, unit_of
from deviate.stats.registry import Statistic, labelled_statistics

NOT_SHOWN = Absent(NOT_ASKED.reason)
"""What nobody asked for, such as a paired test of runs that were not paired: it has no row of its own."""
Method = str | Callable[[Comparison], str]
CellOf = Callable[[Comparison], Entry]


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A row of the table; `method` is a text, or a function of the comparison."""

    group: str
    label: str
    method: Method
    cell: CellOf

    def method_of(self, comparison: Comparison) -> str:
        return self.method if isinstance(self.method, str) else self.method(comparison)


def quantity_rows(comparisons: Sequence[Comparison | None], absent: Sequence[str]) -> tuple[TableRow, ...]:
    """A row per quantity, a cell per candidate; `absent` is the reason for a missing comparison.

    A quantity that was asked for in no comparison has no row.
    """
    rows = []
    for quantity in _all_quantities():
        cells = tuple(
            Absent(reason) if comparison is None else quantity.cell(comparison)
            for comparison, reason in zip(comparisons, absent, strict=True)
        )
        reported = [
            (comparison, entry)
            for comparison, entry in zip(comparisons, cells, strict=True)
            if comparison is not None and entry != NOT_SHOWN
        ]
        if not reported:
            continue
        figures = [comparison for comparison, entry in reported if not isinstance(entry, Absent)] or [reported[0][0]]
        methods = " or ".join(dict.fromkeys(map(quantity.method_of, figures)))
        rows.append(TableRow(quantity.label, cells, method=methods, group=quantity.group))
    return tuple(rows)


def _all_quantities() -> list[_Quantity]:
    """All quantities of the table, with registered statistics at the end of their groups."""
    quantities = [*_QUANTITIES, *map(_label_quantity, labelled_statistics())]
    groups = list(dict.fromkeys(quantity.group for quantity in quantities))
    return sorted(quantities, key=lambda quantity: groups.index(quantity.group))


def _label_quantity(statistic: Statistic) -> _Quantity:
    def cell(comparison: Comparison) -> Entry:
        figure = figure_of(comparison, statistic.name)
        if isinstance(figure.value, Test):
            return test_cell(figure.value, statistic.letter)
        if statistic.kind == "difference":
            unit = difference_unit(unit_of(comparison.metric))
            return signed_cell(figure.value, places_of_difference(comparison), unit)
        return ratio_cell(figure.value, figure.interval)

    def method(comparison: Comparison) -> str:
        interval = figure_of(comparison, statistic.name).interval
        around = level_and_method(interval) if isinstance(interval, Interval) else ""
        return "; ".join(filter(None, (statistic.method, around)))

    return _Quantity(statistic.group, statistic.label, method, cell)


def _test(name: str, letter: str) -> CellOf:
    return lambda comparison: test_cell(getattr(comparison, name), letter)


def _paired_test(name: str, letter: str) -> CellOf:
    return _of_pairs(lambda paired: test_cell(getattr(paired, name), letter))


def _of_pairs(cell_of_pairs: Callable[[Paired], Entry]) -> CellOf:
    def cell(comparison: Comparison) -> Entry:
        return cell_of_pairs(comparison.paired) if isinstance(comparison.paired, Paired) else NOT_SHOWN

    return cell


def _ratio(name: str) -> CellOf:
    """A ratio with its interval, if it has one."""
    return lambda comparison: ratio_cell(getattr(comparison, name), getattr(comparison, f"{name}_interval", None))


def _interval(name: str) -> CellOf:
    return lambda comparison: interval_cell(getattr(comparison, name), places_of_difference(comparison))


def _method(name: str, before: str = "") -> Method:
    """Level and method of an interval, after the given words."""
    return lambda comparison: "; ".join(filter(None, (before, level_and_method(getattr(comparison, name)))))


def _permutation(comparison: Comparison) -> Entry:
    """The permutation test; its statistic is the difference, which has its own row."""
    return cell_of(comparison.permutation, lambda test: (*p_value(test.p_value), f" ({test.note})"))


def _pairs(paired: Paired) -> Entry:
    alone = f"; without a partner: {replicates(paired.unpaired)}" if paired.unpaired else ""
    return cell(ShownNumber(paired.n, 0), alone)


def _verdict(comparison: Comparison) -> Entry:
    return cell(f"{verdict_word(comparison)}: {reason_text(comparison)}")


def _numbers(comparison: Comparison) -> Entry:
    return cell(*n_pieces(comparison.baseline), " and ", *n_pieces(comparison.candidate))


def _detectable(comparison: Comparison) -> Entry:
    places, unit = places_of_difference(comparison), difference_unit(unit_of(comparison.metric))
    around = bracket(comparison.detectable_interval, places)
    return cell_of(comparison.detectable, lambda size: (*append_unit((ShownNumber(size, places),), unit), *around))


def _detectable_method(comparison: Comparison) -> str:
    text, around = "smallest difference detected with 80% power", comparison.detectable_interval
    if isinstance(around, Unavailable):
        return text
    return f"{text}; in brackets for the ends of the {confidence_text(around.confidence)} CI of the SD"


def _equivalence(comparison: Comparison) -> Entry:
    equivalence = comparison.equivalence
    if isinstance(equivalence, Unavailable):
        return Absent(equivalence.reason)
    sides = " and ".join(p_cell(test.p_value) for test in (equivalence.above, equivalence.below))
    return cell(f"{equivalence_texts(comparison)[0]}; one-sided {sides}")


def _equivalence_interval(comparison: Comparison) -> Entry:
    equivalence = comparison.equivalence
    if isinstance(equivalence, Unavailable):
        return NOT_SHOWN
    return interval_cell(equivalence.interval, places_of_difference(comparison))


def _equivalence_method(comparison: Comparison) -> str:
    equivalence = comparison.equivalence
    return level_and_method(equivalence.interval) if isinstance(equivalence, Equivalence) else "no interval"


def _not_worse(comparison: Comparison) -> Entry:
    equivalence = comparison.equivalence
    if isinstance(equivalence, Unavailable):
        return NOT_SHOWN
    if equivalence.is_not_worse is None:
        return Absent("the metric has no direction")
    return cell(equivalence_texts(comparison)[1] if equivalence.is_not_worse else "not shown")


def _spread_verdict(comparison: Comparison) -> Entry:
    verdict = comparison.spread_verdict
    if not isinstance(verdict, SpreadVerdict):
        return NOT_SHOWN
    return cell(f"{verdict.word}: {clean(verdict.reason)}")


def _difference(comparison: Comparison) -> Entry:
    return difference_cell(comparison, places_of_difference(comparison))


def _difference_method(comparison: Comparison) -> str:
    return "candidate − baseline" + (", mean over the pairs" if comparison.is_paired else "")


_TABLE: dict[str, tuple[tuple[str, Method, CellOf], ...]] = {
    "": (
        ("Verdict", "by the rules under the tables", _verdict),
        ("n, baseline and candidate", "runs with a score", _numbers),
    ),
    "Difference": (
        ("Difference of means", _difference_method, _difference),
        ("Interval of the difference", _method("difference_interval"), _interval("difference_interval")),
        ("Welch's interval", _method("welch_interval"), _interval("welch_interval")),
        ("Welch's t-test", "unequal variances", _test("welch", "t")),
        ("p, adjusted: decides", "Holm over the family", lambda comparison: p_value_cell(comparison.p_adjusted)),
        ("Student's t-test", "equal variances assumed", _test("student", "t")),
        ("Permutation test", "of Welch's t, runs exchanged between the sides", _permutation),
        (
            "Bootstrap of the difference",
            _method("difference_bootstrap", "cross-check"),
            _interval("difference_bootstrap"),
        ),
        ("Detectable difference", _detectable_method, _detectable),
    ),
    "Pairing": (
        ("Pairs", "runs of both sides that share their replicate", _of_pairs(_pairs)),
        ("Correlation of the pairs", "Pearson", _of_pairs(lambda paired: ratio_cell(paired.correlation))),
        ("Paired t-test", "of the mean difference", _paired_test("t_test", "t")),
        ("Sign flips", "of the mean difference, by permutation", _paired_test("sign_flips", "t")),
        ("Wilcoxon signed-rank", "V: rank sum of the differences above 0", _paired_test("wilcoxon", "V")),
    ),
    "Equivalence": (
        ("Two one-sided tests", "against the margin that was given", _equivalence),
        ("Interval for equivalence", _equivalence_method, _equivalence_interval),
        ("Not worse", "bound of the interval in the metric's direction", _not_worse),
    ),
    "Ranks": (
        ("Mann–Whitney U", "exact, or by permutation with ties, as noted", _test("mann_whitney", "U")),
        ("U with failures ranked worst", "a failed run is worse than every other", _test("worst_rank", "U")),
        ("P(candidate > baseline)", _method("superiority_interval", "ties count half"), _ratio("superiority")),
        ("Cliff's delta", "P(candidate > baseline) − P(candidate < baseline)", _ratio("cliffs_delta")),
        ("Kolmogorov–Smirnov test", "largest distance of the distributions", _test("kolmogorov_smirnov", "D")),
    ),
    "Effect size": (
        ("Hedges' g", _method("hedges_g_interval", "small-sample corrected"), _ratio("hedges_g")),
        ("Cohen's d", "pooled SD weighted by degrees of freedom", _ratio("cohens_d")),
        (
            "Cohen's d, as DEVIATE",
            "pooled SD unweighted; for comparison with published tables only",
            _ratio("cohens_d_unweighted"),
        ),
        ("Glass's delta", _method("glass_delta_interval", "in SDs of the baseline"), _ratio("glass_delta")),
    ),
    "Spread": (
        ("Verdict on spread", "by the SD ratio; not adjusted for other metrics", _spread_verdict),
        ("SD ratio", _method("sd_ratio_interval", "candidate / baseline"), _ratio("sd_ratio")),
        (
            "Bootstrap of the SD ratio",
            _method("sd_ratio_bootstrap", "cross-check"),
            lambda comparison: interval_cell(comparison.sd_ratio_bootstrap, 2),
        ),
        ("Brown–Forsythe test", "equal variances, centred at the median", _test("brown_forsythe", "F")),
        ("Levene's test", "the same, centred at the mean", _test("levene", "F")),
    ),
}
_QUANTITIES = tuple(_Quantity(group, *row) for group, rows in _TABLE.items() for row in rows)

"""The table of one metric: every quantity of its comparisons, in groups, a cell per candidate."""

from collections.abc import Callable
from dataclasses import dataclass

from deviate.model import NOT_ASKED, Comparison, Interval, Test
from deviate.report.document import Absent, Row
from deviate.report.format import difference_unit
from deviate.report.further import figure_of
from deviate.report.numbers import Number, with_unit
from deviate.report.parts.compare import (
    level_and_method,
    p_value_cell,
    places_of_difference,
    ratio_cell,
    test_cell,
)
from deviate.report.parts.describe import cell_of, unit_of
from deviate.report.parts.quantity_cells import (
    Made,
    always,
    correlation_cell,
    detectable_cell,
    detectable_method,
    difference_method,
    difference_of,
    equivalence_cell,
    equivalence_interval_cell,
    equivalence_method,
    interval_of,
    method_of,
    not_worse_cell,
    numbers_cell,
    paired_test_of,
    pairs_cell,
    permutation_cell,
    ratio_interval_of,
    ratio_of,
    spread_verdict_cell,
    test_of,
    verdict_cell,
)
from deviate.stats import Statistic, labelled_statistics


@dataclass(frozen=True, slots=True)
class _Quantity:
    group: str
    label: str
    method: Callable[[Comparison], str]
    cell: Callable[[Comparison], Made]


def quantity_rows(comparisons: tuple[Comparison | None, ...], absent: tuple[str, ...]) -> tuple[Row, ...]:
    """A row per quantity, a cell per candidate; `absent` says why a candidate has none.

    A quantity that was asked for in no comparison has no row.
    """
    rows = []
    for quantity in _all_quantities():
        quantity_cells = [None if comparison is None else quantity.cell(comparison) for comparison in comparisons]
        reported = [
            (comparison, cell)
            for comparison, cell in zip(comparisons, quantity_cells, strict=True)
            if comparison is not None and cell
        ]
        if not reported:
            continue
        figures = [comparison for comparison, cell in reported if not isinstance(cell, Absent)] or [reported[0][0]]
        methods = " or ".join(dict.fromkeys(quantity.method(comparison) for comparison in figures))
        cells = (
            cell or Absent(reason if comparison is None else NOT_ASKED.reason)
            for comparison, cell, reason in zip(comparisons, quantity_cells, absent, strict=True)
        )
        rows.append(Row(quantity.label, tuple(cells), method=methods, group=quantity.group))
    return tuple(rows)


def _all_quantities() -> list[_Quantity]:
    """Those of the table below, and at the end of their groups the statistics that say how they are shown."""
    quantities = [*_QUANTITIES, *map(_label_quantity, labelled_statistics())]
    groups = list(dict.fromkeys(quantity.group for quantity in quantities))
    return sorted(quantities, key=lambda quantity: groups.index(quantity.group))


def _label_quantity(statistic: Statistic) -> _Quantity:
    def cell(comparison: Comparison) -> Made:
        figure = figure_of(comparison, statistic.name)
        if figure.value == NOT_ASKED:
            return None
        if isinstance(figure.value, Test):
            return test_cell(figure.value, statistic.letter)
        if statistic.kind == "difference":
            places, unit = places_of_difference(comparison), difference_unit(unit_of(comparison.metric))
            return cell_of(figure.value, lambda value: with_unit((Number(value, places, "signed"),), unit))
        return ratio_cell(figure.value, figure.interval)

    def method(comparison: Comparison) -> str:
        interval = figure_of(comparison, statistic.name).interval
        around = level_and_method(interval) if isinstance(interval, Interval) else ""
        return "; ".join(filter(None, (statistic.method, around)))

    return _Quantity(statistic.group, statistic.label, method, cell)


_QUANTITIES = (
    _Quantity("", "Verdict", always("by the rules under the tables"), verdict_cell),
    _Quantity("", "n, baseline and candidate", always("runs with a score"), numbers_cell),
    _Quantity("Difference", "Difference of means", difference_method, difference_of),
    _Quantity(
        "Difference", "Interval of the difference", method_of("difference_interval"), interval_of("difference_interval")
    ),
    _Quantity("Difference", "Welch's interval", method_of("welch_interval"), interval_of("welch_interval")),
    _Quantity("Difference", "Welch's t-test", always("unequal variances"), test_of("welch", "t")),
    _Quantity(
        "Difference",
        "p, adjusted",
        always("Holm over the family"),
        lambda comparison: p_value_cell(comparison.p_adjusted),
    ),
    _Quantity("Difference", "Student's t-test", always("equal variances assumed"), test_of("student", "t")),
    _Quantity(
        "Difference", "Permutation test", always("of Welch's t, runs exchanged between the sides"), permutation_cell
    ),
    _Quantity(
        "Difference",
        "Bootstrap of the difference",
        method_of("difference_bootstrap", "cross-check"),
        interval_of("difference_bootstrap"),
    ),
    _Quantity("Difference", "Detectable difference", detectable_method, detectable_cell),
    _Quantity("Pairing", "Pairs", always("runs of both sides that share their replicate"), pairs_cell),
    _Quantity("Pairing", "Correlation of the pairs", always("Pearson"), correlation_cell),
    _Quantity("Pairing", "Paired t-test", always("of the mean difference"), paired_test_of("t_test", "t")),
    _Quantity(
        "Pairing", "Sign flips", always("of the mean difference, by permutation"), paired_test_of("sign_flips", "t")
    ),
    _Quantity(
        "Pairing",
        "Wilcoxon signed-rank",
        always("V: rank sum of the differences above 0"),
        paired_test_of("wilcoxon", "V"),
    ),
    _Quantity("Equivalence", "Two one-sided tests", always("against the margin that was given"), equivalence_cell),
    _Quantity("Equivalence", "Interval for equivalence", equivalence_method, equivalence_interval_cell),
    _Quantity("Equivalence", "Not worse", always("bound of the interval in the metric's direction"), not_worse_cell),
    _Quantity(
        "Ranks",
        "Mann–Whitney U",
        always("exact, or by permutation with ties, as noted"),
        test_of("mann_whitney", "U"),
    ),
    _Quantity(
        "Ranks",
        "U with failures ranked worst",
        always("a failed run is worse than every other"),
        test_of("worst_rank", "U"),
    ),
    _Quantity(
        "Ranks",
        "P(candidate > baseline)",
        method_of("superiority_interval", "ties count half"),
        ratio_of("superiority", "superiority_interval"),
    ),
    _Quantity(
        "Ranks",
        "Cliff's delta",
        always("P(candidate > baseline) − P(candidate < baseline)"),
        ratio_of("cliffs_delta", "cliffs_delta_interval"),
    ),
    _Quantity(
        "Ranks",
        "Kolmogorov–Smirnov test",
        always("largest distance of the distributions"),
        test_of("kolmogorov_smirnov", "D"),
    ),
    _Quantity(
        "Effect size",
        "Hedges' g",
        method_of("hedges_g_interval", "small-sample corrected"),
        ratio_of("hedges_g", "hedges_g_interval"),
    ),
    _Quantity("Effect size", "Cohen's d", always("pooled SD weighted by degrees of freedom"), ratio_of("cohens_d")),
    _Quantity(
        "Effect size",
        "Cohen's d, as DEVIATE",
        always("pooled SD unweighted; for comparison with published tables only"),
        ratio_of("cohens_d_unweighted"),
    ),
    _Quantity(
        "Effect size",
        "Glass's delta",
        method_of("glass_delta_interval", "in SDs of the baseline"),
        ratio_of("glass_delta", "glass_delta_interval"),
    ),
    _Quantity(
        "Spread",
        "Verdict on spread",
        always("by the SD ratio; not adjusted for other metrics"),
        spread_verdict_cell,
    ),
    _Quantity(
        "Spread",
        "SD ratio",
        method_of("sd_ratio_interval", "candidate / baseline"),
        ratio_of("sd_ratio", "sd_ratio_interval"),
    ),
    _Quantity(
        "Spread",
        "Bootstrap of the SD ratio",
        method_of("sd_ratio_bootstrap", "cross-check"),
        ratio_interval_of("sd_ratio_bootstrap"),
    ),
    _Quantity(
        "Spread",
        "Brown–Forsythe test",
        always("equal variances, centred at the median"),
        test_of("brown_forsythe", "F"),
    ),
    _Quantity("Spread", "Levene's test", always("the same, centred at the mean"), test_of("levene", "F")),
)

"""Published tables, as far as their numbers go together: Table I of DEVIATE, Zhuang et al., Summers & Dinneen."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from deviate.model.estimates import Interval, Unavailable
from deviate.stability.measures.reductions import Variability, variability_reduction

ALL = {"accuracy": (0.045, 0.051, 0.090), "FPR": (0.077, 0.051, 0.070), "FNR": (0.537, 0.389, 0.445)}
GROUPS = {
    "Male": {
        "accuracy": ((0.049, 1.07), (0.048, 0.94), (0.058, 0.64)),
        "FPR": ((0.039, 0.50), (0.052, 1.01), (0.043, 0.61)),
        "FNR": ((2.475, 4.60), (1.816, 4.66), (1.610, 3.61)),
    },
    "Female": {
        "accuracy": ((0.062, 1.36), (0.083, 1.62), (0.126, 1.39)),
        "FPR": ((0.133, 1.71), (0.094, 1.81), (0.103, 1.48)),
        "FNR": ((0.527, 0.98), (0.349, 0.89), (0.399, 0.89)),
    },
    "Young": {
        "accuracy": ((0.050, 1.10), (0.047, 0.93), (0.091, 1.00)),
        "FPR": ((0.077, 1.00), (0.051, 0.99), (0.065, 0.93)),
        "FNR": ((0.585, 1.08), (0.430, 1.10), (0.566, 1.27)),
    },
    "Old": {
        "accuracy": ((0.151, 3.31), (0.094, 1.83), (0.214, 2.36)),
        "FPR": ((0.122, 1.57), (0.093, 1.81), (0.155, 2.21)),
        "FNR": ((0.815, 1.51), (0.335, 0.86), (0.939, 2.10)),
    },
}
"""SDs of sub-groups with their printed ratio to all. Source: Zhuang et al. (2022), table 5."""
CELLS = [
    (group, rate, variant, sd, ratio, ALL[rate][variant])
    for group, rates in GROUPS.items()
    for rate, row in rates.items()
    for variant, (sd, ratio) in enumerate(row)
]
ORIGINAL = {
    "single": (0.26, 0.0072, 10.7, 0.871, 1.82),
    "AccEns": (0.19, 0.0044, 6.1, 0.957, 0.63),
    "Flip": (0.24, 0.0061, 8.2, 0.905, 1.20),
    "Crop25": (0.23, 0.0059, 9.2, 0.893, 1.49),
    "Crop81": (0.21, 0.0055, 8.8, 0.898, 1.39),
    "FlipCrop25": (0.21, 0.0051, 7.2, 0.920, 0.99),
    "FlipCrop81": (0.19, 0.0049, 6.9, 0.922, 0.92),
    "AccEns/Flip": (0.15, 0.0039, 5.0, 0.967, 0.45),
    "AccEns/FlipCrop81": (0.16, 0.0033, 4.6, 0.972, 0.38),
}
REPLICATED = {
    "single": (0.26, 0.0080, 10.7, 0.871, 1.84),
    "AccEns": (0.17, 0.0043, 6.1, 0.957, 0.65),
    "Flip": (0.22, 0.0063, 8.0, 0.905, 1.17),
    "Crop25": (0.22, 0.0057, 9.1, 0.893, 1.46),
    "Crop81": (0.22, 0.0056, 8.7, 0.897, 1.36),
    "FlipCrop25": (0.22, 0.0050, 7.1, 0.919, 0.98),
    "FlipCrop81": (0.21, 0.0050, 6.9, 0.922, 0.92),
    "AccEns/Flip": (0.16, 0.0037, 5.0, 0.967, 0.42),
    "AccEns/FlipCrop81": (0.15, 0.0031, 4.5, 0.972, 0.37),
}
"""Source: Summers & Dinneen (2021), as the ML Reproducibility Challenge 2021 quotes and repeats it."""


def feasible_sd(difference: float, n: int) -> Interval | Unavailable:
    """Smallest and largest SD (ddof 1) that n runs with this range can have.

    Smallest with all runs but the two extremes in the middle, largest with half of them at either end.
    Source: Popoviciu (1935) for the upper end, Nagy (1918) for the lower one.
    """
    if n < 2 or not 0 < difference < math.inf:
        return Unavailable("needs 2 runs that differ")
    half = n // 2
    high = difference * math.sqrt(half * (n - half) / (n * (n - 1)))
    return Interval(difference / math.sqrt(2 * (n - 1)), high, 1.0, "range of n runs")


def shares(counts: Sequence[int]) -> tuple[float, ...]:
    """Percentages of the sum of counts; empty for a sum of 0."""
    total = sum(counts)
    return tuple(100 * count / total for count in counts) if total else ()


def quotient_range(numerator: float, denominator: float, *, places: int) -> Interval | Unavailable:
    """What the quotient of two printed numbers can have been, each rounded to so many decimals.

    Both are positive. The confidence is 1: nothing else rounds to them.
    """
    half = 0.5 * 10.0**-places
    if not (numerator > half and denominator > half):
        return Unavailable("a printed number that may stand for 0 has no quotient")
    low, high = (numerator - half) / (denominator + half), (numerator + half) / (denominator - half)
    return Interval(low, high, 1.0, "rounding of printed numbers")


def is_quotient(printed: float, numerator: float, denominator: float, *, places: int, is_truncated: bool) -> bool:
    """Whether a printed quotient of two decimals fits two printed numbers, rounded to nearest or cut off."""
    bounds = quotient_range(numerator, denominator, places=places)
    if isinstance(bounds, Unavailable):
        return False
    low, high = (printed, printed + 0.01) if is_truncated else (printed - 0.005, printed + 0.005)
    return bounds.low < high and low <= bounds.high


def test_most_printed_ratios_are_not_the_rounded_quotient_of_the_printed_spreads() -> None:
    differing = [cell for cell in CELLS if abs(round(cell[3] / cell[5] + 1e-9, 2) - cell[4]) > 0.001]
    assert (len(differing), len(CELLS)) == (27, 36)


def test_all_printed_ratios_are_cut_off_and_four_cannot_be_rounded() -> None:
    assert all(is_quotient(ratio, sd, whole, places=3, is_truncated=True) for *_, sd, ratio, whole in CELLS)
    impossible = {
        (group, rate, variant)
        for group, rate, variant, sd, ratio, whole in CELLS
        if not is_quotient(ratio, sd, whole, places=3, is_truncated=False)
    }
    assert impossible == {("Female", "FPR", 1), ("Young", "FNR", 0), ("Old", "FNR", 0), ("Old", "FNR", 2)}


def test_the_range_of_a_quotient_of_rounded_numbers() -> None:
    found = quotient_range(0.094, 0.051, places=3)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == (pytest.approx(1.816, abs=5e-4), pytest.approx(1.871, abs=5e-4))
    assert isinstance(quotient_range(0.0004, 0.051, places=3), Unavailable)


def test_sub_groups_of_the_training_data_add_up() -> None:
    positive = {"Male": 1387, "Female": 22880, "Young": 20230, "Old": 4037}
    negative = {"Male": 66874, "Female": 71629, "Young": 106558, "Old": 31945}
    for counts, total in ((positive, 24267), (negative, 138503)):
        assert counts["Male"] + counts["Female"] == counts["Young"] + counts["Old"] == total
    by_sex = shares([positive["Male"], positive["Female"], negative["Male"], negative["Female"]])
    assert by_sex == (pytest.approx(0.852, abs=5e-4), *(pytest.approx(it, abs=0.05) for it in (14.1, 41.1, 44.0)))
    assert shares([24267, 138503])[0] == pytest.approx(14.9, abs=0.05)
    assert shares([0, 0]) == ()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (ORIGINAL, (48.2, 21.4, 15.8, 21.0, 32.9, 36.7, 58.2, 61.4)),
        (REPLICATED, (51.0, 24.9, 19.4, 22.1, 34.1, 36.4, 59.4, 63.9)),
    ],
)
def test_reductions_of_variability_are_the_published_ones(
    table: dict[str, tuple[float, float, float, float, float]], expected: tuple[float, ...]
) -> None:
    single, *others = (Variability(*row) for row in table.values())
    assert [variability_reduction(single, it) for it in others] == [pytest.approx(it, abs=0.05) for it in expected]


@pytest.mark.parametrize(
    ("table", "raw", "printed"),
    [
        (ORIGINAL, (36.8, 16.9, 12.9, 17.5, 26.5, 29.9, 45.5, 48.1), (48, 21, 16, 21, 33, 37, 58, 61)),
        (REPLICATED, (39.7, 20.4, 16.5, 18.6, 27.8, 29.6, 46.7, 50.6), (40, 20, 17, 19, 28, 30, 47, 51)),
    ],
)
def test_the_raw_correlation_gives_the_rows_of_the_replication_and_not_the_original_ones(
    table: dict[str, tuple[float, float, float, float, float]], raw: tuple[float, ...], printed: tuple[int, ...]
) -> None:
    """Which is why the distance from 1 is what counts: on the same footing, the claim of 61 % replicates as 64 %."""
    single, *others = table.values()
    signs = (1, 1, 1, -1, 1)  # more correlation is less variability
    found = [
        100 * math.fsum(sign * (1 - after / before) for sign, before, after in zip(signs, single, row, strict=True)) / 5
        for row in others
    ]
    assert found == [pytest.approx(it, abs=0.05) for it in raw]
    by_distance = [variability_reduction(Variability(*single), Variability(*row)) for row in others]
    # Beyond rounding of what is printed, for the inputs are rounded as well.
    fits = [
        all(abs(float(it) - one) < 0.55 for it, one in zip(of, printed, strict=True))  # type: ignore[arg-type]
        for of in (by_distance, found)
    ]
    assert fits == [table is ORIGINAL, table is REPLICATED]


def test_models_that_do_not_vary_have_no_reduction() -> None:
    single = Variability(*ORIGINAL["single"])
    assert variability_reduction(single, single) == 0
    assert isinstance(variability_reduction(Variability(0.0, 0.1, 1.0, 0.9, 1.0), single), Unavailable)
    assert isinstance(variability_reduction(Variability(0.1, 0.1, 1.0, 1.0, 1.0), single), Unavailable)


@pytest.mark.parametrize("n", [2, 3, 8, 11])
def test_no_scores_have_a_spread_that_their_range_forbids(n: int) -> None:
    draws = np.random.default_rng(n)
    found = feasible_sd(1.0, n)
    assert isinstance(found, Interval)
    for _ in range(300):
        scores = np.concatenate([[0.0, 1.0], draws.beta(0.3, 0.3, n - 2)])
        assert found.low - 1e-12 <= scores.std(ddof=1) <= found.high + 1e-12
    middle, ends = [0.0, 1.0, *[0.5] * (n - 2)], [0.0] * (n // 2) + [1.0] * (n - n // 2)
    assert found.low == pytest.approx(float(np.std(middle, ddof=1)))
    assert found.high == pytest.approx(float(np.std(ends, ddof=1)))
    assert isinstance(feasible_sd(math.inf, n), Unavailable)

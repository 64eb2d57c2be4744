"""Comparisons as text: the verdict with its figures, and the quantities of each comparison."""

import math

from deviate.model import Comparison, Estimate, Interval, Test, Unavailable
from deviate.report.describe import estimate_cell, interval_cell, mean_cell, n_text, noted, unit_of
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    decimals,
    difference_unit,
    number,
    p_cell,
    p_text,
    ratio,
    signed,
    statistic,
    with_unit,
)
from deviate.report.view import Cell, OverviewComparison, QuantityRow, Tone, VerdictView

RUNS_FOR_SD_CLAIM = 16
"""Below this n nothing is said about which side is steadier: the interval of a ratio of SDs is too wide for it."""

TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}


def places_of_difference(comparison: Comparison) -> int | None:
    """Decimals from the SE of the difference, unequal variances."""
    variance = 0.0
    for side in (comparison.baseline, comparison.candidate):
        if isinstance(side.sd, Unavailable) or side.n == 0:
            return None
        variance += side.sd**2 / side.n
    return decimals(math.sqrt(variance))


def verdict_word(comparison: Comparison) -> str:
    margin = comparison.metric.margin
    if comparison.verdict.word == "equivalent" and margin is not None:
        return f"equivalent within {with_unit(number(margin, None), difference_unit(unit_of(comparison.metric)))}"
    return comparison.verdict.word


def tone_of(comparison: Comparison) -> Tone:
    return TONES.get(comparison.verdict.word, "neutral")


def metric_name(comparison: Comparison) -> str:
    """The name on both sides, when the user matched two."""
    baseline, candidate = clean(comparison.metric.name), clean(comparison.candidate_metric.name)
    return baseline if baseline == candidate else f"{baseline} = {candidate}"


def overview_comparison(comparison: Comparison) -> OverviewComparison:
    places = places_of_difference(comparison)
    return OverviewComparison(
        difference=difference_cell(comparison, places),
        interval=interval_cell(comparison.difference_interval, places),
        p_adjusted=_p_cell(comparison.p_adjusted),
        word=verdict_word(comparison),
        tone=tone_of(comparison),
        remark=clean(comparison.note),
    )


def difference_cell(comparison: Comparison, places: int | None) -> Cell:
    if isinstance(comparison.difference, Unavailable):
        return Cell(comparison.difference.reason, is_reason=True)
    text = signed(comparison.difference, places)
    return Cell(with_unit(text, difference_unit(unit_of(comparison.metric))))


def verdict_view(comparison: Comparison, baseline: str, candidate: str, setting: str) -> VerdictView:
    """The verdict on the primary metric. `setting` names variant and aggregate for the sentence to paste."""
    places = places_of_difference(comparison)
    change = difference_cell(comparison, places)
    name = metric_name(comparison)
    return VerdictView(
        candidate=candidate,
        baseline=baseline,
        word=verdict_word(comparison),
        tone=tone_of(comparison),
        metric=name,
        change=change.text,
        interval=_bracketed(comparison.difference_interval, places),
        effect=_effect(comparison),
        tests=_tests(comparison),
        spread=_spread(comparison),
        detectable=_detectable(comparison, places),
        reason=_reason(comparison),
        paste=_paste(comparison, baseline, candidate, setting, name),
    )


def quantity_rows(comparisons: tuple[Comparison | None, ...], absent: tuple[str, ...]) -> tuple[QuantityRow, ...]:
    """The table of one metric: a row per quantity, a cell per candidate (`absent` says why a candidate has none)."""
    first = next(comparison for comparison in comparisons if comparison is not None)
    columns = [
        [Cell(reason, is_reason=True)] * len(_QUANTITIES) if comparison is None else _cells(comparison)
        for comparison, reason in zip(comparisons, absent, strict=True)
    ]
    methods = _methods(first)
    return tuple(
        QuantityRow(label, methods[index], tuple(column[index] for column in columns))
        for index, label in enumerate(_QUANTITIES)
    )


_QUANTITIES = (
    "Verdict",
    "n, baseline and candidate",
    "Difference of means",
    "Interval of the difference",
    "Welch's t-test",
    "p, adjusted",
    "Student's t-test",
    "Mann–Whitney U",
    "P(candidate > baseline)",
    "Hedges' g",
    "Cohen's d",
    "Cohen's d, as DEVIATE",
    "SD ratio",
    "Brown–Forsythe test",
    "Detectable difference",
)


def _methods(comparison: Comparison) -> tuple[str, ...]:
    difference = _level_and_method(comparison.difference_interval)
    return (
        "by the rules under the tables",
        "runs with a score",
        "candidate − baseline",
        difference,
        "unequal variances",
        "Holm over the family",
        "equal variances assumed",
        "exact, or by permutation with ties, as noted",
        "ties count half",
        f"small-sample corrected; {_level_and_method(comparison.hedges_g_interval)}",
        "pooled SD weighted by degrees of freedom",
        "pooled SD unweighted; for comparison with published tables only",
        f"candidate / baseline; {_level_and_method(comparison.sd_ratio_interval)}",
        "equal variances, centred at the median",
        "smallest difference seen with 80% power",
    )


def _cells(comparison: Comparison) -> list[Cell]:
    places = places_of_difference(comparison)
    unit = difference_unit(unit_of(comparison.metric))
    detectable = estimate_cell(comparison.detectable, places)
    return [
        Cell(f"{verdict_word(comparison)}: {_reason(comparison)}"),
        Cell(f"{n_text(comparison.baseline)} and {n_text(comparison.candidate)}"),
        difference_cell(comparison, places),
        interval_cell(comparison.difference_interval, places),
        _test_cell(comparison.welch, "t"),
        _p_cell(comparison.p_adjusted),
        _test_cell(comparison.student, "t"),
        _test_cell(comparison.mann_whitney, "U"),
        _ratio_cell(comparison.superiority),
        _ratio_cell(comparison.hedges_g, comparison.hedges_g_interval),
        _ratio_cell(comparison.cohens_d),
        _ratio_cell(comparison.cohens_d_unweighted),
        _ratio_cell(comparison.sd_ratio, comparison.sd_ratio_interval),
        _test_cell(comparison.brown_forsythe, "F"),
        detectable if detectable.is_reason else Cell(with_unit(detectable.text, unit)),
    ]


def _reason(comparison: Comparison) -> str:
    return "; ".join(filter(None, (comparison.verdict.reason, clean(comparison.note))))


def _test_text(test: Test, letter: str) -> str:
    df = "" if test.df is None else f"({number(test.df, 0 if test.df == round(test.df) else 1)})"
    note = f" ({test.note})" if test.note else ""
    return f"{letter}{df} = {statistic(test.statistic)}, {p_text(test.p_value)}{note}"


def _test_cell(test: Test | Unavailable, letter: str) -> Cell:
    return Cell(test.reason, is_reason=True) if isinstance(test, Unavailable) else Cell(_test_text(test, letter))


def _p_cell(p_value: Estimate) -> Cell:
    return Cell(p_value.reason, is_reason=True) if isinstance(p_value, Unavailable) else Cell(p_cell(p_value))


def _ratio_cell(estimate: Estimate, interval: Interval | Unavailable | None = None) -> Cell:
    if isinstance(estimate, Unavailable):
        return Cell(estimate.reason, is_reason=True)
    bracket = f" [{noted(between(interval.low, interval.high, 2), interval)}]" if isinstance(interval, Interval) else ""
    return Cell(f"{ratio(estimate)}{bracket}")


def _level_and_method(interval: Interval | Unavailable) -> str:
    return (
        "no interval"
        if isinstance(interval, Unavailable)
        else (f"{confidence_text(interval.confidence)} CI, {interval.method}")
    )


def _bracketed(interval: Interval | Unavailable, places: int | None) -> str:
    if isinstance(interval, Unavailable):
        return f"[no interval: {interval.reason}]"
    return (
        f"[{confidence_text(interval.confidence)} CI {noted(between(interval.low, interval.high, places), interval)}]"
    )


def _effect(comparison: Comparison) -> str:
    if isinstance(comparison.hedges_g, Unavailable):
        return ""
    return f"g {_ratio_cell(comparison.hedges_g, comparison.hedges_g_interval).text}"


def _tests(comparison: Comparison) -> tuple[str, ...]:
    parts: list[str] = []
    if isinstance(comparison.welch, Test):
        parts.append(f"Welch {_test_text(comparison.welch, 't')}")
    if isinstance(comparison.mann_whitney, Test):
        parts.append(_test_text(comparison.mann_whitney, "U"))
    if not isinstance(comparison.superiority, Unavailable):
        parts.append(f"P(candidate > baseline) {ratio(comparison.superiority)}")
    return tuple(parts)


def _spread(comparison: Comparison) -> str:
    if isinstance(comparison.sd_ratio, Unavailable):
        return f"SD ratio: {comparison.sd_ratio.reason}"
    interval = comparison.sd_ratio_interval
    text = f"SD ratio {_ratio_cell(comparison.sd_ratio, interval).text}"
    n_fewest = min(comparison.baseline.n, comparison.candidate.n)
    is_told = isinstance(interval, Interval) and not interval.note and n_fewest >= RUNS_FOR_SD_CLAIM
    if isinstance(interval, Interval) and is_told and (interval.high < 1 or interval.low > 1):
        return f"{text}: {'steadier' if interval.high < 1 else 'less steady'}"
    return f"{text}: undecided"


def _detectable(comparison: Comparison, places: int | None) -> str:
    runs = f"{comparison.baseline.n} + {comparison.candidate.n} runs"
    if isinstance(comparison.detectable, Unavailable):
        return f"What these {runs} could see is not stated ({comparison.detectable.reason})."
    size = with_unit(number(comparison.detectable, places), difference_unit(unit_of(comparison.metric)))
    return f"These {runs} could see a difference of {size} (80% power)."


def _paste(comparison: Comparison, baseline: str, candidate: str, setting: str, name: str) -> str:
    unit = unit_of(comparison.metric)
    places = places_of_difference(comparison)
    sides = (
        f"{name} was {mean_cell(comparison.candidate, unit).text} with {candidate} (n = {comparison.candidate.n}) and "
        f"{mean_cell(comparison.baseline, unit).text} with {baseline} (n = {comparison.baseline.n})"
    )
    if places is not None:
        sides += ", mean ± SD over runs (ddof 1)"
    figures = [f"difference {difference_cell(comparison, places).text}"]
    if isinstance(comparison.difference_interval, Interval):
        interval = comparison.difference_interval
        level, ends = confidence_text(interval.confidence), between(interval.low, interval.high, places)
        figures.append(noted(f"{level} CI {ends} ({interval.method})", interval))
    if isinstance(comparison.welch, Test):
        figures.append(_test_text(comparison.welch, "t"))
    if not isinstance(comparison.hedges_g, Unavailable):
        figures.append(f"Hedges' {_effect(comparison)}")
    why = f" ({comparison.verdict.reason})" if comparison.verdict.word == "withheld" else ""
    return f"{sides}; {setting}; {', '.join(figures)}; verdict: {verdict_word(comparison)}{why}."

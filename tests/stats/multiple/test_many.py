"""Three or more experiments. Reference values by R 4.2.2, with the package multcomp for Dunnett.

scores <- list(base = c(93.1, 93.4, 92.8, 93.6, 93.0, 93.3), a = c(93.9, 94.1, 93.5, 94.4, 93.8),
               b = c(93.2, 93.9, 92.6, 94.0, 93.3, 92.9, 93.8), c = c(94.6, 93.0, 95.1, 92.7, 94.9, 93.8))
d <- data.frame(y = unlist(scores), g = factor(rep(names(scores), lengths(scores)), levels = names(scores)))
oneway.test(y ~ g, d, var.equal = TRUE); oneway.test(y ~ g, d); kruskal.test(y ~ g, d)
set.seed(1); fit <- glht(aov(y ~ g, d), linfct = mcp(g = "Dunnett")); summary(fit); confint(fit)
pairwise.t.test(d$y, d$g, pool.sd = FALSE, p.adjust.method = "holm")
"""

import dataclasses
import math
from itertools import combinations

import numpy as np
import pytest
from samples import experiment, metric
from scipy import stats as scipy_stats
from statsmodels.stats import oneway

from deviate.model.comparisons import ManyTable
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.hypothesis import two_sample
from deviate.stats.hypothesis.both import BothTests, ask_both, both_interval
from deviate.stats.judge import judge
from deviate.stats.multiple.many import (
    anova,
    compare_many,
    dunnett,
    kruskal_wallis,
    welch_anova,
)
from deviate.stats.multiple.pairs import holm
from deviate.stats.options import AnalysisOptions

NAMES = ("base", "a", "b", "c")
SCORES = (
    [93.1, 93.4, 92.8, 93.6, 93.0, 93.3],
    [93.9, 94.1, 93.5, 94.4, 93.8],
    [93.2, 93.9, 92.6, 94.0, 93.3, 92.9, 93.8],
    [94.6, 93.0, 95.1, 92.7, 94.9, 93.8],
)
MANY_ULPS = 1e-9


def taken(found: Test | Unavailable) -> Test:
    assert isinstance(found, Test)
    return found


def normal(n_groups: int, n: int, seed: int, shift: float = 0.0) -> list[list[float]]:
    draws = np.random.default_rng(seed)
    return [draws.normal(90 + shift * i, 1 + i, n + i).tolist() for i in range(n_groups)]


def table(*samples: list[float], names: tuple[str, ...] = NAMES) -> ManyTable:
    experiments = [experiment(n, [metric("acc")], {"acc": s}) for n, s in zip(names, samples, strict=False)]
    described = judge(experiments).experiments
    (found,) = compare_many(described, names[: len(samples)], matches={}, confidence=0.95, rng=np.random.default_rng(0))
    return found


def test_analysis_of_variance_is_that_of_r() -> None:
    equal, unequal = taken(anova(*SCORES)), taken(welch_anova(*SCORES))
    assert (equal.statistic, equal.p_value) == pytest.approx((2.5121438642777147, 0.0877907639136832), rel=MANY_ULPS)
    assert (equal.df_between, equal.df) == (3, 20)
    assert (unequal.statistic, unequal.p_value, unequal.df) == pytest.approx(
        (4.991042155212043, 0.021130010854802, 10.563077346339499), rel=MANY_ULPS
    )
    assert unequal.df_between == 3


def test_the_statistic_of_kruskal_and_wallis_is_that_of_r_and_its_p_near(rng: np.random.Generator) -> None:
    found = taken(kruskal_wallis(*SCORES, rng=rng))
    assert found.statistic == pytest.approx(5.815246194421948, rel=MANY_ULPS)
    assert found.p_value == pytest.approx(0.120953163786573, abs=0.02)
    assert "permutation" in found.note
    assert "ties" in found.note


@pytest.mark.parametrize("seed", range(4))
def test_omnibus_tests_equal_those_of_scipy_and_statsmodels(seed: int, rng: np.random.Generator) -> None:
    samples = normal(2 + seed, 10 + seed, seed, shift=0.5)
    equal, unequal, ranks = (
        taken(it) for it in (anova(*samples), welch_anova(*samples), kruskal_wallis(*samples, rng=rng))
    )
    f, welch, h = (
        scipy_stats.f_oneway(*samples),
        oneway.anova_oneway(samples, use_var="unequal"),
        scipy_stats.kruskal(*samples),
    )
    assert (equal.statistic, equal.p_value) == pytest.approx((f.statistic, f.pvalue), rel=MANY_ULPS)
    assert (unequal.statistic, unequal.p_value) == pytest.approx((welch.statistic, welch.pvalue), rel=MANY_ULPS)
    assert (ranks.statistic, ranks.p_value) == pytest.approx((h.statistic, h.pvalue), rel=MANY_ULPS)


def test_with_few_runs_the_p_of_ranks_is_the_share_of_all_arrangements(rng: np.random.Generator) -> None:
    samples = [[1.0, 2.0, 4.0, 4.0], [3.0, 5.0, 8.0, 9.0], [6.0, 6.0, 7.0, 10.0]]
    found, every = taken(kruskal_wallis(*samples, rng=rng)), [x for sample in samples for x in sample]
    ranks = scipy_stats.rankdata(every)
    sums = []
    for one in combinations(range(12), 4):
        left = [i for i in range(12) if i not in one]
        for other in combinations(left, 4):
            third = [i for i in left if i not in other]
            sums.append(sum(float(ranks[list(group)].sum()) ** 2 for group in (one, other, third)))
    observed = sum(float(ranks[4 * i : 4 * i + 4].sum()) ** 2 for i in range(3))
    exact = float(np.mean([it >= observed - 1e-9 for it in sums]))
    assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 9999))


def test_omnibus_tests_reject_a_true_null_in_five_percent() -> None:
    draws = np.random.default_rng(1)
    groups = draws.normal(size=(600, 3, 5)).tolist()
    tied = np.round(draws.normal(size=(600, 3, 5))).tolist()
    for test in (anova, welch_anova):
        assert np.mean([taken(test(*it)).p_value < 0.05 for it in groups]) < 0.06 + 0.018
    rejected = [it.p_value < 0.05 for it in (kruskal_wallis(*g, rng=draws) for g in tied) if isinstance(it, Test)]
    assert np.mean(rejected) < 0.06 + 0.009


def test_dunnett_is_that_of_r(rng: np.random.Generator) -> None:
    found = dunnett(*SCORES, rng=rng)
    assert not isinstance(found, Unavailable)
    tests, intervals = zip(*found, strict=True)
    assert [it.statistic for it in tests] == pytest.approx(
        [1.970964316170099, 0.538370231827797, 2.281330538223305], rel=MANY_ULPS
    )
    # Both integrate by simulation, and look for the critical value in what that gives.
    assert [it.p_value for it in tests] == pytest.approx([0.15104, 0.90831, 0.08420], abs=5e-4)
    assert [it.low for it in intervals] == pytest.approx([-0.21413, -0.69092, -0.09306], abs=3e-3)
    assert [it.high for it in intervals] == pytest.approx([1.69413, 1.06235, 1.72640], abs=3e-3)


@pytest.mark.parametrize(
    ("sizes", "critical"),
    [
        ((6,) * 4, 2.54),
        ((5,) * 5, 2.65),
        ((21,) * 3, 2.27),
        ((16,) * 4, 2.41),
        ((13,) * 5, 2.51),
        ((11,) * 6, 2.58),
        ((7,) * 10, 2.77),
    ],
)
def test_intervals_are_as_wide_as_dunnetts_table_says(
    sizes: tuple[int, ...], critical: float, rng: np.random.Generator
) -> None:
    """Dunnett (1964), two-sided, 5 %: 20 and 60 degrees of freedom."""
    found = dunnett(*(rng.normal(size=n).tolist() for n in sizes), rng=rng)
    assert not isinstance(found, Unavailable)
    for test, interval in found:
        error = (interval.low + interval.high) / 2 / test.statistic
        assert (interval.high - interval.low) / 2 / error == pytest.approx(critical, abs=0.02)


def test_one_candidate_alone_is_students_test(rng: np.random.Generator) -> None:
    found, student = dunnett(*SCORES[:2], rng=rng), taken(two_sample.student(*SCORES[:2]))
    assert not isinstance(found, Unavailable)
    ((test, _),) = found
    assert test.statistic == pytest.approx(student.statistic, rel=MANY_ULPS)
    assert test.p_value == pytest.approx(student.p_value, abs=5e-4)


def test_all_pairs_are_both_tests_with_holm_and_welch_is_that_of_r() -> None:
    found = {(it.one, it.other): it for it in table(*SCORES).pairs}
    both = {(a, b): ask_both(SCORES[j], SCORES[i]) for i, a in enumerate(NAMES) for j, b in enumerate(NAMES[:i])}
    assert not any(isinstance(it, Unavailable) for it in both.values())
    expected = {
        ("a", "base"): 0.0283462887399036,
        ("b", "base"): 0.8929619255138581,
        ("c", "base"): 0.4293789096701243,
        ("b", "a"): 0.2616799995198801,
        ("c", "a"): 0.8929619255138581,
        ("c", "b"): 0.6302656166537352,
    }
    tests = {pair: it for pair in found if isinstance(it := both[pair], BothTests)}
    welch = holm([it.t_test.p_value for it in tests.values()])
    assert dict(zip(tests, welch, strict=True)) == pytest.approx(expected, rel=MANY_ULPS)
    larger = holm([it.p_upper for it in tests.values()])
    assert [it.p_adjusted for it in found.values()] == pytest.approx(larger)
    assert found["a", "base"].difference == pytest.approx(0.74)


def test_intervals_of_pairs_cover_all_pairs_by_bonferroni() -> None:
    it = table(*SCORES).pairs[0].interval
    wide = both_interval(SCORES[0], SCORES[1], confidence=1 - 0.05 / 6)
    assert isinstance(it, Interval)
    assert isinstance(wide, Interval)
    assert (it.low, it.high, it.confidence) == (wide.low, wide.high, 0.95)
    assert "6 pairs" in it.method


def test_a_candidate_with_few_runs_has_a_reason_and_leaves_the_family() -> None:
    found = table(SCORES[0], SCORES[1], SCORES[2][:3], SCORES[3]).dunnett
    assert not isinstance(found, Unavailable)
    assert found[1].p_adjusted == Unavailable(Reason.TOO_FEW_EACH(5, "run", 6, 3))
    assert isinstance(found[1].difference, float)
    smaller = table(SCORES[0], SCORES[1], SCORES[3]).dunnett
    assert not isinstance(smaller, Unavailable)
    assert found[0].p_adjusted == pytest.approx(smaller[0].p_adjusted, abs=1e-3)


def test_two_experiments_have_no_table_of_many() -> None:
    described = judge([experiment(n, [metric("acc")], {"acc": SCORES[0]}) for n in "ab"]).experiments
    rng = np.random.default_rng(0)
    assert compare_many(described, "ab", matches={}, confidence=0.95, rng=rng) == ()


def test_metrics_are_matched_and_those_that_two_alone_report_have_no_table() -> None:
    sides = [("a", "acc"), ("b", "accuracy"), ("c", "acc")]
    experiments = [
        experiment(n, [metric(m), metric("own" + n)], {m: SCORES[0], "own" + n: SCORES[1]}) for n, m in sides
    ]
    described = judge(experiments, AnalysisOptions(matches={"acc": "accuracy"})).experiments
    (found,) = compare_many(
        described, "abc", matches={"acc": "accuracy"}, confidence=0.95, rng=np.random.default_rng(0)
    )
    assert (found.metric.name, found.names) == ("acc", ("a", "b", "c"))


def test_no_p_depends_on_which_other_metrics_there_are() -> None:
    def ranks(names: list[str]) -> Test | Unavailable:
        experiments = [
            experiment(n, [metric(m) for m in names], {m: [score ** len(m) for score in s] for m in names})
            for n, s in zip("abcd", SCORES, strict=True)
        ]
        described = judge(experiments).experiments
        found = compare_many(described, "abcd", matches={}, confidence=0.95, rng=np.random.default_rng(3))
        return next(it.kruskal_wallis for it in found if it.metric.name == "acc")

    assert ranks(["acc"]) == ranks(["loss", "acc"]) == ranks(["acc", "other", "loss"])


def test_after_an_unplanned_look_no_p_is_given_and_intervals_are_marked() -> None:
    experiments = [experiment(n, [metric("acc")], {"acc": s}) for n, s in zip(NAMES, SCORES, strict=True)]
    experiments[2] = dataclasses.replace(experiments[2], n_unplanned_looks=2)
    described = judge(experiments).experiments
    (found,) = compare_many(described, NAMES, matches={}, confidence=0.95, rng=np.random.default_rng(0))
    reason = Unavailable(Reason.UNPLANNED(2))
    assert (found.anova, found.welch_anova, found.kruskal_wallis) == (reason,) * 3
    assert not isinstance(found.dunnett, Unavailable)
    for contrast in (*found.dunnett, *found.pairs):
        assert contrast.p_adjusted == reason
        assert isinstance(contrast.interval, Interval)
        assert contrast.interval.note == reason.reason


def test_while_runs_are_still_to_come_no_p_and_no_interval_is_given() -> None:
    experiments = [experiment(n, [metric("acc")], {"acc": s}) for n, s in zip(NAMES, SCORES, strict=True)]
    waiting = dataclasses.replace(experiments[2], n_planned=len(experiments[2].runs) + 1, n_pending=1)
    described = judge([*experiments[:2], waiting, *experiments[3:]]).experiments
    (table,) = compare_many(described, NAMES, matches={}, confidence=0.95, rng=np.random.default_rng(0))
    assert isinstance(table.welch_anova, Unavailable)
    assert not isinstance(table.dunnett, Unavailable)
    assert all(isinstance(contrast.interval, Unavailable) for contrast in (*table.dunnett, *table.pairs))


DEGENERATE: dict[str, list[list[float]]] = {
    "nothing": [[], [], []],
    "one run": [[0.5], [0.6], [0.7]],
    "two runs": [[0.5, 0.6], [0.6, 0.7], [0.7, 0.9]],
    "one side empty": [[0.5, 0.6, 0.7, 0.6, 0.5], [], [0.7, 0.9, 0.8, 0.7, 0.75]],
    "identical": [[0.5] * 6] * 3,
    "constant, different": [[0.5] * 6, [0.6] * 6, [0.7] * 6],
    "one constant": [[0.5] * 6, [0.6, 0.7, 0.5, 0.8, 0.55, 0.6], [0.7, 0.6, 0.9, 0.8, 0.65, 0.6]],
    "far away": [[1e9 + i * 1e-6 + j for i in range(6)] for j in range(3)],
    "huge and tiny": [
        [i * 1e149 for i in range(1, 7)],
        [i * 1e-149 for i in range(1, 7)],
        [1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
    ],
    "an ulp apart": [[0.5] * 5 + [math.nextafter(0.5, 1)], [0.5] * 6, [0.5] * 6],
    "far apart": [[1.0, 1.0 + 1e-9, 1.0, 1.0, 1.0 - 1e-9], [1e6] * 4 + [1e6 + 1e-9], [-1e6] * 4 + [-1e6 + 1e-9]],
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_scores_have_named_answers_without_nan(name: str) -> None:
    found = table(*DEGENERATE[name])
    assert all(
        isinstance(it, Unavailable) or 0 < it.p_value <= 1
        for it in (found.anova, found.welch_anova, found.kruskal_wallis)
    )
    contrasts = found.pairs if isinstance(found.dunnett, Unavailable) else (*found.pairs, *found.dunnett)
    for it in contrasts:
        assert isinstance(it.p_adjusted, Unavailable) or 0 < it.p_adjusted <= 1
        assert isinstance(it.interval, Unavailable) or it.interval.low < it.interval.high
        assert isinstance(it.difference, Unavailable) or math.isfinite(it.difference)


def test_values_that_are_not_finite_are_refused_by_name(rng: np.random.Generator) -> None:
    samples = [[0.5, math.nan, 0.6, 0.7, 0.8], *SCORES[:2]]
    refusal = Unavailable(Reason.NO_NUMBER)
    assert anova(*samples) == welch_anova(*samples) == kruskal_wallis(*samples, rng=rng) == refusal
    assert dunnett(*samples, rng=rng) == refusal

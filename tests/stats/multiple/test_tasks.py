"""Experiments over several tasks: aggregates against brute force and scipy, ranks against scipy, R and Demšar (2006).

friedman.test(tasks) by R 4.2.2, where tasks has the rows of TABLE.
"""

import dataclasses
import math
from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
from samples import experiment, metric
from scipy import stats as scipy_stats

from deviate.model.analysis import Direction
from deviate.model.comparisons import TaskFindings
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.judge import judge
from deviate.stats.multiple import tasks as aggregates
from deviate.stats.multiple.tasks import cliques, compare_tasks, critical_difference, friedman, mean_ranks, nemenyi
from deviate.stats.options import AnalysisOptions

TABLE = (
    (0.763, 0.768, 0.771, 0.798),
    (0.599, 0.591, 0.590, 0.569),
    (0.954, 0.971, 0.968, 0.967),
    (0.628, 0.661, 0.654, 0.657),
    (0.882, 0.888, 0.886, 0.898),
    (0.936, 0.931, 0.916, 0.931),
    (0.661, 0.668, 0.609, 0.685),
    (0.583, 0.583, 0.563, 0.625),
    (0.775, 0.838, 0.866, 0.875),
    (1.0, 1.0, 1.0, 1.0),
    (0.940, 0.962, 0.965, 0.962),
    (0.619, 0.666, 0.614, 0.669),
    (0.972, 0.981, 0.975, 0.975),
    (0.957, 0.978, 0.946, 0.970),
)
COLUMNS = [list(column) for column in zip(*TABLE, strict=True)]


def taken(found: Test | Unavailable) -> Test:
    assert isinstance(found, Test)
    return found


def ends(found: Interval | Unavailable) -> tuple[float, float]:
    assert isinstance(found, Interval)
    return found.low, found.high


def drawn_tasks(n_tasks: int, n: int | Sequence[int], seed: int, shift: float = 0.0) -> list[np.ndarray]:
    draws = np.random.default_rng(seed)
    sizes = [n] * n_tasks if isinstance(n, int) else n
    return [draws.normal(0.5 + 0.05 * i + shift, 0.05, size) for i, size in enumerate(sizes)]


def judged(
    scores: dict[str, dict[str, Sequence[float]]],
    *,
    directions: dict[str, Direction | None] | None = None,
    tasks: Sequence[str] = (),
    n_resamples: int = 500,
    unit: str = "",
    n_unplanned: int = 0,
) -> TaskFindings:
    names = list(scores)
    every = list(dict.fromkeys(task for own in scores.values() for task in own))
    metrics = [
        dataclasses.replace(metric(task, direction=(directions or {}).get(task, "max")), unit=unit) for task in every
    ]
    experiments = [
        experiment(
            name, [it for it in metrics if it.name in own], {task: list(map(float, it)) for task, it in own.items()}
        )
        for name, own in scores.items()
    ]
    experiments = [dataclasses.replace(it, n_unplanned_looks=n_unplanned) for it in experiments]
    described = judge(experiments).experiments
    found = compare_tasks(
        described, names, tasks or every, confidence=0.95, rng=np.random.default_rng(0), n_resamples=n_resamples
    )
    assert found is not None
    return found


def grid(n_experiments: int, n_tasks: int, n: int = 6, shift: float = 0.03) -> dict[str, dict[str, Sequence[float]]]:
    return {
        f"e{side}": {
            f"t{i}": it.tolist() for i, it in enumerate(drawn_tasks(n_tasks, n, seed=side, shift=shift * side))
        }
        for side in range(n_experiments)
    }


def test_the_mean_of_the_middle_half_is_the_trimmed_mean_of_scipy() -> None:
    for n in range(1, 40):
        values = np.random.default_rng(n).normal(size=n)
        assert aggregates.estimates([values], 1.0)["iqm"] == pytest.approx(float(scipy_stats.trim_mean(values, 0.25)))
    # The value that R gives for the same scores as one vector, by mean with trim = .25.
    scores = [np.array(task) for task in ([0.1, 0.9, 0.2], [0.8, 0.35, 0.6], [0.7, 0.55, 0.45])]
    assert aggregates.estimates(scores, 1.0)["iqm"] == pytest.approx(0.53)


def test_aggregates_are_those_of_the_formulas() -> None:
    tasks = drawn_tasks(5, 8, seed=1)
    matrix = np.stack(tasks, axis=1)  # runs by tasks, as the paper has it
    expected = {
        "mean": matrix.mean(axis=0).mean(),
        "median": np.median(matrix.mean(axis=0)),
        "iqm": scipy_stats.trim_mean(matrix, 0.25, axis=None),
        "gap": 0.6 - np.minimum(matrix, 0.6).mean(),
    }
    assert aggregates.estimates(tasks, 0.6) == pytest.approx(expected)


@pytest.mark.parametrize("sizes", [[6, 6, 6], [5, 9, 12]])
def test_intervals_are_those_of_resampling_one_by_one(sizes: list[int]) -> None:
    tasks, n_resamples = drawn_tasks(3, sizes, seed=2), 4000
    draws = np.random.default_rng(7)
    resamples = [[draws.choice(it, len(it)) for it in tasks] for _ in range(n_resamples)]
    brute = {
        "mean": [np.mean([it.mean() for it in one]) for one in resamples],
        "iqm": [scipy_stats.trim_mean(np.concatenate(one), 0.25) for one in resamples],
        "gap": [0.6 - np.mean([np.minimum(it, 0.6).mean() for it in one]) for one in resamples],
    }
    found = aggregates.intervals(tasks, 0.6, rng=np.random.default_rng(0), confidence=0.95, n_resamples=n_resamples)
    estimates = aggregates.estimates(tasks, 0.6)
    fewest, df = min(sizes), sum(sizes) - len(sizes)
    factor = math.sqrt(fewest / (fewest - 1)) * scipy_stats.t.ppf(0.975, df) / scipy_stats.norm.ppf(0.975)
    for name, values in brute.items():
        low, high = (
            estimates[name] + factor * (np.quantile(values, level) - estimates[name]) for level in (0.025, 0.975)
        )
        assert ends(found[name]) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_the_interval_of_a_mean_over_tasks_covers_it_with_five_runs_of_two_tasks() -> None:
    draws, hits = np.random.default_rng(3), 0
    for _ in range(400):
        tasks = [draws.normal(mean, 0.1, 5) for mean in (0, 0.3)]
        low, high = ends(aggregates.intervals(tasks, 9, rng=draws, confidence=0.95, n_resamples=400)["mean"])
        hits += low <= 0.15 <= high
    assert hits / 400 > 0.935 - 0.03


def test_a_profile_is_the_share_of_scores_above_each_threshold() -> None:
    tasks, thresholds = drawn_tasks(3, [5, 8, 11], seed=6), np.linspace(0.3, 0.8, 21)
    expected = [np.mean([(it > threshold).mean() for it in tasks]) for threshold in thresholds]
    assert aggregates.profile(tasks, thresholds.tolist()) == pytest.approx(expected)


@pytest.mark.parametrize("sizes", [[6, 6, 6], [6, 6, 9]])
def test_the_band_of_a_profile_is_that_of_resampling_one_by_one(sizes: list[int]) -> None:
    tasks, thresholds = drawn_tasks(3, sizes, seed=6), [0.1, 0.45, 0.5, 0.55, 0.6, 0.9]
    draws = np.random.default_rng(1)
    brute = np.array(
        [
            np.mean([(draws.choice(it, len(it))[:, None] > np.array(thresholds)).mean(axis=0) for it in tasks], axis=0)
            for _ in range(4000)
        ]
    )
    tail = scipy_stats.norm.sf(math.sqrt(6 / 5) * scipy_stats.t.ppf(0.975, sum(sizes) - 3))
    expected = np.quantile(brute, (tail, 1 - tail), axis=0).T
    found = aggregates.profile_band(tasks, thresholds, rng=draws, confidence=0.95)
    np.testing.assert_allclose(found, expected, atol=0.06)


def test_critical_values_of_nemenyi_are_those_of_demsar() -> None:
    """Demšar (2006), table 5: q for 2 to 10 classifiers at .05 and .10, and CD 1.25 for 4 classifiers on 14 sets."""
    table = {
        0.95: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
        0.90: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
    }
    for confidence, row in table.items():
        for k, expected in enumerate(row, start=2):
            q = critical_difference(k, 10, confidence=confidence) / math.sqrt(k * (k + 1) / 60)
            assert q == pytest.approx(expected, abs=0.0011)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_friedman_is_that_of_r_and_scipy_and_its_p_near_the_chi_square() -> None:
    found = taken(friedman(*COLUMNS, rng=np.random.default_rng(0)))
    assert found.statistic == pytest.approx(10.9523809523809526)
    assert found.statistic == pytest.approx(scipy_stats.friedmanchisquare(*COLUMNS).statistic)
    assert found.p_value == pytest.approx(0.0119861763254178, abs=0.005)
    assert found.df == 3


def test_with_few_tasks_the_p_of_friedman_is_the_share_of_all_arrangements(rng: np.random.Generator) -> None:
    rows = np.array([[1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [2.0, 2.0, 5.0], [1.0, 4.0, 5.0]])
    found = taken(friedman(*rows.T.tolist(), rng=rng))
    every = [
        scipy_stats.friedmanchisquare(*np.array(one).T).statistic
        for one in product(*([list(permutations(row)) for row in rows]))
    ]
    assert found.p_value == pytest.approx(np.mean(np.array(every) >= found.statistic - 1e-9), abs=0.02)


@pytest.mark.parametrize(("k", "n_tasks"), [(3, 3), (5, 10)])
def test_tests_of_ranks_reject_a_true_null_in_at_most_five_percent(k: int, n_tasks: int) -> None:
    draws, n_friedman, n_nemenyi, n_tables = np.random.default_rng(5), 0, 0, 400
    for _ in range(n_tables):
        samples = draws.normal(size=(k, n_tasks)).tolist()
        n_friedman += taken(friedman(*samples, rng=draws)).p_value < 0.05
        pairs = nemenyi(*samples)
        assert not isinstance(pairs, Unavailable)
        n_nemenyi += any(isinstance(p, float) and p < 0.05 for p in pairs.values())
    assert n_friedman / n_tables < 0.05 + 0.033
    assert n_nemenyi / n_tables < 0.05 + 0.033


def test_a_pair_is_told_apart_exactly_from_the_critical_difference_on() -> None:
    pairs, ranks = nemenyi(*COLUMNS), mean_ranks(*COLUMNS)
    assert not isinstance(pairs, Unavailable)
    assert not isinstance(ranks, Unavailable)
    difference = critical_difference(4, 14)
    for (one, other), p_value in pairs.items():
        assert isinstance(p_value, float)
        assert (p_value < 0.05) == (abs(ranks[one] - ranks[other]) > difference)


def test_groups_not_told_apart_are_those_of_demsars_figure() -> None:
    """Demšar (2006), figure 1: mean ranks 3.143, 2.000, 2.893, 1.964; at .10 (CD 1.12) two bars overlap."""
    assert cliques((3.143, 2.000, 2.893, 1.964), 1.12) == ((3, 1, 2), (2, 0))
    assert cliques((3.143, 2.000, 2.893, 1.964), 1.25) == ((3, 1, 2, 0),)
    assert cliques((1.0, 3.0, 5.0), 1.5) == ()


def test_accuracies_of_one_unit_are_left_as_they_are() -> None:
    found = judged(grid(3, 3))
    assert found.normalisation.startswith("none")
    assert found.optimum == 1
    scores = {name: np.concatenate([np.array(it) for it in own.values()]) for name, own in grid(3, 3).items()}
    for it in found.aggregated:
        assert it.iqm == pytest.approx(scipy_stats.trim_mean(scores[it.name], 0.25))
    percent = {name: {t: [100 * x for x in s] for t, s in own.items()} for name, own in grid(3, 3).items()}
    assert judged(percent, unit="%").optimum == 100


def test_tasks_in_other_units_are_scaled_by_all_scores_and_turned_where_lower_is_better() -> None:
    scores = {
        "base": {"acc": [0.5, 0.6, 0.7], "loss": [3.0, 4.0, 5.0]},
        "new": {"acc": [0.8, 0.9, 1.0], "loss": [1.0, 2.0, 3.0]},
    }
    found = judged(scores, directions={"loss": "min"})
    assert "lower is better in loss" in found.normalisation
    # acc: 0, .2, .4 and .6, .8, 1; loss turned: .5, .25, 0 and 1, .75, .5
    assert [it.mean for it in found.aggregated] == pytest.approx([(0.2 + 0.25) / 2, (0.8 + 0.75) / 2])
    assert [it.rank for it in found.aggregated] == [2, 1]


def test_scores_do_not_depend_on_the_unit_of_a_task() -> None:
    scores = grid(3, 3)
    scaled = {name: {**own, "t0": [1000 * x - 7 for x in own["t0"]]} for name, own in scores.items()}
    other = {name: {**own, "t0": [10 * x - 90 for x in own["t0"]]} for name, own in scores.items()}
    one, two = judged(scaled), judged(other)
    assert [it.iqm for it in one.aggregated] == pytest.approx([it.iqm for it in two.aggregated])
    assert one.friedman == two.friedman


def test_runs_of_tasks_may_differ_in_number() -> None:
    scores = grid(3, 3)
    scores["e1"]["t1"] = [0.5, 0.6, 0.7, 0.8, 0.55, 0.65, 0.75, 0.7]
    found = judged(scores)
    assert found.n == ((6, 6, 6), (6, 8, 6), (6, 6, 6))
    assert "more weight" in found.note
    assert all(isinstance(it.iqm_interval, Interval) for it in found.aggregated)


def test_a_task_that_an_experiment_lacks_is_left_out_by_name() -> None:
    scores = grid(3, 4)
    del scores["e2"]["t3"]
    found = judged(scores)
    assert found.tasks == ("t0", "t1", "t2")
    assert "t3 left out: no score in e2" in found.note


def test_with_fewer_than_five_runs_there_are_estimates_and_reasons_for_intervals() -> None:
    found = judged(grid(3, 3, n=4))
    for it in found.aggregated:
        assert isinstance(it.iqm, float)
        assert it.iqm_interval == Unavailable(Reason.TOO_FEW_IN_ONE(5, "run", 4))
        assert it.profile_band == ()


def test_two_experiments_have_aggregates_and_no_ranks_to_test() -> None:
    found = judged(grid(2, 3))
    assert len(found.aggregated) == 2
    assert found.friedman == found.critical_difference == Unavailable(Reason.TOO_FEW(3, "experiment", 2))
    assert found.posthoc == ()


@pytest.mark.parametrize(("n_experiments", "n_tasks"), [(1, 3), (3, 1), (2, 1)])
def test_too_little_to_compare_has_a_reason(n_experiments: int, n_tasks: int) -> None:
    found = judged(grid(n_experiments, n_tasks))
    assert found.aggregated == ()
    assert isinstance(found.friedman, Unavailable)
    assert found.friedman.kind is Reason.TOO_FEW


def test_no_tasks_named_is_no_question() -> None:
    described = judge([experiment("a", [metric("acc")], {"acc": [1.0, 2.0]})]).experiments
    assert compare_tasks(described, ["a"], [], confidence=0.95, rng=np.random.default_rng(0)) is None


def test_a_direction_that_nobody_knows_is_said_to_be_taken() -> None:
    found = judged(grid(3, 3), directions={"t1": None})
    assert "direction of t1 unknown: higher is assumed to be better" in found.note


def test_after_an_unplanned_look_no_p_is_given_and_intervals_are_marked() -> None:
    found = judged(grid(3, 3), n_unplanned=1)
    assert found.friedman == found.critical_difference == Unavailable(Reason.UNPLANNED(1))
    assert found.posthoc == found.cliques == ()
    assert all(isinstance(it.iqm_interval, Interval) and it.iqm_interval.note for it in found.aggregated)


def test_the_same_generator_state_gives_the_same_findings() -> None:
    assert judged(grid(3, 3)) == judged(grid(3, 3))


def test_no_interval_depends_on_which_other_experiments_there_are() -> None:
    three, two = judged(grid(3, 3)), judged(grid(2, 3))
    assert [it.iqm_interval for it in three.aggregated[:2]] == [it.iqm_interval for it in two.aggregated]


DEGENERATE: dict[str, list[list[float]]] = {
    "nothing": [[], []],
    "one run": [[0.5], [0.6]],
    "equal on one task": [[0.5] * 6, [0.6, 0.5, 0.7, 0.8, 0.9, 0.55]],
    "equal on all": [[0.5] * 6, [0.5] * 6],
    "constant": [[0.5] * 6, [0.7] * 6],
    "far away": [[1e9 + i * 1e-6 for i in range(6)], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]],
    "huge": [[i * 1e149 for i in range(1, 7)], [-i * 1e149 for i in range(1, 7)]],
    "beyond": [[1e200] * 6, [0.5, 0.6, 0.7, 0.8, 0.9, 0.3]],
    "some missing": [[0.5, math.nan, 0.6, math.inf, 0.7, 0.8, 0.9], [0.6] * 6],
}


def numbers(value: object) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, tuple):
        return [number for item in value for number in numbers(item)]
    if dataclasses.is_dataclass(value):
        return [number for part in dataclasses.fields(value) for number in numbers(getattr(value, part.name))]
    return []


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("is_shifted", [False, True])
def test_degenerate_scores_have_named_answers_without_nan(name: str, *, is_shifted: bool) -> None:
    tasks = dict(zip(("t0", "t1"), DEGENERATE[name], strict=True))
    sides = {f"e{i}": {t: [x + (i / 64 if is_shifted else 0) for x in s] for t, s in tasks.items()} for i in range(3)}
    found = judged(sides, n_resamples=200)
    assert all(math.isfinite(number) for number in numbers(found))
    assert isinstance(found.friedman, Unavailable) or 0 < found.friedman.p_value <= 1
    assert found.aggregated or found.note


def test_tasks_that_the_user_matched_by_name_are_the_same_task() -> None:
    sides = {
        "base": {"one": [0.5, 0.6], "two": [0.4, 0.5]},
        "new": {"first": [0.7, 0.8], "two": [0.6, 0.7]},
    }
    made = [
        experiment(name, [metric(task, direction="max") for task in scores], dict(scores))
        for name, scores in sides.items()
    ]
    found = judge(made, AnalysisOptions(tasks="*", matches={"one": "first"})).tasks
    assert found is not None
    assert found.tasks == ("one", "two")
    assert [it.rank for it in found.aggregated] == [2, 1]

"""Warnings about the shape of scores: few, of the metric that counts, with the runs to look at."""

import dataclasses

import pytest
from samples import experiment, metric, sample

from deviate.model.findings import ExperimentFindings
from deviate.model.plan import SelectedMetric
from deviate.report.advice import tail_warnings, warnings_of
from deviate.stats.describe import describe_runs
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

HEAVY = [93.1, 93.2, 93.3, 88.0, 93.4, 93.25, 93.15, 93.35]
LIGHT = sample(93.2, 0.1, 8)


def described(scores: dict[str, list[float]], primary: str = "") -> ExperimentFindings:
    metrics = [metric(name, is_primary=name == primary) for name in scores]
    one = experiment("base", metrics, scores)
    return ExperimentFindings(one, tuple(describe_runs(one, it) for it in metrics))


def test_heavy_tails_of_the_primary_metric_name_the_runs_and_what_to_do() -> None:
    (warning,) = tail_warnings([described({"acc": HEAVY, "loss": LIGHT}, "acc")], ["base"])
    assert warning.startswith("Heavy tails in acc of base (far out: replicate 3): the intervals of these SDs")
    assert warning.endswith("See median, MAD and bootstrap in the report, Shape and cross-checks.")


def test_heavy_tails_of_several_sides_are_one_warning() -> None:
    sides = [described({"acc": values}, "acc") for values in (HEAVY, LIGHT, HEAVY)]
    (warning,) = tail_warnings(sides, ["base", "light", "new"])
    assert warning.startswith("Heavy tails in acc of base (far out: replicate 3), acc of new (far out: replicate 3): ")


def test_other_metrics_are_silent_beside_a_primary_one() -> None:
    assert tail_warnings([described({"acc": LIGHT, "loss": HEAVY}, "acc")], ["base"]) == []


def test_without_a_primary_metric_all_are_named_in_one_sentence_with_what_chance_does() -> None:
    scores = {f"m{k}": HEAVY for k in range(30)}
    (warning,) = tail_warnings([described(scores)], ["base"])
    assert "m0 of base (far out: replicate 3), m1 of base (far out: replicate 3), m2" in warning
    assert "Up to 5 % of the 30 samples look like this by chance." in warning


@pytest.mark.parametrize("values", [[], [0.5], [0.5] * 8, LIGHT])
def test_scores_without_heavy_tails_give_no_warning(values: list[float]) -> None:
    assert tail_warnings([described({"acc": values}, "acc")], ["base"]) == []
    assert tail_warnings([described({"acc": values})], ["base"]) == []


def test_a_margin_in_points_of_percent_on_a_scale_to_1_is_asked_about() -> None:
    def told(scale: float, margin: float) -> list[str]:
        sides = [
            experiment(name, [metric("acc", is_primary=True)], {"acc": [scale * x for x in scores]})
            for name, scores in {"old": (0.91, 0.92, 0.93, 0.9, 0.92), "new": (0.94, 0.95, 0.93, 0.96, 0.95)}.items()
        ]
        return [it for it in warnings_of(judge(sides, AnalysisOptions(margin=margin))) if it.startswith("The margin")]

    (warning,) = told(1, 0.5)
    assert warning == (
        "The margin 0.5 of acc is 50% of the scale, as all scores are between 0 and 1. If percentage points were "
        "meant, use 0.005."
    )
    assert told(1, 0.02) == []
    assert told(100, 0.5) == []


def test_where_nothing_leads_a_sentence_says_what_to_do() -> None:
    def asked(*metrics: SelectedMetric) -> str:
        scores = {one.name: LIGHT[::-1] if place else LIGHT for place, one in enumerate(metrics)}
        return warnings_of(judge([experiment("base", metrics, scores)]))[0]

    assert "no result was reported. Add --metric lr" in asked(metric("lr", role="other"))
    both = [metric(name, is_primary=True) for name in ("acc", "f1")]
    assert "several metrics are declared primary. Add --metric acc or --metric f1" in asked(*both)
    assert "their order tells nothing" in asked(metric("acc"), metric("f1"))
    assert "there are no metrics" in asked()


def test_the_best_of_several_looks_at_test_data_is_said_to_be_optimistic() -> None:
    def told(words: str) -> bool:
        one = metric("acc", is_primary=True)
        one = dataclasses.replace(one, metric=dataclasses.replace(one.metric, words=words))
        warnings = warnings_of(judge([experiment("base", [one], {"acc": LIGHT})]))
        return any("optimistic" in warning for warning in warnings)

    texts = ("best test accuracy", "test accuracy of the best model", "best val accuracy")
    assert [told(words) for words in texts] == [True, False, False]


@pytest.mark.parametrize(
    ("score", "losses", "is_told"), [(0.9312, LIGHT, True), (0.93, LIGHT, False), (0.9312, [0.5] * 8, False)]
)
def test_a_score_that_is_equal_in_all_runs_while_losses_differ_is_told(
    score: float, losses: list[float], *, is_told: bool
) -> None:
    metrics = [metric("test_acc", is_primary=True), metric("loss", direction="min")]
    told = warnings_of(judge([experiment("base", metrics, {"test_acc": [score] * 8, "loss": losses})]))
    assert (
        any(text.startswith("test_acc is 0.9312 in all 8 runs of base, although loss differs") for text in told)
        is is_told
    )

import json

import pytest
from experiments import experiment, run, scored, selected, single, trained
from scipy import stats
from studies import flip, noisy_run, study, usual, variant

from deviate.model.estimates import Interval
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge


def _refuse(constant: str) -> None:
    raise AssertionError(constant)


def test_figures_are_unrounded_and_equal_what_scipy_gives_on_the_scores() -> None:
    sides = [trained(name, n_runs=7, n_metrics=2, n_points=10, seed=i, shift=0.4 * i) for i, name in enumerate("ab")]
    document = json.loads(render(build_report(judge(sides)), "json"))
    scores = [[it["score"] for it in side["metrics"][0]["scores"]] for side in document["experiments"]]
    expected = stats.ttest_ind(scores[1], scores[0], equal_var=False)
    (pair,) = document["pairs"]
    comparison = pair["comparisons"][0]
    assert comparison["welch"]["p_value"] == pytest.approx(expected.pvalue, rel=1e-12)
    assert comparison["welch"]["statistic"] == pytest.approx(expected.statistic, rel=1e-12)
    interval = expected.confidence_interval(0.95)
    assert comparison["welch_interval"]["low"] == pytest.approx(interval.low, rel=1e-9)


def test_json_is_strict_and_not_finite_numbers_are_strings() -> None:
    findings = judge([scored("a", [1.0, 2.0])])
    description = findings.experiments[0].descriptions[0]
    object.__setattr__(description, "mean_interval", Interval(float("-inf"), float("nan"), 0.95, "made up"))
    document = json.loads(render(build_report(findings), "json"), parse_constant=_refuse)
    interval = document["experiments"][0]["metrics"][0]["mean_interval"]
    assert (interval["low"], interval["high"]) == ("-inf", "nan")


def test_a_figure_that_there_is_not_has_its_reason() -> None:
    document = json.loads(render(build_report(judge([scored("a", [1.0])])), "json"))
    assert document["experiments"][0]["metrics"][0]["sd"] == {"unavailable": "1 run: spread unknown"}


def test_runs_without_a_score_are_there_with_status_and_reason() -> None:
    runs = [run(0, {"test_acc": single(1.0)}), run(1, {}, status="crashed", reason="exit code 1")]
    document = json.loads(render(build_report(judge([experiment("a", runs, [selected()])])), "json"))
    (item,) = document["experiments"]
    assert item["runs"][1]["status"] == "crashed"
    assert item["metrics"][0]["missing"] == [{"replicate": 1, "reason": "crashed"}]


def test_noise_is_unrounded_with_reasons_where_there_is_no_figure() -> None:
    findings = study(*usual())
    document = json.loads(render(build_report(findings), "json"), parse_constant=_refuse)
    noise = document["noise"]
    assert (noise["control"], document["evaluation"]) == ("intact", "equal")
    rows = {row["variant"]: row for row in noise["tables"][0]["rows"]}
    assert rows["algo"]["ratio"] == pytest.approx(0.2 / 0.22, rel=1e-9)
    assert rows["algo"]["ratio_interval"]["method"] == "F, normal theory"
    assert rows["impl"]["ratio"] == {"unavailable": "all 5 values equal"}
    assert (rows["impl"]["sd"], rows["impl"]["n"], rows["algo"]["is_isolated"]) == (0.0, 5, True)
    assert noise["repeatability"][3]["is_equal"] is True
    assert noise["overhead"]["held"] == "algo"
    assert document["experiments"][2]["varied"] == ["kernels", "autotune", "precision"]


def test_runs_tell_what_was_flipped_drawn_and_hashed() -> None:
    item = variant("one-bit", [noisy_run(0, (50.0, float("nan"), 93.0), "ab", flips=(flip(2),))])
    document = json.loads(render(build_report(study(item)), "json"), parse_constant=_refuse)
    (run_,) = document["experiments"][0]["runs"]
    assert run_["flips"] == [
        {"framework": "torch", "parameter": "fc.weight", "index": [2, 3], "before": 0.25, "after": 0.25000003}
    ]
    assert run_["draws"] == {"torch": ["init", "shuffle", "dropout"]}
    assert run_["weights"][0]["digest"] == "ab" * 32
    assert document["noise"]["absorption"][0]["n_flipped"] == 1

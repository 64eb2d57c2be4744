"""What a report says of how many runs there are, and of what ran beside them: in every form."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from experiments import experiment, run, selected, single, trained, with_moments
from studies import equal, spread, study

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.document import DocumentTable, Fold, ReportFigure
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.plots import EstimationPlot
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

LOOKS = (5, 10, 20)


def side(name: str, n: int, mean: float, **changes: object) -> Experiment:
    rng = np.random.default_rng(1)
    metrics = [
        selected(is_primary=True, unit="%"),
        selected("epoch_time", role="time", direction="min", unit="s"),
    ]
    scores = zip(with_moments(n, mean, 0.22, rng), with_moments(n, 10, 0.5, rng), strict=True)
    runs = [run(i, {"test_acc": single(acc), "epoch_time": single(time)}) for i, (acc, time) in enumerate(scores)]
    return replace(experiment(name, runs, metrics), **changes)  # type: ignore[arg-type]


def pair(n: int, **changes: object) -> Findings:
    return judge([side("base", n, 93.41, **changes), side("new", n, 93.74, **changes)])


def forms(findings: Findings) -> dict[str, str]:
    """Terminal and page as lines of words, without the entities that the page writes for signs."""
    view = build_report(findings)
    page = render(view, "html", is_full=True).replace("&#39;", "'").replace("&lt;", "<")
    return {"terminal": " ".join(render(view, "terminal", width=400).split()), "page": " ".join(page.split())}


def test_the_verdict_at_a_declared_look_has_the_look_the_critical_p_and_the_repeated_interval() -> None:
    findings = pair(10, looks=LOOKS)
    for text in forms(findings).values():
        assert "look 2 of 3: the 99.7% interval of the difference contains 0" in text
        assert "99.7% CI −0.007 to 0.667, repeated at look 2 of 3, p" in text
        assert "= 3.35, p = 0.004 (critical p at look 2 of 3: 0.00305)" in text
    assert "new: look 2 of 3, declared at 5, 10, 20 runs (O'Brien-Fleming spending)" in forms(findings)["page"]
    assert "looks declared at 5, 10, 20 runs, obrien-fleming spending" in forms(findings)["page"]
    view = build_report(findings)
    assert "99.7% CI −0.007 to 0.667, repeated at look 2 of 3, p = 0.004, adjusted p = 0.054;" in view.paste[0]
    assert "decided at a look before the last one is, on average, estimated too large" in " ".join(view.said("limits"))


def test_the_axis_of_the_difference_has_the_level_and_the_mark_of_its_interval() -> None:
    def axes(findings: Findings) -> list[str]:
        return [
            it.estimation.plot.difference_axis
            for it in build_report(findings).metrics
            if isinstance(it.estimation, ReportFigure) and isinstance(it.estimation.plot, EstimationPlot)
        ]

    assert axes(pair(10))[0] == "difference (points), 95% CI"
    assert axes(pair(10, looks=LOOKS)) == ["difference (points), 99.7% CI", "difference (s), 99.7% CI"]
    assert axes(pair(7, looks=LOOKS))[0] == "difference (points)"
    assert axes(pair(10, n_unplanned_looks=1))[0] == "difference (points), CI not valid"


def test_between_looks_there_is_no_p_and_no_interval_of_the_difference() -> None:
    findings = pair(7, looks=LOOKS)
    told = "no look is declared at 7 runs: verdict withheld until 10 of each"
    for text in forms(findings).values():
        assert told in text
        assert ", no interval: no look is declared at 7 runs, 7 runs each" in text
        assert "p = " not in text
    (sentence,) = build_report(findings).paste
    assert f"The comparison is undecided: {told}." in sentence
    assert "p = " not in sentence


def test_unplanned_looks_are_said_wherever_a_p_or_an_interval_of_a_comparison_stands() -> None:
    findings = pair(20, n_unplanned_looks=2)
    for text in forms(findings).values():
        assert "p-values not valid: 2 unplanned looks; verdict withheld" in text
        assert "95% CI 0.188 to 0.472, not valid: 2 unplanned looks" in text
        assert "p < 0.001 (not valid: 2 unplanned looks)" in text
        assert "Runs were added to base, new after results had been reported (2 unplanned looks)" in text
    view = build_report(findings)
    assert (view.verdicts[0].word, view.verdicts[0].tone) == ("withheld", "neutral")
    assert view.verdicts[0].spread.endswith(": undecided")
    assert "2 unplanned looks" in view.experiments[0].state
    assert "not valid: 2 unplanned looks" in view.paste[0]


def test_runs_added_until_a_precision_are_said_with_the_coverage_they_cost() -> None:
    for text in forms(judge([side("base", 10, 93.41, precision="test_acc ±0.2")])).values():
        assert "number of runs decided by precision, ±0.2 (reached)" in text
        assert "its 95% interval covers slightly less than its level" in text
    page = forms(pair(10, precision="test_acc ±0.2"))["page"]
    assert page.count("Runs were added until test_acc ±0.2: stopping on precision favours no side") == 1


def test_limited_threads_are_said() -> None:
    for text in forms(judge([side("base", 10, 93.41, n_threads=2)])).values():
        assert "each run limited to 2 threads" in text
    assert "limited" not in forms(judge([side("base", 10, 93.41)]))["terminal"]


def test_times_of_runs_that_shared_the_device_are_marked_wherever_they_stand() -> None:
    alone = side("base", 6, 93.41)
    shared = replace(alone, name="new", runs=tuple(replace(it, n_sharing=1, device="GPU 0") for it in alone.runs))
    told = "measured while up to 1 other run shared the device"
    text = forms(judge([alone, shared]))
    assert text["terminal"].count(told) == 0  # no time stands there
    timed = [
        forms(judge(sides, AnalysisOptions(metric="epoch_time")))["terminal"] for sides in ([alone, shared], [shared])
    ]
    assert all(it.count(told) >= 1 for it in timed)
    assert text["page"].count(told) >= 4  # block, overview, description, data
    assert ", up to 1 other run beside it" in text["page"]
    assert not any(told in it for it in forms(judge([alone, replace(alone, name="new")])).values())


def test_the_overhead_of_determinism_is_marked_where_runs_shared_the_machine() -> None:
    free, held = spread("algo+impl", [93.0, 93.2, 93.1, 93.5]), equal("algo", 4)
    shared = tuple(replace(it, n_sharing=3) for it in held.runs)
    told = "contended: measured while up to 3 other runs shared the machine)"
    for text in forms(study(free, replace(held, runs=shared))).values():
        assert told in text
    assert "contended" not in forms(study(free, held))["terminal"]


def test_json_has_looks_precision_threads_and_sharing() -> None:
    findings = pair(10, looks=LOOKS, spending="pocock", precision="test_acc ±0.2", n_threads=2)
    document = json.loads(render(build_report(findings), "json"))
    item, (comparison, _) = document["experiments"][0], document["pairs"][0]["comparisons"]
    assert (item["looks"], item["spending"], item["n_unplanned_looks"]) == ([5, 10, 20], "pocock", 0)
    assert (item["precision"], item["n_threads"]) == ("test_acc ±0.2", 2)
    assert item["runs"][0].items() >= {"device": "", "n_sharing": 0, "attempt": 1}.items()
    assert document["pairs"][0]["looks"].startswith("look 2 of 3, declared at 5, 10, 20 runs (Pocock spending)")
    assert comparison["difference_interval"]["confidence"] == pytest.approx(1 - 0.0179, abs=1e-4)
    assert comparison["difference_interval"]["method"] == "Welch and permutation, repeated at look 2 of 3"
    unplanned = json.loads(render(build_report(pair(10, n_unplanned_looks=2)), "json"))["pairs"][0]["comparisons"][0]
    assert unplanned["verdict"] == "withheld"
    assert unplanned["p_adjusted"] == {"unavailable": "not valid: 2 unplanned looks"}
    assert unplanned["difference_interval"]["note"] == "not valid: 2 unplanned looks"


@pytest.mark.parametrize("width", [72, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for changes in ({"looks": LOOKS}, {"n_unplanned_looks": 2}, {"precision": "test_acc ±0.2", "n_threads": 2}):
        for line in render(build_report(pair(10, **changes)), "terminal", width=width).splitlines():
            assert len(line) <= max(width, 76)


def with_outcomes(name: str, seed: int, n: int = 12, **changes: object) -> Experiment:
    """Curves, a target, and a run that crashed."""
    made = trained(name, n_runs=n, n_metrics=3, n_points=20, shift=0.3 * seed, seed=seed)
    metrics = tuple(replace(it, target=90.0 if it.is_primary else None) for it in made.metrics)
    *runs, last = made.runs
    return replace(made, metrics=metrics, runs=(*runs, replace(last, status="crashed")), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_experiments", [2, 3])
@pytest.mark.parametrize("mark", ["unplanned", "between looks"])
def test_no_p_of_a_comparison_stands_without_its_mark_in_any_form(n_experiments: int, mark: str) -> None:
    changes = {"n_unplanned_looks": 2} if mark == "unplanned" else {"looks": (10, 20), "n_planned": 20}
    made = [with_outcomes(name, seed, **changes) for seed, name in enumerate("abc"[:n_experiments])]
    view = build_report(judge(made, AnalysisOptions(margin=0.5, tasks="acc_*", spread_ratio=1.5)))
    for form in ("terminal", "markdown", "latex", "html"):
        text = re.sub(r"<script.*?</script>|<svg.*?</svg>", "", render(view, form, width=9999), flags=re.DOTALL)
        told = [line for line in text.replace("&lt;", "<").splitlines() if re.search(r"\bp [=<] ", line)]
        assert [line for line in told if "not valid" not in line] == []


def test_the_band_and_the_area_of_curves_have_the_level_of_the_look() -> None:
    made = [with_outcomes(name, seed, n=10, looks=LOOKS, n_planned=20) for seed, name in enumerate("ab")]
    section = build_report(judge(made)).section("outcomes")
    assert section is not None
    table, figure, *_ = section.of(Fold)[-1].blocks
    assert isinstance(table, DocumentTable)
    assert isinstance(figure, ReportFigure)
    cells = table.rows[0].cells
    assert cells[2].text.startswith("99.7%: ")
    assert cells[3].text.endswith("(nominal)")
    assert "(99.7%)" in figure.plot.description

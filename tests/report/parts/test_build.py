from dataclasses import replace

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, trained, with_moments

from deviate.model.findings import Findings
from deviate.model.plan import PrimaryChoice
from deviate.model.records import DrawEvent, Experiment, Series
from deviate.replay.variants import VARIANTS
from deviate.report.advice import warnings_of
from deviate.report.document import Absent, DocumentTable, Failure, Fold, Report, ReportFigure, Section
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.parts.provenance import freedom
from deviate.report.plots import CurvePlot
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

VARIED = VARIANTS["algo+impl"].varied


def _mock_up() -> Findings:
    """The experiments of the terminal mock-up in the conventions, from which every figure there follows."""
    rng = np.random.default_rng(1)
    baseline = scored("train.py", with_moments(10, 93.41, 0.22, rng))
    return judge([baseline, scored("train_new.py", with_moments(9, 93.74, 0.21, rng))])


def test_the_figures_of_a_comparison_follow_from_means_sds_and_n() -> None:
    (verdict,) = build_report(_mock_up()).verdicts
    assert verdict.word == "better"
    assert verdict.statement == (
        "train_new.py is better than train.py: test_acc +0.330 points (93.410 → 93.740 %, +0.35 % relative), "
        "95% CI 0.122 to 0.540, p = 0.004, 10 runs of train.py and 9 runs of train_new.py"
    )
    assert verdict.tests[0] == "Welch t(16.9) = 3.34, p = 0.004"
    assert verdict.tests[-1] == "Hedges' g 1.46 [0.46 … 2.44]"
    assert verdict.spread == "SD ratio 0.95 [0.47 … 1.99]: undecided"


def test_the_sentence_to_paste_names_n_the_sd_the_tests_and_the_effect() -> None:
    (sentence,) = build_report(_mock_up()).paste
    for part in (
        "93.740 ± 0.210 % with train_new.py (9 runs)",
        "93.410 ± 0.220 % with train.py (10 runs); mean ± SD, last value of each run.",
        "The difference was +0.330 points (95% CI 0.122 to 0.540, p = 0.004;",
        "larger p of Welch t-test, t(16.9) = 3.34, and studentized permutation test;",
        "Hedges' g 1.46 [0.46 … 2.44]",
    ):
        assert part in sentence


def test_the_sentence_to_paste_says_how_many_runs_of_each_side_failed_and_how() -> None:
    base, new = (item.experiment for item in _mock_up().experiments)
    ends = dict(enumerate(("crashed", "crashed", "timed_out")))
    runs = tuple(replace(run, status=ends.get(place, run.status)) for place, run in enumerate(new.runs))
    findings = judge([base, replace(new, runs=runs)])
    (sentence,) = build_report(findings).paste
    assert f"with train_new.py ({len(runs) - 3} of {len(runs)} runs; 2 crashed, 1 timed out) and" in sentence
    (sentence,) = build_report(judge([replace(new, runs=runs)])).paste
    assert f"(mean ± SD over {len(runs) - 3} of {len(runs)} runs; 2 crashed, 1 timed out;" in sentence


@pytest.mark.parametrize(
    ("reason", "when"),
    [
        ("reported first", "primary metric chosen by rule from the first run's output"),
        ("declared before the runs", "primary metric declared before the runs"),
    ],
)
def test_the_sentence_to_paste_says_when_the_primary_metric_was_chosen(reason: str, when: str) -> None:
    planned = PrimaryChoice("test_acc", reason)
    sides = [replace(item.experiment, primary=planned) for item in _mock_up().experiments]
    (sentence,) = build_report(judge(sides)).paste
    assert when in sentence


def test_the_summary_of_an_experiment_has_intervals_and_n() -> None:
    summary = build_report(_mock_up()).experiments[0]
    assert summary.lines[0].label == "test_acc (mean ± SD)"
    assert summary.lines[0].value == "93.410 ± 0.220 %"
    assert summary.lines[0].details == ("95% CI mean 93.253 … 93.567", "SD 0.151 … 0.402", "n = 10")


def test_a_steadier_candidate_is_called_so_only_from_sixteen_runs_on() -> None:
    rng = np.random.default_rng(3)

    def spread(n: int) -> str:
        sides = [scored("a", with_moments(n, 90, 1.0, rng)), scored("b", with_moments(n, 90, 0.1, rng))]
        return build_report(judge(sides)).verdicts[0].spread

    assert spread(15).endswith(": undecided (needs 16 runs in each, has 15 and 15)")
    assert spread(16).endswith(": steadier")


def test_one_run_is_its_value_without_a_spread() -> None:
    view = build_report(judge([scored("tiny", [91.3])]))
    line = view.experiments[0].lines[0]
    assert (line.label, line.value) == ("test_acc", "91.3 %")
    assert "1 run: spread unknown" in line.details
    assert isinstance(view.metrics[0].quantities.tables[0].rows[0].cells[2], Absent)


def test_experiments_without_spread_are_identical_and_nothing_is_nan() -> None:
    view = build_report(judge([scored("a", [5.0] * 5), scored("b", [5.0] * 5)]))
    assert view.verdicts[0].word == "identical"
    quantities = view.metrics[0].quantities.of(Fold)[0].blocks[0]
    assert isinstance(quantities, DocumentTable)
    assert not any("nan" in cell.text.lower() for row in quantities.rows for cell in row.cells)


def test_an_equivalent_verdict_names_its_margin() -> None:
    rng = np.random.default_rng(5)
    sides = [scored(name, with_moments(20, 90, 0.1, rng)) for name in ("a", "b")]
    assert build_report(judge(sides, AnalysisOptions(margin=0.5))).verdicts[0].word == "equivalent within 0.5 points"


def test_no_completed_run_leaves_a_reason_everywhere_and_no_figure() -> None:
    crashed = [run(index, {}, status="crashed", reason="exit code 1") for index in range(3)]
    view = build_report(judge([experiment("broken", crashed, [selected(is_primary=True)])]))
    estimation = view.metrics[0].estimation
    assert isinstance(estimation, Absent)
    assert "0/3" in estimation.reason
    assert view.experiments[0].state == ("algo+impl", "0/3 completed, 3 crashed")
    assert len(_failures(view)) == 3


def _failures(report: Report) -> tuple[Failure, ...]:
    section = report.section("failures")
    assert section is not None
    return section.of(Failure)


def test_failures_keep_reason_log_and_last_lines_without_control_codes() -> None:
    runs = [run(0, {"test_acc": single(1.0)}), run(1, {}, status="crashed", stderr_tail=("\x1b[31mboom\x1b[0m",))]
    (failure,) = _failures(build_report(judge([experiment("a", runs, [selected()])])))
    assert (failure.run, failure.outcome) == ("replicate 1", "crashed, exit code 1")
    assert failure.stderr == ("boom",)
    assert failure.log.endswith("attempt-0/stderr.log")


def test_experiments_of_one_name_are_told_apart_by_their_variant() -> None:
    sides = [
        experiment("a", [run(i, {"test_acc": single(i)}) for i in range(5)], [selected()], variant=variant)
        for variant in ("as-is", "algo+impl")
    ]
    assert [item.label for item in build_report(judge(sides)).experiments] == ["a:as-is", "a:algo+impl"]


def test_metrics_that_were_matched_share_a_row_and_others_say_who_lacks_them() -> None:
    def side(name: str, *names: str) -> Experiment:
        runs = [run(i, {it: single(90 + (i * 0.1) ** at) for at, it in enumerate(names, 1)}) for i in range(5)]
        return experiment(name, runs, [selected(it) for it in names])

    sides = [side("a", "acc", "top5"), side("b", "accuracy", "loss")]
    view = build_report(judge(sides, AnalysisOptions(matches={"acc": "accuracy"})))
    cells = {row.label: [cell.text for cell in row.cells] for row in view.results().rows}
    assert sorted(cells) == ["acc = accuracy", "loss", "top5"]
    assert cells["top5"][1::3] == ["not reported by b", "not compared"]
    assert cells["loss"][0] == "not reported by a"


def test_the_summary_has_a_metric_once_that_is_matched_and_has_a_namesake() -> None:
    sides = [
        experiment(name, [run(i, {it: single(90 + i) for it in ("acc", "f1")}) for i in range(5)],
                   [selected("acc"), selected("f1")])
        for name in ("a", "b")
    ]  # fmt: skip
    _, candidate = build_report(judge(sides, AnalysisOptions(matches={"acc": "f1"}))).experiments
    assert len(candidate.lines) == len(set(candidate.lines))


def test_without_a_primary_metric_there_is_no_headline_verdict_but_a_way_to_get_one() -> None:
    names = ("acc_a", "acc_b")
    sides = [
        experiment(
            name,
            [run(i, {it: single(i**at) for at, it in enumerate(names, 1)}) for i in range(5)],
            [selected(it, direction=None) for it in names],
        )
        for name in ("a", "b")
    ]
    assert build_report(judge(sides)).verdicts  # of the one that was reported first
    view = build_report(judge([replace(one, imported=("read from scores.csv",)) for one in sides]))
    assert view.verdicts == ()
    assert "--metric" in view.no_verdict


def _provenance(findings: Findings) -> Section:
    section = build_report(findings).section("provenance")
    assert section is not None
    (part,) = section.parts
    return part


def test_seeding_calls_are_told_once_with_place_action_and_number_of_runs() -> None:
    calls, runs, *_ = _provenance(judge([trained("a", n_runs=4, n_metrics=1, n_points=3)])).tables
    (row,) = calls.rows
    told = ("torch.manual_seed", "train.py:12", "42", "replaced", "4 of 4 runs")
    assert (row.label, *(cell.text for cell in row.cells)) == told
    assert runs.rows[2].cells[-1].text == "init, shuffle 1002 · dropout 2002"


def test_an_environment_that_differs_between_runs_is_told_per_replicate() -> None:
    runs = [run(i, {"test_acc": single(i)}, environment={"torch": "2.1" if i else "2.0"}) for i in range(3)]
    (row,) = _provenance(judge([experiment("a", runs, [selected()])])).tables[-1].rows
    assert row.cells[0].text == "2.0 (replicate 0); 2.1 (replicates 1–2)"


def test_every_warning_of_the_findings_and_the_records_is_in_the_view() -> None:
    runs = [run(i, {"test_acc": single(i)}, warnings=("wrote outside its work copy: /tmp/x",)) for i in range(2)]
    findings = judge([experiment("a", runs, [selected()], n_planned=4, warnings=("snapshot is old",))])
    view = build_report(findings)
    assert set(warnings_of(findings)) <= set(view.warnings)
    assert "a: snapshot is old" in view.warnings
    assert "a, replicates 0–1: wrote outside its work copy: /tmp/x" in view.warnings


def test_what_asks_for_nothing_is_a_note_behind_the_warnings() -> None:
    continued = "goes on from attempt 1, which was lost"
    kept = replace(run(0, {"test_acc": single(1)}, warnings=(continued, "wrote outside")), notes=(continued,))
    view = build_report(judge([experiment("a", [kept], [selected()])]))
    assert view.notes == (f"a, replicate 0: {continued}",)
    assert view.warnings[-2:] == ("a, replicate 0: wrote outside", *view.notes)
    assert render(view, "terminal").endswith(f"\nNote       {view.notes[0]}\n")


def test_equal_warnings_of_several_variants_are_one_sentence() -> None:
    runs = [run(i, {"test_acc": single(i)}, warnings=("wrote outside its work copy: /tmp/x",)) for i in range(2)]
    sides = [experiment("a", runs, [selected()], variant=name) for name in ("algo", "impl")]
    found = [
        text for text in build_report(judge(sides, AnalysisOptions(compares=False))).warnings if "wrote outside" in text
    ]
    assert found == ["algo, replicates 0–1; impl, replicates 0–1: wrote outside its work copy: /tmp/x"]


def test_curves_separate_the_runs_that_count_from_those_that_failed() -> None:
    good = Series((0, 1), (1.0, 2.0))
    runs = [run(0, {"loss": good}), run(1, {"loss": Series((0, 1), (1.0, float("nan")))}, status="diverged")]
    (metric,) = build_report(judge([experiment("a", runs, [selected("loss")])])).metrics
    assert isinstance(metric.curve, ReportFigure)
    assert isinstance(metric.curve.plot, CurvePlot)
    (group,) = metric.curve.plot.groups
    assert (len(group.counted), len(group.failed)) == (1, 1)


def test_values_reported_once_have_no_curve_and_say_so() -> None:
    view: Report = build_report(judge([scored("a", [1.0, 2.0])]))
    assert isinstance(view.metrics[0].curve, Absent)
    assert "No metric was reported at more than one step." in render(view, "html")


def test_of_very_many_runs_a_report_shows_a_part_and_says_of_how_many() -> None:
    report = build_report(judge([trained("many", n_runs=1200, n_metrics=1, n_points=2)]))
    (metric,) = report.metrics
    assert isinstance(metric.estimation, ReportFigure)
    scores = [float(row[-1]) for row in list(report.rows())[1:]]
    drawn = metric.estimation.plot.groups[0].values  # type: ignore[attr-defined]
    assert (len(scores), len(drawn), min(drawn), max(drawn)) == (1200, 1000, min(scores), max(scores))
    assert "At most 1,000 scores are drawn" in metric.estimation.caption
    listing = next(table for table in _tables(report) if "runs and their seed sets" in table.caption)
    assert len(listing.rows) == 1000
    assert listing.caption.endswith("the first 1,000 of 1200 runs")


def _tables(report: Report) -> list[DocumentTable]:
    parts = [part for section in report.sections for part in (section, *section.parts)]
    return [block for part in parts for block in part.blocks if isinstance(block, DocumentTable)]


def test_draws_in_workers_are_not_said_to_be_held() -> None:
    shared = "draws in worker processes, which share the tasks by chance"
    drawn = tuple(DrawEvent("numpy.random.randn", "split", "train.py", line) for line in (7, 8, 80))
    uncontrolled = tuple(f"{shared} (train.py:{line})" for line in (8, 9))
    whole = scored("train", np.array([0.1, 0.2]))
    runs = tuple(replace(each, drawn=drawn, uncontrolled=uncontrolled) for each in whole.runs)
    assert freedom(replace(whole, runs=runs, varied=VARIED, held=("split",))) == (
        f"training varies: seeds and kernels; not held: {shared} (train.py:8, train.py:9); seed each task: "
        "default_rng(task); data held: randn (train.py:7), randn (train.py:80); --vary NAME or FILE:LINE"
    )

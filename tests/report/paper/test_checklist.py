import dataclasses

from experiments import run, scored, selected, single
from studies import spread, study

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.paper.checklist import checklist_source
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

SCORES = (93.1, 93.4, 93.9, 93.2, 93.6)


def _text(findings: Findings) -> str:
    return checklist_source(findings, build_report(findings))


def _known(name: str, shift: float) -> Experiment:
    facts = {"GPU": "NVIDIA H100", "CPU": "AMD EPYC 9654"}
    runs = [run(i, {"test_acc": single(score + shift)}, environment=facts) for i, score in enumerate(SCORES)]
    return dataclasses.replace(
        scored(name, SCORES),
        runs=(*runs, run(5, {}, status="crashed")),
        varied=("init", "shuffle"),
        held=("split",),
        n_planned=6,
    )


def test_what_is_on_record_is_the_answer() -> None:
    text = _text(judge([_known("base", 0), _known("new", 0.5)]))
    assert "base: variant algo+impl; varied: init, shuffle; held: split." in text
    assert "base: 5/6 completed, 1 crashed; n = 5 of 6 for test_acc." in text
    assert "base, hardware: GPU NVIDIA H100; CPU AMD EPYC 9654." in text


def test_what_is_not_on_record_is_said_to_be_unknown() -> None:
    told = dataclasses.replace(scored("old", SCORES), imported=("scores from old.csv",))
    text = _text(judge([told]))
    assert "what varied between them is not known" in text
    assert "old, hardware: not known" in text
    assert "old, time per run: not known" in text
    assert "How were differences tested?" not in text
    assert "old: whether runs failed or were left out before their scores were read is not known" in text
    assert "completed" not in text
    assert "Variant algo+impl" not in text


def test_no_error_bar_is_claimed_of_single_runs() -> None:
    text = _text(judge([scored("base", [93.1]), scored("new", [94.1])]))
    assert "No: no metric has two runs with a score" in text
    assert "Yes" not in text
    assert "The comparison is undecided: baseline: 1 run, spread unknown." in text


def test_what_must_be_chosen_before_is_left_to_be_confirmed() -> None:
    findings = judge([scored("base", SCORES), scored("new", SCORES[::-1])], AnalysisOptions(is_paired=True, margin=0.5))
    text = _text(findings)
    assert "Pairing was asked for; that it was chosen before the runs is yours to confirm." in text
    assert "paired t" in text


def test_bars_beyond_what_a_percentage_can_be_are_named() -> None:
    near = selected(unit="%", is_primary=True)
    assert "Error bars pass 0 or 100 %" in _text(judge([scored("base", [99.9, 99.8, 98.1, 99.9], near)]))
    assert "Error bars pass" not in _text(judge([scored("base", SCORES, near)]))


def test_a_control_that_failed_or_is_missing_takes_the_claim_back() -> None:
    broken = study(spread("algo", SCORES), spread("control", SCORES))
    assert "control failed: " in _text(broken)
    assert "Isolation was not checked" in _text(study(spread("algo", SCORES), spread("impl", SCORES)))


def test_a_name_is_no_markup() -> None:
    assert "<script>" not in _text(judge([scored("<script>", SCORES)]))

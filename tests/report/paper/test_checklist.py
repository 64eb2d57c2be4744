import dataclasses

from experiments import run, scored, single
from studies import study, usual

from deviate.model import Experiment, Findings
from deviate.report import build_view
from deviate.report.paper.checklist import checklist_source
from deviate.stats import judge

SCORES = (93.1, 93.4, 93.9, 93.2, 93.6)


def _text(findings: Findings) -> str:
    return checklist_source(build_view(findings))


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
    assert "one standard deviation over independent runs (ddof 1), not a standard error" in text
    assert "base: variant algo+impl, free between runs: init, shuffle; held: split." in text
    assert "base: 5/6 completed, 1 crashed; n = 5 of 6 for test_acc." in text
    assert "of the mean by Student t; of the SD by chi-square" in text
    assert "Two-sided Welch's t-test; equal spread is not assumed." in text
    assert "base, hardware: GPU NVIDIA H100; CPU AMD EPYC 9654." in text
    assert "base, time: 45 s per run (median), 4 min 30 s for all 6 runs" in text


def test_what_is_not_on_record_is_said_to_be_unknown() -> None:
    told = dataclasses.replace(scored("old", SCORES), imported=("scores from old.csv",))
    text = _text(judge([told]))
    assert "what varied between them is not known" in text
    assert "old, hardware: not known" in text
    assert "old, time per run: not known" in text
    assert "How were differences tested?" not in text


def test_each_variant_of_a_study_says_what_it_leaves_free() -> None:
    text = _text(study(*usual()))
    assert "control: nothing: every factor that deviate can reach is held (variant control)." in text
    assert "impl: variant impl, free between runs: kernels, autotune, precision" in text


def test_a_name_is_no_markup() -> None:
    assert "<script>" not in _text(judge([scored("<script>", SCORES)]))

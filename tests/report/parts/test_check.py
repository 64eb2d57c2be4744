import functools
import json
import re
from pathlib import Path

import pytest
from degenerate import CASES
from each import check_each
from experiments import experiment, run, scored, selected, single
from gates import junit_cases
from schemas import schema_flaws

from deviate.cli.gate import Gate, check
from deviate.model.check import CheckFindings
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment
from deviate.report.document import Check
from deviate.report.forms.github import command
from deviate.report.forms.registry import CHECK_FORMS, render
from deviate.report.parts.check import check_document
from deviate.stats.options import AnalysisOptions

HOSTILE = "acc\n::error::50%,x:\r<script>&\"'\x1b[31m]]>\u202e|`$\\_{}\ud800" + "long" * 1000


def elsewhere(it: Experiment) -> Experiment:
    """As if it had been read from a file: there is no folder to ask."""
    return Experiment(
        it.name, it.variant, it.command, it.n_planned, it.metrics, it.runs, folder=None, imported=("read",)
    )  # fmt: skip


def found(baseline: Experiment, candidate: Experiment, **asked: object) -> CheckFindings:
    gate = Gate(**asked)  # type: ignore[arg-type]
    return check(Path("nowhere"), [elsewhere(baseline), elsewhere(candidate)], gate, AnalysisOptions())


def of_scores(baseline: list[float], candidate: list[float], metric: SelectedMetric, **asked: object) -> Check:
    return check_document(found(scored("old", baseline, metric), scored("new", candidate, metric), **asked))


def check_forms(old: str, new: str) -> None:
    metric = selected(is_primary=True, margin=0.1)
    view = of_scores(list(map(float, CASES[old])), list(map(float, CASES[new])), metric)
    for form in CHECK_FORMS:
        text = render(view, form)
        assert text.endswith("\n")
        assert not re.search(r"\bnan\b|NaN[^ ]|\binf\b", text.replace("only NaN", ""))
    junit_cases(render(view, "junit"))
    json.loads(render(view, "json"), parse_constant=pytest.fail)
    assert list(schema_flaws(render(view, "json"), "check")) == []
    if min(len(CASES[old]), len(CASES[new])) < 5:
        assert view.code in {0, 3}


@pytest.mark.parametrize("old", ["eight", "one", "eight equal", "huge"])
def test_whatever_the_scores_are_there_is_an_answer_in_every_form(old: str) -> None:
    check_each(zip(CASES, CASES, strict=True), functools.partial(check_forms, old))


def test_hostile_names_leave_every_form_whole() -> None:
    metric = selected(HOSTILE, is_primary=True, unit=HOSTILE)
    worse = [0.1, 0.11, 0.12, 0.13, 0.15, 0.16]
    view = of_scores([it + 0.5 for it in worse], worse, metric)
    assert view.code == 4
    names = junit_cases(render(view, "junit"))
    assert len(names) == len(view.cases)
    lines = render(view, "github").splitlines()
    assert all(re.match(r"::(error|warning|notice) title=[^:,]*(,file=[^:,]*)?(,line=\d+)?::", line) for line in lines)
    assert not any("\x1b" in line or "\r" in line for line in lines)
    assert "<script>" not in render(view, "markdown")
    assert json.loads(render(view, "json"))["metrics"][0]["outcome"] == "worse"
    assert list(schema_flaws(render(view, "json"), "check")) == []
    terminal = render(view, "terminal", width=80)
    assert not set("\x1b\r\u202e") & set(terminal)


def test_a_command_of_github_has_its_own_escapes() -> None:
    assert command("error", "100%\r\nat a:b,c", title="a:b,c%\n", file="") == (
        "::error title=a%3Ab%2Cc%25%0A::100%25%0D%0Aat a:b,c"
    )


def test_what_is_undecided_is_skipped_and_fails_only_where_it_is_asked_to() -> None:
    metric = selected(is_primary=True)
    view = of_scores([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.4, 0.6], metric)
    strict = of_scores([0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.2, 0.3, 0.4, 0.6], metric, fails_undecided=True)
    name = "deviate check.new: test_acc not worse"
    assert (view.code, junit_cases(render(view, "junit"))[name]) == (0, "skipped")
    assert (strict.code, junit_cases(render(strict, "junit"))[name]) == (5, "failure")
    assert "::warning title=deviate check%3A test_acc not worse" in render(view, "github")
    assert "::error title=deviate check%3A test_acc not worse" in render(strict, "github")


def test_a_constant_difference_beyond_the_margin_fails_and_of_fewer_runs_more_are_advised() -> None:
    metric = selected(is_primary=True, margin=0.1)
    (case,) = (it for it in of_scores([0.9] * 5, [0.5] * 5, metric).cases if it.kind == "metric")
    assert case.outcome == "failed"
    (case,) = (it for it in of_scores([0.9] * 4, [0.5] * 4, metric).cases if it.kind == "metric")
    assert case.outcome == "undecided"
    assert "5 runs of each side" in case.advice


def test_a_side_without_a_completed_run_is_an_error_and_no_pass() -> None:
    metric = selected(is_primary=True)
    crashed = [run(i, {}, status="crashed") for i in range(3)]
    view = check_document(found(scored("old", [0.1, 0.2, 0.3], metric), experiment("new", crashed, [metric])))
    assert (view.word, view.code) == ("incomplete", 3)
    assert list(schema_flaws(render(view, "json"), "check")) == []
    assert json.loads(render(view, "json"))["records"][1]["failed"] == [{"status": "crashed", "runs": 3}]
    assert junit_cases(render(view, "junit"))["deviate check.new: records of new are complete"] == "error"


def test_each_word_goes_before_the_ones_after_it() -> None:
    """Worse before missing runs, and both before undecided."""
    metrics = [selected("acc", is_primary=True), selected("f1")]
    good = [{"acc": single(0.9 + i / 100), "f1": single(0.5 + i / 10)} for i in range(6)]
    bad = [{"acc": single(0.1 + i / 100), "f1": single(0.5 + i / 10)} for i in range(6)]
    old = experiment("old", [run(i, it) for i, it in enumerate(good)], metrics)
    lost = [*[run(i, it) for i, it in enumerate(bad)], run(6, {}, status="lost")]
    worse = found(old, experiment("new", lost, metrics), metrics=("acc", "f1"))
    assert (worse.word, worse.code) == ("worse", 4)
    assert {it.outcome for it in worse.metrics} == {"worse", "undecided"}
    assert not all(it.is_complete for it in worse.records)
    missing = found(old, experiment("new", lost, metrics), metrics=("f1",), fails_undecided=True)
    assert (missing.word, missing.code) == ("incomplete", 3)
    assert found(old, experiment("new", lost, metrics), metrics=("acc",), requires_control=True).code == 6

"""Degenerate scores have a named outcome wherever they are shown: in every form, in notebooks, on the command line."""

import dataclasses
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from degenerate import CASES
from experiments import experiment, run, scored, selected, single
from flaws import csv_flaws, flaws_of, json_flaws, latex_flaw, page_flaws, text_flaws
from studies import noisy_run, study, variant

from deviate.model.findings import Findings
from deviate.model.records import Experiment, Series, Status
from deviate.report.figures.write import page_figure
from deviate.report.parts.build import build_report
from deviate.report.plots import CurveGroup, CurvePlot
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

Scores = Sequence[float]
STATUSES: tuple[Status, ...] = ("diverged", "crashed", "timed_out", "lost", "cancelled", "silent")
TASKS = ("cifar/acc", "imagenet/acc", "svhn/acc")
PAIRS = (
    ("nothing", "eight"),
    ("one", "two"),
    ("only NaN", "three"),
    ("eight equal", "eight others equal"),
    ("some missing", "eight with ties"),
    ("an ulp apart", "two equal"),
    ("far away", "whole numbers"),
    ("huge", "beyond"),
    ("tiny", "subnormal"),
    ("zeros", "around zero"),
    ("two levels", "many"),
    ("four", "nothing"),
)


def one(scores: Scores, _: Scores) -> Findings:
    return judge([_trained("a", scores)])


def two(scores: Scores, others: Scores) -> Findings:
    return judge([scored("a", scores), scored("b", others)])


def two_without_a_direction(scores: Scores, others: Scores) -> Findings:
    metric = selected(direction=None)
    return judge([scored("a", scores, metric), scored("b", others, metric)])


def pairs_with_a_margin(scores: Scores, others: Scores) -> Findings:
    sides = [scored("a", scores), scored("b", others)]
    return judge(sides, AnalysisOptions(is_paired=True, margin=0.1, spread_ratio=2.0, confidence=0.99))


def four(scores: Scores, others: Scores) -> Findings:
    return judge(
        [scored(name, it) for name, it in zip("abcd", (scores, others, scores[:3], others[::-1]), strict=True)]
    )


def tasks(scores: Scores, others: Scores) -> Findings:
    sides = {"a": (scores, others, [0.5, 0.6, 0.7]), "b": (others, scores, [0.5] * 3), "c": (scores, scores, others)}
    return judge(
        [_columns(name, dict(zip(TASKS, it, strict=True))) for name, it in sides.items()],
        AnalysisOptions(tasks="*/acc"),
    )


def curves_and_a_target(scores: Scores, others: Scores) -> Findings:
    return judge([_trained("a", scores), _trained("b", others)])


def curves_of_unequal_lengths(scores: Scores, others: Scores) -> Findings:
    return judge([_trained("a", scores, lengths=(1, 3, 5)), _trained("b", others, lengths=(2, 6), is_timed=False)])


def curves_with_gaps(scores: Scores, others: Scores) -> Findings:
    return judge([_trained("a", scores, gap=1), _trained("b", others, gap=2)])


def constant_curves(scores: Scores, others: Scores) -> Findings:
    return judge([_trained("a", scores, rises=False), _trained("b", others, rises=False)])


def failures_of_every_kind(scores: Scores, others: Scores) -> Findings:
    return judge([_failed("a", scores, STATUSES), _failed("b", others, STATUSES[:1])])


def variants(scores: Scores, others: Scores) -> Findings:
    given = {"algo+impl": scores, "algo": others, "impl": scores[:4]}
    free = [variant(name, [_noisy(name, i, it) for i, it in enumerate(values)]) for name, values in given.items()]
    return study(*free, variant("control", [noisy_run(i, (50.0, it), "same") for i, it in enumerate(others[:5])]))


def metrics_of_one_side(scores: Scores, others: Scores) -> Findings:
    return judge([scored("a", scores, selected("acc")), scored("b", others, selected("loss", direction="min"))])


def looks_that_nobody_declared(scores: Scores, others: Scores) -> Findings:
    sides = (scored("a", scores), scored("b", others))
    return judge([dataclasses.replace(side, n_unplanned_looks=2) for side in sides])


def no_metric(scores: Scores, others: Scores) -> Findings:
    return judge(
        [experiment(name, [run(i, {}) for i in range(len(it))]) for name, it in (("a", scores), ("b", others))]
    )


SETTINGS: tuple[Callable[[Scores, Scores], Findings], ...] = (
    one,
    two,
    two_without_a_direction,
    pairs_with_a_margin,
    four,
    tasks,
    curves_and_a_target,
    curves_of_unequal_lengths,
    curves_with_gaps,
    constant_curves,
    failures_of_every_kind,
    variants,
    metrics_of_one_side,
    looks_that_nobody_declared,
    no_metric,
)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.__name__)
def test_every_form_names_what_there_is_not(setting: Callable[[Scores, Scores], Findings]) -> None:
    """Every setting has a quarter of the pairs, and tasks, which take longest, two of them."""
    pairs = PAIRS[SETTINGS.index(setting) % 4 :: 4]
    for before, after in pairs[:2] if setting is tasks else pairs:
        assert list(flaws_of(setting(CASES[before], CASES[after]))) == [], (before, after)


@pytest.mark.slow
def test_a_hundred_metrics_of_which_each_run_misses_some() -> None:
    sides = [_columns(name, {f"class_{i}": CASES["eight"][: i % 4] for i in range(100)}) for name in "ab"]
    assert list(flaws_of(judge(sides))) == []


@pytest.mark.parametrize("text", ["<td>nan</td>", "<path d='M 1 NaN'/>", "<td>-inf</td>", "<td>None</td>"])
def test_what_is_looked_for_would_be_found(text: str) -> None:
    assert list(page_flaws(text))
    assert not list(page_flaws("<p>NaN at the last step (3), none, infer, naN_loss</p>"))


@pytest.mark.parametrize("values", [(math.nan,), (math.nan, 1.0, math.nan), (math.inf, 0.5), (1e300, -1e300), (0.0,)])
def test_curves_that_are_broken_off_are_drawn_by_numbers_alone(values: tuple[float, ...]) -> None:
    broken, whole = Series(tuple(range(len(values))), values), Series((0, 1, 2), (0.5, 0.5, 0.5))
    for counted, failed in (((broken,), ()), ((broken, whole), ()), ((whole,), (broken,)), ((), (broken, broken))):
        groups = (CurveGroup(0, "a", counted, failed), CurveGroup(1, "b", (), ()))
        svg = page_figure(CurvePlot("key", "title", "description", "caption", "axis", 0.95, groups), 100)
        assert ET.fromstring(svg).tag.endswith("svg")
        assert list(page_flaws(svg)) == []


def test_a_sentence_to_paste_says_who_had_no_score() -> None:
    (told,) = build_report(two(CASES["huge"], CASES["beyond"])).paste
    sides = r"was unknown with b \(0 of 5 runs; 5 NaN or infinite\) and 4\.65e149 ± 2\.81e149 % with a \(10 runs\);"
    assert re.match(f"test_acc {sides}", told)
    assert "The difference is unknown. The comparison is undecided: " in told


FILES = {
    "good": "seed,acc\n0,0.9\n1,0.91\n2,0.92\n3,0.93\n4,0.94\n5,0.96\n",
    "one": "seed,acc\n0,0.5\n",
    "equal": "seed,acc\n" + "".join(f"{i},0.5\n" for i in range(8)),
    "broken": "seed,acc\n0,nan\n1,inf\n2,-inf\n3,1e400\n4,\n5,0.5\n",
    "sparse": "seed,acc\n0,0.5\n1,\n2,\n",
    "far": "seed,acc\n" + "".join(f"{i},{10**9 + i * 1e-6:.6f}\n" for i in range(10)),
    "curves": "seed,step,acc\n"
    + "".join(f"{i},{k},{'nan' if (i + k) % 5 == 0 else i + k}\n" for i in range(5) for k in range(6 - i % 3)),
    "methods": "method,seed,task,acc\n"
    + "".join(f"{m},{i},{t},{0.5 if t == 'x' else i}\n" for m in "pqr" for t in "xyz" for i in range(3)),
}
COMMANDS = (
    ("compare", "good.csv", "broken.csv", "--paired", "--margin", "0.1"),
    ("compare", "one.csv", "equal.csv", "far.csv", "sparse.csv"),
    ("compare", "curves.csv", "good.csv", "--target", "acc=0.93"),
    ("compare", "methods.csv", "--tasks", "*"),
    ("report", "methods.csv"),
    ("report", "broken.csv"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_command_line_is_silent_on_stderr(command: tuple[str, ...], project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    for name, text in FILES.items():
        (project / f"{name}.csv").write_text(text)
    forms = {"html": page_flaws, "latex": text_flaws, "markdown": text_flaws, "json": json_flaws, "csv": csv_flaws}
    done = deviate_in(project)(*command, *(word for form in forms for word in (f"--{form}", f"out.{form}")))
    assert (done.code, done.err) == (0, "")
    assert list(text_flaws(done.out)) == []
    for form, flaws in forms.items():
        assert list(flaws((project / f"out.{form}").read_text(encoding="utf-8"))) == [], form
    assert latex_flaw((project / "out.latex").read_text(encoding="utf-8")) == ""


@pytest.mark.parametrize("text", ["", "\n\n", "seed,acc\n", "seed,acc\n0,\n1,\n", "seed,acc\n0,good\n1,bad\n"])
def test_a_file_without_scores_is_refused_in_one_message(text: str, project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "none.csv").write_text(text)
    done = deviate_in(project)("report", "none.csv")
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(r"Error: none\.csv.*\n  .*\n", done.err)


def _columns(name: str, columns: dict[str, Scores]) -> Experiment:
    n = max(map(len, columns.values()))
    runs = [run(i, {key: single(it[i]) for key, it in columns.items() if i < len(it)}) for i in range(n)]
    return experiment(name, runs, [selected(key, is_primary=at == 0) for at, key in enumerate(columns)])


def _trained(
    name: str,
    scores: Scores,
    *,
    lengths: Sequence[int] = (4,),
    gap: int | None = None,
    rises: bool = True,
    is_timed: bool = True,
) -> Experiment:
    """Runs that end at these scores, with a target in reach of some; every second one has NaN at the step `gap`."""
    metric = dataclasses.replace(selected(is_primary=True, unit="%"), target=0.75)
    runs = []
    for index, score in enumerate(scores):
        n = lengths[index % len(lengths)]
        values = [score * (step + 1) / n if rises else score for step in range(n)]
        if gap is not None and index % 2 == 0:
            values[gap] = math.nan
        times = tuple(0.5 * step for step in range(n)) if is_timed else ()
        runs.append(run(index, {metric.name: Series(tuple(range(n)), tuple(values), times)}))
    return experiment(name, runs, [metric])


def _failed(name: str, scores: Scores, statuses: Sequence[Status]) -> Experiment:
    metric = dataclasses.replace(selected(is_primary=True), target=0.75)
    runs = [run(i, {metric.name: Series((0, 1), (it / 2, it), (0.1, 0.2))}) for i, it in enumerate(scores)]
    for status in statuses:
        last = math.nan if status == "diverged" else 0.1
        series = {metric.name: Series((0,), (last,), (0.1,))}
        runs.append(run(len(runs), series, status=status, reason=f"test_acc {status}"))
    return experiment(name, runs, [metric])


def _noisy(name: str, index: int, score: float):  # type: ignore[no-untyped-def]
    return noisy_run(index, (50.0, score), f"{name}{index}")

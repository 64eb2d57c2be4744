import random
import re

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, trained, with_moments

from deviate.model.findings import Findings
from deviate.report.forms.markdown import LIMIT, escape
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

HOSTILE = (
    "a | b || c \\| d",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "&lt;b&gt; &amp;",
    "@everyone #123 https://evil.example www.evil.example",
    "[link](javascript:alert(1)) ![x](y) [^1] [ ] [a]: b",
    "**bold** _it_ `code` ~~no~~ $x$",
    "- item",
    "1. item",
    "---",
    "    indented",
    "\u202ertl \u05d0\u05d1 🚀",
    "\x1b[31mred\x1b[0m \x00\x07 line\n\nbreak \udcff",
    "x" * 4000,
    "",
)


def _markdown(findings: Findings) -> str:
    return render(build_report(findings), "markdown")


def _table(text: str) -> list[list[str]]:
    """The cells of the one table, as GitHub splits them."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def _hostile(text: str) -> Findings:
    metric = selected(text, is_primary=True, unit=text)
    runs = [run(i, {text: single(1.0 + i * i)}, variant=text) for i in range(5)]
    crashed = run(5, {}, status="crashed", reason=text)
    return judge([experiment(f"{text}{name}", [*runs, crashed], [metric], variant=text) for name in "ab"])


GOLDEN = """\
### new against base

**Verdict: better** · new is better than base: test_acc +0.600 points (93.400 → 94.000 %, +0.64 % relative), 95% CI \
0.323 to 0.893, p = 0.002, 6 runs of base and 6 of 7 runs of new (1 crashed)

{reason}. {detectable}

Primary metric: test_acc, higher is better, declared before the runs.

> {paste}

| metric | base | new | difference [95% CI] | p | verdict |
| --- | ---: | ---: | ---: | ---: | --- |
| test_acc (%) | 93.400 ± 0.220 (6) | **94.000 ± 0.210 (6/7)**<sup>1</sup> | +0.600 [0.323 … 0.893] | 0.002 | better |
| loss | 0.5 (6)<sup>2</sup> | 0.5 (6/7)<sup>1,2</sup> | 0<sup>3</sup> | —<sup>3</sup> | identical |

new against base: test_acc, loss (last value of each run). Mean ± SD over n runs (ddof 1; k/N: k of N runs have a \
score); difference (candidate − baseline) with 95% CI (Welch and permutation); p: two-sided, the larger of Welch's \
t-test and studentized permutation test, not adjusted. Bold: better than every other here, by adjusted p.

1. no score from replicate 6: crashed
2. all 6 values equal
3. identical

"""


def test_a_comparison_begins_with_its_verdict_and_the_sentence_to_paste() -> None:
    rng = np.random.default_rng(3)
    metrics = [selected("loss", direction="min"), selected(is_primary=True, unit="%")]
    base, new = (
        [
            run(i, {"test_acc": single(score), "loss": single(0.5)})
            for i, score in enumerate(with_moments(6, mean, sd, rng))
        ]
        for mean, sd in ((93.4, 0.22), (94.0, 0.21))
    )
    crashed = run(6, {}, status="crashed")
    findings = judge([experiment("base", base, metrics), experiment("new", [*new, crashed], metrics)])
    (verdict,) = build_report(findings).verdicts
    figures, _, warnings = _markdown(findings).partition("- Warning: ")
    paste = verdict.paste.replace("<", "&lt;")
    told = {
        "reason": f"{verdict.reason[:1].upper()}{verdict.reason[1:]}".replace("<", "&lt;"),
        "detectable": verdict.detectable,
        "paste": paste,
    }
    assert figures == GOLDEN.format(**told)
    assert "1 of 7" in warnings


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_names_bring_is_text_in_its_own_cell(text: str) -> None:
    plain, markdown = _markdown(_hostile("plain")), _markdown(_hostile(text))
    assert [len(row) for row in _table(markdown)] == [len(row) for row in _table(plain)]
    assert len(markdown.split("\n\n")) == len(plain.split("\n\n"))
    assert set(re.findall(r"<[^>]*>", markdown)) <= {"<sup>", "</sup>"} | set(re.findall(r"<[^>]*>", plain))
    assert not re.search(r"(?<!\\)\]\(|!\[[^\]]*\]\(|[@\x00-\x09\x0b-\x1f\u202e]|\w://|www\.", markdown)
    markdown.encode()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("test_acc", "test_acc"),
        ("_private_ __x__", r"\_private\_ \_\_x\_\_"),
        ("[0.1 … 0.2] (n = 3)", "[0.1 … 0.2] (n = 3)"),
        ("[a](b)", r"[a\](b)"),
        ("1. x", r"1\. x"),
        ("+0.33", "+0.33"),
        ("- x", r"\- x"),
        ("p < .001", "p &lt; .001"),
        ("x\\|y", r"x\\\|y"),
    ],
)
def test_only_what_markdown_would_obey_is_escaped(text: str, written: str) -> None:
    assert escape(text) == written


def test_metrics_stand_by_their_spread_after_the_primary_one() -> None:
    findings = judge([trained("a", n_runs=5, n_metrics=4, n_points=3)])
    names = [row[0].partition(" ")[0] for row in _table(_markdown(findings))[2:]]
    assert names == [it.metric.name for it in findings.experiments[0].descriptions]
    assert names[0] == "acc_0"


def test_several_candidates_have_a_row_each_in_every_metric() -> None:
    sides = [trained(name, n_runs=5, n_metrics=2, n_points=3, seed=i) for i, name in enumerate("abc")]
    rows = _table(_markdown(judge(sides)))
    assert rows[0] == ["metric", "a", "candidate", "difference [95% CI]", "p (adj.: decides)", "verdict"]
    assert [row[0] for row in rows[2:]] == ["acc_0 (%), b", "acc_0 (%), c", "loss_1, b", "loss_1, c"]
    assert all(all(row) for row in rows[2:])


def test_more_metrics_than_one_looks_at_unfold() -> None:
    text = _markdown(judge([trained("a", n_runs=3, n_metrics=30, n_points=2)]))
    seen, _, folded = text.partition("\n\n<details><summary>22 more metrics</summary>\n\n|")
    assert len(_table(seen)) == 2 + 8
    assert len(_table(f"|{folded.partition('</details>')[0]}")) == 2 + 22
    assert text.count("<details>") == text.count("\n\n</details>\n\n") == 1


def test_a_report_too_long_for_a_comment_says_what_it_left_out() -> None:
    rng = random.Random(0)
    metrics = [selected(f"a_metric_with_quite_a_long_name_of_class_{i}", is_primary=i == 0) for i in range(600)]
    runs = [run(r, {it.name: single(rng.random()) for it in metrics}) for r in range(3)]
    text = _markdown(judge([experiment("a", runs, metrics), experiment("b", runs, metrics)]))
    left = re.search(r"Left out here: (\d+) metrics of 600,", text)
    assert left is not None
    assert len([row for row in _table(text) if row[0].startswith("a_metric")]) == 600 - int(left[1]) > 100
    assert 20_000 < len(text) <= LIMIT


def test_whatever_is_long_the_text_is_one_that_a_comment_holds() -> None:
    words = "a warning that goes on and on " * 400
    sides = [
        experiment(name, [run(i, {}, status="crashed", warnings=(f"{i} {words}",)) for i in range(90)]) for name in "ab"
    ]
    text = _markdown(judge(sides))
    assert len(text) <= LIMIT
    assert re.search(r"- \d+ more warnings are on the page\n$", text)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_runs_have_a_reason_where_there_is_no_figure(n: int) -> None:
    values = [1.0, 2.5][:n]
    for findings in (judge([scored("a", values)]), judge([scored("a", values), scored("b", [1.0] * 5)])):
        text = _markdown(findings)
        assert "nan" not in text.lower().split()
        marks = {int(it) for found in re.findall(r"<sup>([\d,]+)</sup>", text) for it in found.split(",")}
        assert marks == {int(it) for it in re.findall(r"^(\d+)\. ", text, re.MULTILINE)}
        assert marks or n == 2


def test_a_metric_of_one_side_alone_says_where_it_is_missing() -> None:
    sides = [trained(name, n_runs=5, n_metrics=n, n_points=3, seed=n) for name, n in (("a", 1), ("b", 2))]
    text = _markdown(judge(sides))
    assert re.search(r"\d. not reported by a", text)
    assert _table(text)[-1][-1] == "not compared"

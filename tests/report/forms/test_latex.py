import dataclasses
import functools
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, trained, with_moments
from flaws import latex_flaw
from papers import compiled_table
from studies import study, usual

from deviate.model.comparisons import Contrast, ManyTable
from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.forms.registry import render
from deviate.report.forms.tex import escape, typeset
from deviate.report.numbers import Pieces, ShownNumber, ends, share
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

HOSTILE = (
    "_ % & # $ { } ~ ^ \\",
    "\\input{/etc/passwd}\\end{table}\\newpage",
    "$x$ % comment",
    "100%",
    "[-1em]",
    "* starred",
    "a | b || c",
    "<script>alert(1)</script>",
    "\"quoted\" 'single' `back` -- --- ,, ?` !` ''",
    "σ² ≤ Δμ ± 3° · Größe, naïve Ünïcödé, ł Ø ß œ ğ ş ı ĳ ﬁ",
    "精度 🚀👩‍🔬 ✓ é e\u0301 \u200f\u05d0\u05d1\u202e",
    "^^M^^5cbye ^^00",
    "\x1b[31mred\x1b[0m \x00\x07 line\nbreak \udcff",
    "x" * 4000,
    "_" * 4000,
    "",
)


def _latex(findings: Findings) -> str:
    return render(build_report(findings), "latex")


def _fails(text: str, folder: Path) -> str:
    """Why it is no LaTeX: by pdflatex where there is one, and always by what any compiler asks for."""
    if flaw := latex_flaw(text):
        return flaw
    return compiled_table(text, folder).error if shutil.which("pdflatex") else ""


def _hostile(text: str) -> Findings:
    metric = dataclasses.replace(selected(text, is_primary=True, unit=text), aggregate="last")
    runs = [run(i, {text: single(1.0 + i * i)}, variant=text) for i in range(5)]
    crashed = run(5, {}, status="crashed", reason=text)
    sides = [experiment(f"{text}{name}", [*runs, crashed], [metric], variant=text) for name in "ab"]
    return judge(sides)


GOLDEN = r"""% For \input in a document that loads booktabs, graphicx;
% in a paper with two columns, with table* for table.
% Without their percent signs, the following lines and the last one make it a document of its own:
% \documentclass{article}
% \usepackage{booktabs,graphicx}
% \begin{document}
\begin{table}
  \centering\emergencystretch=3em\caption{new\_one against base: test\_acc, loss (last value of each run). Mean $\pm$ SD over n runs (ddof 1; k/N: k of N runs have a score); difference (candidate $-$ baseline) with 95\% CI (Welch and permutation); p: two-sided, the larger of Welch's t-test and studentized permutation test, not adjusted. Bold: better than every other here, by adjusted p.}\label{tab:new-one-against-base}\medskip
  \small\setlength{\tabcolsep}{3pt}
  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
  \begin{tabular}{@{}lrrrrl@{}}
    \toprule
    metric & base & new\_one & difference {[}95\% CI{]} & p & verdict \\
    \midrule
    test\_acc (\%) & $93.400 \pm 0.220$ ($6$) & {\bfseries\boldmath $94.000 \pm 0.210$ ($6$/$7$)}\textsuperscript{1} & $+0.600$ [$0.323$, $0.893$] & $0.002$ & better \\
    loss & $0.5$ ($6$)\textsuperscript{2} & $0.5$ ($6$/$7$)\textsuperscript{1,2} & $0$\textsuperscript{3} & ---\textsuperscript{3} & identical \\
    \bottomrule
  \end{tabular}}
  \par\smallskip\begingroup\footnotesize\raggedright
  \textsuperscript{1} no score from replicate 6: crashed\par
  \textsuperscript{2} all 6 values equal\par
  \textsuperscript{3} identical\par
  \endgroup
\end{table}
% \end{document}
"""  # noqa: E501  a caption is one line


def _golden() -> Findings:
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
    return judge([experiment("base", base, metrics), experiment("new_one", [*new, crashed], metrics)])


def test_a_comparison_is_the_table_that_a_paper_takes(tmp_path: Path) -> None:
    text = _latex(_golden())
    assert text == GOLDEN
    assert _fails(text, tmp_path) == ""


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_names_bring_is_text_and_compiles(text: str, tmp_path: Path) -> None:
    assert _fails(_latex(_hostile(text)), tmp_path) == ""


def test_specials_in_one_string_are_escaped_one_by_one() -> None:
    assert escape("_%&#${}") == r"\_\%\&\#\$\{\}"
    assert escape("~^\\") == r"\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert escape("a--b") == "a-{}-b"
    assert escape("é🚀") == r"\'{e}{[}U+1F680{]}"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (
            (ShownNumber(93.41, 2), " ± ", ShownNumber(0.22, 2), " (", ShownNumber(10, 0), ")"),
            r"$93.41 \pm 0.22$ ($10$)",
        ),
        (("[", *ends(-0.1, 0.7, 1), "]"), r"{}[$-0.1$, $0.7$]"),
        (ends(93.1, 93.7, 1), r"$93.1$\,\ldots\,$93.7$"),
        ((ShownNumber(-2.31e-7, 9),), r"$-2.31 \times 10^{-7}$"),
        ((ShownNumber(0.0001, style="p"),), "$< 0.001$"),
        (share(0.0024), r"$0.24$ \%"),
        ((ShownNumber(0.5, 1), " points_per_step"), r"$0.5$ points\_per\_step"),
        (("—",), "---"),
        ((), ""),
    ],
)
def test_numbers_are_set_in_mathematics_and_words_are_escaped(pieces: Pieces, text: str) -> None:
    assert typeset(pieces) == text


def test_metrics_stand_by_what_they_are() -> None:
    names = re.findall(
        r"^    (\w+\\_\d)", _latex(judge([trained("a", n_runs=5, n_metrics=4, n_points=3)])), re.MULTILINE
    )
    assert names == [r"acc\_0", r"acc\_2", r"loss\_1", r"loss\_3"]


def test_many_metrics_break_over_pages(tmp_path: Path) -> None:
    metrics = [selected(f"class_{i}", is_primary=i == 0) for i in range(100)]
    runs = [run(r, {it.name: single(r + i / 7) for i, it in enumerate(metrics)}) for r in range(3)]
    text = _latex(judge([experiment("a", runs, metrics), experiment("b", runs, metrics)]))
    assert text.count(r"\begin{table}") == text.count(r"\toprule") == 3
    assert text.count(r"Continued from Table~\ref{tab:b-against-a}") == 2
    assert _fails(text, tmp_path) == ""


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_runs_have_a_reason_where_there_is_no_figure(n: int, tmp_path: Path) -> None:
    values = [1.0, 2.5][:n]
    for findings in (judge([scored("a", values)]), judge([scored("a", values), scored("b", [1.0] * 5)])):
        text = _latex(findings)
        assert "nan" not in text.lower().replace("dominant", "")
        assert r"---\textsuperscript{" in text or n == 2
        assert _fails(text, tmp_path) == ""


def test_a_noise_study_has_a_row_per_variant(tmp_path: Path) -> None:
    text = _latex(study(*usual()))
    assert re.findall(r"test\\_acc \(\\%\), ([\w+]+) & ", text) == ["algo+impl", "algo", "impl", "control"]
    assert _fails(text, tmp_path) == ""


def _three(*, third_is_told_apart: bool) -> Findings:
    """Two candidates that are better than the baseline; a table of all pairs tells them apart or does not."""
    rng = np.random.default_rng(0)
    means = (93.0, 94.0, 95.0)
    sides = [scored(f"e{i}", with_moments(8, mean, 0.2, rng)) for i, mean in enumerate(means)]
    findings = judge(sides)
    names = tuple(it.experiment.name for it in findings.experiments)
    low, p_value = (0.5, 0.001) if third_is_told_apart else (-0.5, 0.5)
    pairs = (
        Contrast(names[2], names[1], 1.0, Interval(low, 1.5, 0.95, "Welch"), p_value),
        Contrast(names[1], names[0], 1.0, Interval(0.5, 1.5, 0.95, "Welch"), 0.001),
        Contrast(names[2], names[0], 2.0, Interval(1.5, 2.5, 0.95, "Welch"), 0.001),
    )
    no = Unavailable("made up")
    metric = findings.experiments[0].descriptions[0].metric
    return dataclasses.replace(findings, many=(ManyTable(metric, names, (8, 8, 8), no, no, no, no, pairs),))


def test_bold_is_what_is_better_than_every_other_by_adjusted_p(tmp_path: Path) -> None:
    told = _latex(_three(third_is_told_apart=True))
    assert re.findall(r"\\boldmath \$([\d.]+)", told) == ["95.000"]
    assert _fails(told, tmp_path) == ""
    assert r"\boldmath" not in _latex(_three(third_is_told_apart=False))
    assert r"\boldmath" not in _latex(dataclasses.replace(_three(third_is_told_apart=True), many=()))


def test_of_three_that_are_told_apart_the_best_is_bold() -> None:
    rng = np.random.default_rng(0)
    sides = [scored(f"e{i}", with_moments(8, mean, 0.2, rng)) for i, mean in enumerate((93.0, 95.0, 94.0))]
    assert re.findall(r"\\boldmath \$([\d.]+)", _latex(judge(sides))) == ["95.000"]


def test_the_baseline_is_bold_where_every_candidate_is_worse() -> None:
    rng = np.random.default_rng(0)
    sides = [scored(f"e{i}", with_moments(8, mean, 0.2, rng)) for i, mean in enumerate((95.0, 94.0, 93.0))]
    assert re.findall(r"\\boldmath \$([\d.]+)", _latex(judge(sides))) == ["95.000"] * 2


def test_what_an_interval_may_not_be_taken_for_is_a_footnote() -> None:
    findings = judge([dataclasses.replace(scored(name, range(6)), n_unplanned_looks=2) for name in "ab"])
    text = _latex(findings)
    assert "withheld" in text
    assert re.search(r"\\textsuperscript\{1\} .*2 unplanned looks", text)


def _measured(name: str, shift: float, seed: int, *, n: int = 10, n_crashed: int = 0) -> Experiment:
    """Four metrics of very different sizes, as a real script reports them."""
    rng = np.random.default_rng(seed)
    scales = {"test_acc": (93.4, 0.22), "val_loss": (0.314, 0.004), "f1_macro": (0.912, 0.003), "epoch_s": (1312.0, 20)}
    units = {"test_acc": "%", "epoch_s": "s"}
    metrics = [
        selected(it, is_primary=it == "test_acc", unit=units.get(it, ""), direction="min" if "loss" in it else "max")
        for it in scales
    ]
    runs = [
        run(i, {it: single(float(mean + spread * (shift + rng.normal()))) for it, (mean, spread) in scales.items()})
        for i in range(n)
    ]
    return experiment(name, [*runs, *(run(n + i, {}, status="crashed") for i in range(n_crashed))], metrics)


@functools.cache
def _realistic() -> dict[str, Findings]:
    base = _measured("baseline", 0, 0)
    others = [("mixup", 1.5), ("cutmix-alpha-0.4", 0.3), ("randaugment_m9", -1.0), ("augmix", 3.0)]
    candidates = [_measured(name, shift, seed) for seed, (name, shift) in enumerate(others, start=1)]
    return {
        "two": judge([base, _measured("candidate", 2, 1, n=9, n_crashed=1)]),
        "two names": judge(
            [scored("resnet50_baseline_lr_0.1", range(6)), scored("resnet50_candidate_lr_0.2", range(7))]
        ),
        "equivalent": judge([_primary(base, margin=0.5), _primary(_measured("same", 0.1, 1), margin=0.5)]),
        "single": judge([base]),
        "four candidates": judge([base, *candidates]),
        "study": study(*usual()),
        "tasks": judge([base, *candidates[:2]], AnalysisOptions(tasks="test_acc,f1_macro")),
        "many rows": judge(
            [trained("a", n_runs=5, n_metrics=30, n_points=2), trained("b", n_runs=5, n_metrics=30, n_points=2)]
        ),
    }


def _primary(it: Experiment, *, margin: float) -> Experiment:
    first, *others = it.metrics
    return dataclasses.replace(it, metrics=(dataclasses.replace(first, margin=margin), *others))


@pytest.mark.parametrize("has_siunitx", [False, True], ids=["plain", "siunitx"])
@pytest.mark.parametrize("kind", _realistic())
def test_a_table_fits_into_the_text_of_an_article(
    kind: str, *, has_siunitx: bool, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("pdflatex")
    view = build_report(_realistic()[kind])
    paper = compiled_table(render(view, "latex", has_siunitx=has_siunitx), tmp_path)
    assert paper.error == ""
    assert [it for it in paper.overfull_pt if it > 1] == []
    assert not re.search(r"\\|\$|textbf|multicolumn|siunitx", paper.text)
    for label in (it.label for it in view.experiments[:1] if len(view.experiments) > 1):
        assert label.replace("_", "") in paper.text.replace(" ", "").replace("_", "")


@pytest.mark.parametrize("has_siunitx", [False, True], ids=["plain", "siunitx"])
def test_the_paper_shows_means_n_intervals_verdicts_and_what_they_are(
    *, has_siunitx: bool, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("pdflatex")
    text = compiled_table(render(build_report(_golden()), "latex", has_siunitx=has_siunitx), tmp_path).text
    plain = re.sub(r"\s", "", text)
    for number in ("93.400±0.220", "94.000±0.210", "6/7", "+0.600", "[0.323,0.893]", ".002", "better", "identical"):
        assert number in plain
    for words in (
        "Mean ± SD over n runs (ddof 1; k/N",
        "95% CI (Welch and permutation)",
        "p: two-sided, the larger of Welch’s t-test",
        "not adjusted",
    ):
        assert words.replace(" ", "") in plain
    assert "nan" not in text.lower()


def test_numbers_of_siunitx_stand_in_columns_as_wide_as_the_data_needs() -> None:
    text = render(build_report(_realistic()["two"]), "latex", has_siunitx=True)
    assert "S[table-format=4.5(7)," in text
    assert "S[table-format=+" in text
    assert "{candidate} & {difference" in text


def test_two_experiments_of_few_metrics_share_a_row_where_there_is_room() -> None:
    findings = judge([scored("base", [1, 2, 3, 4, 5, 6]), scored("new", [11, 12, 13, 14, 15, 17])])
    text = _latex(findings)
    assert "metric & base & new & difference" in text

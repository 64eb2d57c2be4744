import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, trained, with_moments
from flaws import latex_flaw
from studies import study, usual

from deviate.model import Contrast, Findings, Interval, ManyTable, Unavailable
from deviate.report import build_view, render
from deviate.report.tex import escape, figure
from deviate.stats import judge

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
    return render(build_view(findings), "latex")


def _document(text: str) -> str:
    """The file with the percent signs of its frame taken away."""
    return re.sub(r"^% (?=\\)", "", text, flags=re.MULTILINE)


def _fails(text: str, folder: Path) -> str:
    """Why it is no LaTeX: by pdflatex where there is one, and always by what any compiler asks for."""
    if flaw := latex_flaw(text):
        return flaw
    if shutil.which("pdflatex"):
        (folder / "table.tex").write_text(_document(text), encoding="ascii")
        command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "table.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return "" if done.returncode == 0 else done.stdout.decode(errors="replace")[-2000:]
    return ""


def _hostile(text: str) -> Findings:
    metric = dataclasses.replace(selected(text, is_primary=True, unit=text), aggregate="last")
    runs = [run(i, {text: single(1.0 + i * i)}, variant=text) for i in range(5)]
    crashed = run(5, {}, status="crashed", reason=text)
    sides = [experiment(f"{text}{name}", [*runs, crashed], [metric], variant=text) for name in "ab"]
    return judge(sides)


GOLDEN = r"""% For \input in a document that loads booktabs. Without their percent signs, the
% following lines and the last one make it a document of its own:
% \documentclass{article}
% \usepackage{booktabs}
% \begin{document}
\begin{table}
  \centering
  \caption{new\_one against base: loss, test\_acc (last value of each run). Mean $\pm$ SD over runs (ddof 1), n, or runs with a score out of those that ended, in parentheses; variant algo+impl. Difference to base (candidate $-$ baseline, in points where the metric is in \%) with 95\% CI (Welch). p: two-sided Welch's t-test (primary metric: not adjusted; 1 secondary quality metric: Holm, family of 1). Bold: better than every other here, by adjusted p.}\label{tab:new-one-against-base}
  \begin{tabular}{lrrrrl}
    \toprule
    metric & base & new\_one & difference {[}95\% CI{]} & adjusted p & verdict \\
    \midrule
    loss & $0.5$ ($6$)\textsuperscript{1} & $0.5$ ($6$/$7$)\textsuperscript{1,2} & $0$\textsuperscript{3} & ---\textsuperscript{3} & identical \\
    test\_acc (\%) & $93.400 \pm 0.220$ ($6$) & {\bfseries\boldmath $94.000 \pm 0.210$ ($6$/$7$)}\textsuperscript{2} & $+0.60$ [$0.32$, $0.88$] & $.001$ & better \\
    \bottomrule
  \end{tabular}
  \par\smallskip\begingroup\footnotesize\raggedright
  \textsuperscript{1} all 6 values equal\par
  \textsuperscript{2} no score from replicate 6: crashed\par
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
    ("shown", "written"),
    [
        ("93.41 ± 0.22 (10)", r"$93.41 \pm 0.22$ ($10$)"),
        ("[−0.1 … 0.7]", r"{}[$-0.1$, $0.7$]"),
        ("−2.31e−7", r"$-2.31 \times 10^{-7}$"),
        ("< .001", "$< .001$"),
        ("0.24 %", r"$0.24$ \%"),
        ("—", "---"),
        ("", ""),
    ],
)
def test_figures_are_set_in_mathematics(shown: str, written: str) -> None:
    assert figure(shown) == written


def test_metrics_stand_as_they_were_declared() -> None:
    names = re.findall(
        r"^    (\w+\\_\d)", _latex(judge([trained("a", n_runs=5, n_metrics=4, n_points=3)])), re.MULTILINE
    )
    assert names == [r"acc\_0", r"loss\_1", r"acc\_2", r"loss\_3"]


def test_many_metrics_break_over_pages(tmp_path: Path) -> None:
    metrics = [selected(f"class_{i}", is_primary=i == 0) for i in range(100)]
    runs = [run(r, {it.name: single(r + i / 7) for i, it in enumerate(metrics)}) for r in range(3)]
    text = _latex(judge([experiment("a", runs, metrics), experiment("b", runs, metrics)]))
    assert r"\begin{longtable}" in text
    assert r"% \usepackage{booktabs,longtable}" in text
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
    assert [line.split(" & ")[1] for line in text.splitlines() if line.endswith(r"\\")] == [
        "variant",
        "algo+impl",
        "algo",
        "impl",
        "control",
    ]
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
    assert re.findall(r"\\boldmath \$([\d.]+)", _latex(judge(sides))) == ["95.000"]


def test_what_an_interval_may_not_be_taken_for_is_a_footnote() -> None:
    findings = judge([dataclasses.replace(scored(name, range(6)), n_unplanned_looks=2) for name in "ab"])
    text = _latex(findings)
    assert "withheld" in text
    assert re.search(r"\\textsuperscript\{1\} .*2 unplanned looks", text)

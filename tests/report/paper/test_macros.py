import re
from collections.abc import Callable
from pathlib import Path

import kinds
import numpy as np
import pytest
from experiments import scored, selected, with_moments
from papers import Paper, compiled

from deviate.model.findings import Findings
from deviate.report.forms.registry import render
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge


def _two(n: int = 10) -> Findings:
    rng = np.random.default_rng(3)
    metric = selected(is_primary=True, unit="%", margin=0.2)
    return judge(
        [
            scored("base", with_moments(n, 93.41, 0.22, rng), metric),
            scored("new", with_moments(9, 93.74, 0.21, rng), metric),
        ]
    )


def _bodies(findings: Findings) -> dict[str, str]:
    return {it.name: it.body for it in macros_of(findings, build_report(findings))}


def test_figures_are_those_of_the_table_with_the_same_digits() -> None:
    bodies, table = _bodies(_two()), render(build_report(_two()), "latex")
    assert bodies["deviateNewTestAccMean"] == r"\ensuremath{93.740}"
    assert r"$93.740 \pm 0.210$" in table
    assert bodies["deviateNewTestAccSD"] == r"\ensuremath{0.210}"
    assert bodies["deviateNewTestAccN"] == r"\ensuremath{9}"
    low, high = (
        bodies[f"deviateNewTestAccDifference{end}"].removeprefix(r"\ensuremath{")[:-1] for end in ("Low", "High")
    )
    difference = bodies["deviateNewTestAccDifference"].removeprefix(r"\ensuremath{")[:-1]
    assert f"${difference}$ [${low}$, ${high}$]" in table
    assert bodies["deviateNewTestAccPAdjusted"] == r"\ensuremath{= 0.004}"
    assert bodies["deviateNewTestAccVerdict"] == "better"
    assert bodies["deviateNewTestAccEffectSize"].startswith(r"\ensuremath{1.4")


def test_one_experiment_alone_has_its_name_in_its_commands_too() -> None:
    bodies = _bodies(judge([scored("base", [93.1, 93.4, 93.9])]))
    assert "deviateBaseTestAccMean" in bodies
    assert bodies["deviateBaseAloneSentence"].startswith("test\\_acc was")
    assert not [name for name in bodies if "Difference" in name]


def test_variants_of_a_study_have_the_name_of_the_experiment_before_their_own() -> None:
    bodies = _bodies(kinds.noise_study())
    assert {"deviateTrainAlgoImplTestAccSD", "deviateTrainOneBitTestAccSD", "deviateTrainNoiseSentence"} <= set(bodies)


def test_a_figure_that_there_is_not_is_seen_and_its_reason_stands_beside_it() -> None:
    text = macros_source(macros_of(judge([scored("base", [93.1])]), build_report(judge([scored("base", [93.1])]))))
    assert r"\deviatefigure{\deviateBaseTestAccSD}{--} % 1 run: spread unknown" in text
    assert text.startswith("% ")
    assert r"\input{macros}" in text.partition(r"\providecommand")[0]


def test_each_candidate_has_a_sentence_and_the_tasks_have_one() -> None:
    assert _bodies(_two())["deviateNewSentence"].startswith(r"test\_acc was")
    sentences = [name for name in _bodies(kinds.tasks()) if name.endswith("Sentence")]
    assert sentences == [f"deviate{it}Sentence" for it in ("Adam", "Adamw", "SharpnessAware", "Tasks")]


def _shown(folder: Path, reports: list[Findings], *commands: str) -> Paper:
    """A paper that reads the commands of several reports, and shows some of them."""
    for index, findings in enumerate(reports):
        (folder / f"{index}.tex").write_text(
            macros_source(macros_of(findings, build_report(findings))), encoding="ascii"
        )
    read = "".join(rf"\input{{{index}}}" for index in range(len(reports)))
    text = " ".join(rf"\{it}{{}}" for it in commands)
    (folder / "main.tex").write_text(rf"\documentclass{{article}}{read}\begin{{document}}{text}\end{{document}}")
    return compiled(folder / "main.tex")


def test_a_paper_reads_several_reports(tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    base, new, other = (
        scored(name, scores)
        for name, scores in (("base", [1.5, 2.5, 3.5]), ("new", [2.5, 3.5, 4.5]), ("other", [5.0, 6.0, 7.0]))
    )
    reports = [judge([base]), judge([other]), judge([base, new]), judge([base, other])]
    names = ("deviateBaseTestAccMean", "deviateOtherTestAccMean", "deviateOtherTestAccDifference", "deviateConfidence")
    paper = _shown(tmp_path, reports, *names)
    assert paper.error == ""
    assert paper.text.split()[:4] == ["2.50", "6.00", "+3.50", "95%"]


def test_one_name_for_two_figures_stops_with_what_to_do(tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    reports = [judge([scored("base", scores)]) for scores in ([1.5, 2.5, 3.5], [1.5, 2.5, 4.5])]
    error = _shown(tmp_path, reports).error.replace("\n", "")
    assert r"\deviateBaseAloneSentence is another figure in a file that was read before" in error


@pytest.mark.parametrize("n", [0, 1, 2, 10])
def test_every_command_stands_in_a_sentence_and_in_a_formula(
    n: int, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("pdflatex")
    findings = _two(n) if n > 2 else judge([scored("a", [1.5, 2.5][:n]), scored("b", [1.0] * 5)])
    macros = macros_of(findings, build_report(findings))
    (tmp_path / "macros.tex").write_text(macros_source(macros), encoding="ascii")
    lines = [rf"({it.name}:\{it.name}{{}})" for it in macros]
    formulas = [rf"$x = \{it.name}$" for it in macros if it.body.startswith(r"\ensuremath")]
    document = [r"\documentclass{article}\input{macros}\begin{document}", *lines, *formulas, r"\end{document}"]
    (tmp_path / "all.tex").write_text("\n\n".join(document), encoding="ascii")
    paper = compiled(tmp_path / "all.tex")
    assert paper.error == ""
    if n > 2:
        assert "(deviateNewTestAccMean:93.740)" in re.sub(r"\s", "", paper.text)

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import kinds
import pypdf
import pytest
from experiments import scored
from hostile import KINDS, hostile_findings
from papers import Paper, compiled

from deviate.model.findings import Findings
from deviate.report.files import write_paper
from deviate.report.paper.files import PaperStyle, paper_files
from deviate.report.paper.macros import macros_of
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

REPORTS: dict[str, Callable[[], Findings]] = {
    "single": kinds.single_experiment,
    "two": kinds.two_with_a_verdict,
    "tasks": kinds.tasks,
    "study": kinds.noise_study,
    "looks": kinds.declared_looks,
    "nothing": lambda: judge([scored("base", []), scored("new", [1.0])]),
}


def _written(findings: Findings, folder: Path, style: PaperStyle | None = None) -> Path:
    write_paper(paper_files(findings, build_report(findings), style or PaperStyle()), folder)
    return folder


def _example(folder: Path) -> Paper:
    return compiled(folder / "example.tex", n_times=3)


@pytest.mark.parametrize("kind", REPORTS)
def test_the_example_has_three_pages_at_most_and_compiles_as_it_stands_with_its_references(
    kind: str, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("pdflatex")
    folder = _written(REPORTS[kind](), tmp_path)
    paper = _example(folder)
    assert paper.error == ""
    assert [it for it in paper.overfull_pt if it > 1] == []
    assert "??" not in paper.text
    assert "References" in paper.text
    assert "The deviate authors" in paper.text
    example = (folder / "example.tex").read_text(encoding="ascii")
    for name in ("macros", "table", "references"):
        assert f"{{{name}}}" in example
    assert len(pypdf.PdfReader(folder / "example.pdf").pages) <= 3
    drawn = [f"{{figures/{figure.name}}}" for figure in folder.glob("figures/*.pdf")]
    assert sum(name in example for name in drawn) == min(1, len(drawn))
    assert all(figure.with_suffix(".svg").is_file() for figure in folder.glob("figures/*.pdf"))

    keys = re.findall(r"^@\w+\{(\w+),$", (folder / "references.bib").read_text(encoding="ascii"), re.MULTILINE)
    assert len(set(keys)) == len(keys)
    listed = (folder / "example.bbl").read_text()
    assert all(rf"\bibitem{{{key}}}" in listed for key in keys)
    assert ("demsar2006" in keys) == (kind == "tasks")
    assert ("zhuang2022" in keys) == (kind == "study")
    assert ("wilcoxon1945" in keys) == (kind == "two")


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_text_in_table_commands_and_references(
    kind: str, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("pdflatex")
    findings = hostile_findings(kind)
    report = build_report(findings)
    write_paper(
        itertools.takewhile(lambda it: not it[0].startswith("figures/"), paper_files(findings, report)), tmp_path
    )
    every = "\n\n".join(rf"x\{it.name}{{}}x" for it in macros_of(findings, report))
    lines = (r"\documentclass{article}\usepackage{booktabs,graphicx}\input{macros}\begin{document}", every)
    ends = (r"\input{table}\nocite{*}\bibliographystyle{plain}\bibliography{references}", r"\end{document}")
    (tmp_path / "all.tex").write_text("\n".join((*lines, *ends)), encoding="ascii")
    paper = compiled(tmp_path / "all.tex", n_times=2)
    assert paper.error == ""
    assert "root:x:0" not in paper.text
    assert "uid=" not in paper.text


@pytest.mark.slow
def test_a_hostile_comparison_has_an_example_that_compiles(tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    assert _example(_written(hostile_findings("pair"), tmp_path)).error == ""


def test_figures_are_as_wide_as_the_column_of_the_paper(tmp_path: Path) -> None:
    folder = _written(kinds.two_with_a_verdict(), tmp_path, PaperStyle(column_width_in=5.5))
    widths = {round(float(pypdf.PdfReader(it).pages[0].mediabox.width)) for it in folder.glob("figures/*.pdf")}
    assert widths == {round(5.5 * 72)}


def test_siunitx_stands_in_the_example_where_the_table_needs_it(tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    folder = _written(kinds.two_with_a_verdict(), tmp_path, PaperStyle(has_siunitx=True))
    assert "siunitx" in (folder / "example.tex").read_text()
    assert "S[table-format" in (folder / "table.tex").read_text()
    assert _example(folder).error == ""


def test_files_of_others_in_the_folder_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text("mine")
    (tmp_path / "table.tex").write_text("an older table")
    _written(kinds.single_experiment(), tmp_path)
    assert (tmp_path / "main.tex").read_text() == "mine"
    assert r"\toprule" in (tmp_path / "table.tex").read_text()


def test_a_report_gives_the_same_bytes_again(tmp_path: Path) -> None:
    judged = (kinds.two_undecided.__wrapped__() for _ in range(2))
    first, second = (dict(paper_files(findings, build_report(findings))) for findings in judged)
    assert first == second

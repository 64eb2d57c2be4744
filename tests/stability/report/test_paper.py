"""Stability in a paper: tables and figures."""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from experiments import scored
from hostile import NASTY
from papers import compiled, compiled_table
from stabilities import everything, one_set, stability, with_stability

from deviate.model.estimates import Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import StabilityFindings
from deviate.report.figures.pictures import pictures
from deviate.report.files import write_paper
from deviate.report.paper.files import further_tables, paper_files
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge


def _tables(findings: Findings) -> dict[str, str]:
    return further_tables(build_report(findings))


def _hostile() -> Findings:
    """Names of experiments, sets, groups and layers that a report is to show and not to obey."""
    plain = everything(5)
    texts = list(NASTY.values())
    names = iter([*texts, *texts])
    sides = [dataclasses.replace(it.experiment, name=next(names)) for it in plain.experiments]
    found = stability(sides, (NASTY["TeX"], NASTY["lines"]), columns=texts[:6])
    layers = tuple(dataclasses.replace(it, name=next(names)) for it in found.weights[0].layers)
    return with_stability(
        sides, dataclasses.replace(found, weights=(dataclasses.replace(found.weights[0], layers=layers),))
    )


def test_without_captures_there_are_no_further_tables() -> None:
    assert _tables(judge([scored("a", [1.0, 2.0])])) == {}


def test_many_experiments_have_a_column_each() -> None:
    sides = [dataclasses.replace(everything().experiments[0].experiment, name=f"width {i}") for i in range(5)]
    sets = tuple(one_set(i, "test", 8) for i in range(5))
    table = _tables(with_stability(sides, StabilityFindings(sets=sets)))["stability.tex"]
    assert "& width 0 & width 1 & width 2 & width 3 & width 4" in table
    assert re.search(
        r"churn \(\\%\) (& \$[\d.]+\$ \[\$[\d.]+\$, \$[\d.]+\$\] ){4}& \$8.86\$ \[\$8.31\$, \$9.40\$\]", table
    )


def test_sub_groups_have_sd_and_ratio_as_in_the_published_table() -> None:
    table = _tables(everything())["groups.tex"]
    assert (
        r"\quad sex = 1 & $4200$ & $42$ \% & $85$ & $0.230$ ($4.60$) & $0.060$ ($0.75$) & $2.30$ ($4.60$) \\" in table
    )
    assert r"---\textsuperscript{1}" in table
    assert "no example of this group is positive" in table


def test_more_than_two_classes_have_accuracy_alone() -> None:
    found, why = everything(), Unavailable("needs two classes")
    it = found.stability.sets[0]
    groups = tuple(
        dataclasses.replace(one, n_positive=None, false_positive_rate=why, false_negative_rate=why) for one in it.groups
    )
    bare = StabilityFindings(sets=(dataclasses.replace(it, groups=groups),))
    table = _tables(dataclasses.replace(found, stability=bare))["groups.tex"]
    assert r"sub-group & N & \% & positive & accuracy \\" in table
    assert r"\quad sex = 1 & $4200$ & $42$ \% & not two classes & $0.230$ ($4.60$) \\" in table
    assert "false positive" not in table


def test_too_few_runs_have_figures_with_a_footnote_instead_of_an_interval() -> None:
    table = _tables(everything(3))["stability.tex"]
    assert r"\quad churn (\%) & $8.2$\textsuperscript{1} & $8.4$\textsuperscript{1} \\" in table
    assert "no interval: takes 5 runs" in table


@pytest.mark.parametrize("n_runs", [3, 8])
def test_tables_compile_alone_within_their_lines(n_runs: int, tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    for name, table in _tables(everything(n_runs)).items():
        paper = compiled_table(table, tmp_path, name.removesuffix(".tex"))
        assert paper.error == ""
        assert [it for it in paper.overfull_pt if it > 1] == [], name


def test_hostile_names_are_text(tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    for name, table in _tables(_hostile()).items():
        paper = compiled_table(table, tmp_path, name.removesuffix(".tex"))
        assert paper.error == "", name


def test_the_example_reads_the_further_tables(tmp_path: Path, require: Callable[[str], None]) -> None:
    require("pdflatex")
    write_paper(paper_files(everything(5), build_report(everything(5))), tmp_path)
    example = (tmp_path / "example.tex").read_text(encoding="ascii")
    assert r"\input{stability}" in example
    assert r"\input{groups}" in example
    paper = compiled(tmp_path / "example.tex", n_times=3)
    assert paper.error == ""
    assert "??" not in paper.text


def test_figures_are_files_named_after_what_they_show() -> None:
    names = [it.name for it in pictures(build_report(everything()))]
    assert "steps-test" in names
    assert len(names) == len(set(names))

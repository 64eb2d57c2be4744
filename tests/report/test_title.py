"""Documents call a metric by its title; data, and the commands of LaTeX, keep its name."""

import dataclasses

import pytest
from experiments import trained

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.data.tables import table_files
from deviate.report.forms.registry import render
from deviate.report.paper.checklist import checklist_source
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

TITLES = {"acc_0": "Top-1 accuracy", "loss_1": "Cross-entropy"}


def _two() -> Findings:
    return judge([_titled("small", 0.0), _titled("wide", 1.5)])


def _titled(name: str, shift: float) -> Experiment:
    made = trained(name, n_runs=8, n_metrics=2, n_points=20, shift=shift, seed=int(shift))
    metrics = tuple(dataclasses.replace(metric, title=TITLES[metric.name]) for metric in made.metrics)
    return dataclasses.replace(made, metrics=metrics)


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex"])
def test_tables_and_sentences_have_titles_alone(form: str) -> None:
    report = build_report(_two())
    text = render(report, form, width=300).replace(r"\_", "_").replace(r"\allowbreak{}", "")
    assert all(title in text for title in TITLES.values())
    assert [name for name in TITLES if name in text] == []
    assert report.paste[0].startswith("Top-1 accuracy was")


def test_figures_and_the_page_have_titles_and_its_data_have_names() -> None:
    findings = _two()
    report = build_report(findings)
    assert [figure.plot.title for figure in (report.metrics[0].estimation, report.metrics[1].curve)] == list(
        TITLES.values()
    )
    page, _, data = render(report, "html", is_full=True).partition('<script type="application/json"')
    assert "Top-1 accuracy (%)" in page
    assert [name for name in TITLES if name in page] == []
    assert '"metric":"acc_0"' in data.replace(": ", ":")
    assert "Top-1 accuracy" in checklist_source(findings, report)


def test_data_and_commands_keep_names() -> None:
    findings = _two()
    report = build_report(findings)
    data = [render(report, "json"), *("".join(file.chunks()) for file in table_files(findings))]
    assert [text for text in data if "acc_0" not in text or "Top-1" in text] == []
    assert r"\deviateWideAccZeroMean" in macros_source(macros_of(findings, report))


def test_where_one_side_alone_has_a_title_both_are_called_by_it() -> None:
    before = trained("small", n_runs=8, n_metrics=2, n_points=20)
    assert (
        build_report(judge([before, _titled("wide", 1.5)]))
        .verdicts[0]
        .statement.startswith("wide is better than small: Top-1 accuracy")
    )

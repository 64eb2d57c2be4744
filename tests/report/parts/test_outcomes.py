"""Outcomes in a report: completion, failed runs ranked worst, times to a target, curves."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest
from experiments import experiment, run, selected
from markupsafe import Markup

from deviate.model.analysis import LoopCounter
from deviate.model.estimates import Unavailable
from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Series, Status
from deviate.report.document import DocumentTable, Fold, Items, ReportFigure, Section
from deviate.report.figures.write import page_figure
from deviate.report.forms.html import template
from deviate.report.parts.outcomes import outcome_brief, outcome_section
from deviate.report.plots import DifferencePlot, Plot, SurvivalPlot
from deviate.stats.hypothesis.curves import compare_curves
from deviate.stats.hypothesis.failures import compare_completion, completion, worst_rank
from deviate.stats.hypothesis.survival import attainment, compare_attainment
from deviate.stats.judge import judge

LABELS = ["base", "new"]
Shown = TypeVar("Shown", DocumentTable, ReportFigure, Items)


def trained(name: str, n_runs: int, *, rate: float, failed: dict[int, Status], shift: float = 0.0) -> Experiment:
    """Rising accuracies, each run at its own pace; runs in `failed` stop half way."""
    rng = np.random.default_rng(len(name) + n_runs)
    metric = replace(selected(unit="%", is_primary=True), target=90.0)
    runs = []
    for replicate in range(n_runs):
        steps = np.arange(10 if replicate in failed else 20)
        curve = (
            95 + shift - 40 * np.exp(-rate * (1 + 0.1 * rng.random()) * steps) + 0.2 * rng.standard_normal(len(steps))
        )
        series = Series(tuple(steps.tolist()), tuple(curve.tolist()), tuple((0.5 * steps).tolist()))
        runs.append(run(replicate, {metric.name: series}, status=failed.get(replicate, "completed")))
    return experiment(name, runs, [metric])


def judged(baseline: Experiment, candidate: Experiment) -> Findings:
    """Findings with every outcome in them, whatever of it `judge` computes by itself."""
    rng = np.random.default_rng(0)
    findings = judge([baseline, candidate])
    metrics: list[SelectedMetric] = [it.descriptions[0].metric for it in findings.experiments]
    both = [
        replace(
            it,
            completion=completion(it.experiment),
            descriptions=(replace(it.descriptions[0], attainment=attainment(it.experiment, metric)),),
        )
        for it, metric in zip(findings.experiments, metrics, strict=True)
    ]
    before, after = (it.descriptions[0] for it in both)
    comparison = replace(
        findings.pairs[0].comparisons[0],
        baseline=before,
        candidate=after,
        worst_rank=worst_rank(before, after),
        curve=compare_curves(baseline, candidate, *metrics, rng=rng),
        attainment=compare_attainment(before.attainment, after.attainment),
    )
    pair = replace(
        findings.pairs[0],
        comparisons=(comparison,),
        headline=comparison,
        completion=compare_completion(both[0].completion, both[1].completion),  # type: ignore[arg-type]
    )
    return replace(findings, experiments=tuple(both), pairs=(pair,))


@pytest.fixture(scope="module")
def findings() -> Findings:
    return judged(
        trained("base", 10, rate=0.2, failed={}),
        trained("new", 10, rate=0.4, failed={7: "diverged", 8: "timed_out"}),
    )


@pytest.fixture(scope="module")
def view(findings: Findings) -> Section:
    return outcome_section(findings, LABELS)


def shown(section: Section, kind: type[Shown]) -> list[Shown]:
    """Its tables or figures, those that are folded away after the others."""
    folded = [block for fold in section.of(Fold) for block in fold.blocks]
    return [block for block in (*section.blocks, *folded) if isinstance(block, kind)]


def footnotes(section: Section) -> list[str]:
    return [text for items in shown(section, Items) if items.kind == "footnotes" for text in items.sentences]


def texts(section: Section, caption: str) -> dict[str, list[str]]:
    """Of the table whose caption begins so."""
    (table,) = [table for table in shown(section, DocumentTable) if table.caption.startswith(caption)]
    assert all(len(row.cells) == len(table.columns) - 1 for row in table.rows)
    return {row.label: [cell.text for cell in row.cells] for row in table.rows}


def targets(section: Section) -> dict[str, list[str]]:
    (table,) = [table for table in shown(section, DocumentTable) if table.caption == "Time to the target"]
    return {row.label: [cell.text for cell in row.cells] for row in table.rows}


def plots(section: Section, kind: type) -> list[Plot]:
    return [figure.plot for figure in shown(section, ReportFigure) if isinstance(figure.plot, kind)]


def test_completion_has_a_row_per_experiment_and_a_test_per_candidate(view: Section) -> None:
    rows = texts(view, "Completed runs")
    assert rows["base"] == ["10/10", "100 %", "69 % … 100 %", "10 completed", "—", "—"]
    ended = "8 completed, 1 diverged, 1 timed out"
    assert rows["new"] == ["8/10", "80 %", "44 % … 97 %", ended, "−20 points", "p = 0.263 (exact)"]


def test_failed_runs_rank_worst_in_a_row_of_the_metric(view: Section) -> None:
    (cells,) = texts(view, "Failed runs").values()
    assert cells[0] == "10 + 10"
    assert re.match(r"U = \d+, p = 0\.\d{3} \(", cells[1])


def test_targets_have_a_median_step_and_time_and_a_log_rank_test(view: Section) -> None:
    rows = targets(view)
    assert list(rows) == ["test_acc ≥ 90 %, base", "test_acc ≥ 90 %, new"]
    reached, step, interval, seconds, _, *no_tests = rows["test_acc ≥ 90 %, base"]
    assert reached == "10/10"
    assert re.fullmatch(r"\d+(\.5)?", step)
    assert re.fullmatch(r"\d+(\.5)? … (\d+(\.5)?|not reached)", interval)
    assert seconds.endswith(" s")
    assert no_tests == ["—", "—"]
    *_, log_rank, in_seconds = rows["test_acc ≥ 90 %, new"]
    assert log_rank.startswith("Z = ")
    assert log_rank.endswith("(exact permutation)")
    assert in_seconds.startswith("Z = ")


def test_curves_say_where_they_part_and_what_was_compared(view: Section) -> None:
    (cells,) = texts(view, "Curves").values()
    assert re.fullmatch(r"step \d+", cells[0])
    assert cells[1].startswith("+")
    assert cells[1].endswith(" points")
    assert cells[2].startswith("95%: ")
    assert cells[3].startswith("t(")
    assert cells[4].startswith("20 compared, n = 10 + 8; simultaneous over 20 steps")


def test_where_curves_part_is_counted_as_the_scripts_count(findings: Findings) -> None:
    epochs = LoopCounter("epoch", 1, 1)
    sides = [replace(it, experiment=replace(it.experiment, counter=epochs)) for it in findings.experiments]
    by_epoch = replace(findings, experiments=tuple(sides))
    (step,), (epoch,) = (texts(outcome_section(it, LABELS), "Curves").values() for it in (findings, by_epoch))
    number = int(step[0].removeprefix("step ")) + 1
    assert epoch[0] == f"epoch {number}"
    svg = page_figure(plots(outcome_section(by_epoch, LABELS), DifferencePlot)[0])
    assert f"first differ at epoch {number}" in svg
    assert "main-loop step" not in svg


def test_a_terminal_gets_the_tables_of_failures_and_targets(findings: Findings) -> None:
    heads = [section.tables[0].columns[0] for section in outcome_brief(findings, LABELS)]
    assert heads == ["Completed runs", "Failed runs ranked worst", "Time to the target"]


def test_no_number_is_missing_from_any_cell(view: Section) -> None:
    tables = shown(view, DocumentTable)
    assert len(tables) == 4
    cells = [cell.text for table in tables for row in table.rows for cell in row.cells]
    assert not any(re.search(r"nan|NaN|inf\b|None", cell) for cell in cells)


def test_figures_are_well_formed_say_n_and_are_the_same_each_time(view: Section) -> None:
    (survival,), (difference,) = plots(view, SurvivalPlot), plots(view, DifferencePlot)
    for plot in (survival, difference):
        text = page_figure(plot)
        assert text == page_figure(plot)
        assert ET.fromstring(text).tag.endswith("svg")
    assert "(n = 10, 10 reached)" in page_figure(survival)
    assert isinstance(difference, DifferencePlot)
    assert difference.first is not None


def test_the_template_shows_every_table_and_figure(view: Section) -> None:
    figures = {figure.plot.key: Markup(page_figure(figure.plot)) for figure in shown(view, ReportFigure)}
    page = f"<main>{template('macros.html.j2').module.blocks(view.blocks, figures)}</main>"  # type: ignore[attr-defined]
    assert page.count("<table ") == page.count("<caption>") == 4
    assert page.count("<svg") == 2
    assert all(line in page for line in footnotes(view))
    ET.fromstring(page)


def test_where_every_run_completed_and_nothing_else_is_to_tell_its_reason_stands_there() -> None:
    flat = [run(i, {"test_acc": Series((0,), (1.0 + i,))}) for i in range(5)]
    whole = experiment("base", flat, [selected(is_primary=True)])
    found = judged(whole, replace(whole, name="new"))
    section = outcome_section(found, LABELS)
    (why,) = section.reasons
    assert why.startswith("All runs completed; no metric has a target. Curves are")


def test_the_first_bands_are_drawn_and_the_rest_counted(findings: Findings) -> None:
    (pair,) = findings.pairs
    many = replace(findings, pairs=(replace(pair, comparisons=pair.comparisons * 9),))
    made = outcome_section(many, LABELS)
    differences = plots(made, DifferencePlot)
    assert len({plot.key for plot in differences}) == len(differences) == 6
    assert len(shown(made, DocumentTable)[-1].rows) == 9
    assert footnotes(made)[-1] == "3 more bands not drawn; --json has them all."


def test_a_single_experiment_with_failures_has_its_rate_alone(findings: Findings) -> None:
    alone = replace(findings, experiments=findings.experiments[1:], pairs=())
    made = outcome_section(alone, ["new"])
    assert [table.caption for table in shown(made, DocumentTable)] == ["Completed runs", "Time to the target"]
    assert len(plots(made, SurvivalPlot)) == 1


def test_few_runs_have_reasons_in_place_of_figures() -> None:
    found = judged(trained("base", 3, rate=0.2, failed={}), trained("new", 3, rate=0.01, failed={0: "crashed"}))
    made = outcome_section(found, LABELS)
    assert plots(made, DifferencePlot) == []
    never = targets(made)["test_acc ≥ 90 %, new"]
    assert never[:3] == ["0/3", "too few of the runs reached it", "needs 5 runs, has 3"]
    assert texts(made, "Curves")["test_acc, new"][0] == "no band: needs 5 runs in each, has 3 and 2"
    assert isinstance(found.pairs[0].comparisons[0].worst_rank, Unavailable)
    assert not any(table.caption == "Failed runs ranked worst" for table in shown(made, DocumentTable))
    note = "test_acc ≥ 90 %, new: 1 failed run counted as not reached when last observed (replicate 0)."
    assert note in footnotes(made)
    ET.fromstring(page_figure(shown(made, ReportFigure)[0].plot))

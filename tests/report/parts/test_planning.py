"""What the planning part of a report says, and that its numbers are those of the verdict."""

import dataclasses
import re
from collections.abc import Sequence

import numpy as np
import pytest
from experiments import scored, selected, with_moments
from studies import study, usual

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.document import DocumentTable, Fold, Section
from deviate.report.figures.write import page_figure
from deviate.report.parts.build import build_report
from deviate.report.parts.planning import planning_section
from deviate.report.plots import PlanningPlot
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

RNG = np.random.default_rng(5)
METRIC = selected(is_primary=True, unit="%", margin=0.2)
BASE = scored("base", with_moments(10, 93.41, 0.22, RNG), METRIC)
NEW = scored("new", with_moments(9, 93.74, 0.21, RNG), METRIC)
PLAIN = selected(is_primary=True, unit="%")


def part_of(findings: Findings) -> Section:
    (part,) = planning_section(findings, [it.experiment.name for it in findings.experiments]).parts
    return part


def plot_of(part: Section) -> PlanningPlot:
    (figure,) = part.figures
    assert isinstance(figure.plot, PlanningPlot)
    return figure.plot


def texts(experiments: Sequence[Experiment], *, is_paired: bool = False) -> str:
    part = part_of(judge(experiments, AnalysisOptions(is_paired=is_paired)))
    return " ".join(part.of(str)) or part.reasons[0]


def test_it_says_what_these_runs_could_see_as_the_verdict_does() -> None:
    findings = judge([BASE, NEW])
    told = re.search(r"difference of (\S+ points)", build_report(findings).verdicts[0].detectable)
    assert told is not None
    assert f"These 10 + 9 runs can detect a true difference of {told[1]} (80% power)" in part_of(findings).of(str)[0]


def test_it_says_how_many_runs_the_margin_takes() -> None:
    told = texts([BASE, NEW])
    assert "as large as the margin of 0.2 points takes 20 runs of each (12 … 42 for the ends of" in told
    assert "To show equivalence within it, if there is no difference, takes 21 runs of each." in told


def test_it_says_what_twice_as_many_runs_buy() -> None:
    told = texts([scored("base", [1.0, 2.0, 4.0, 5.0, 7.0], PLAIN), scored("new", [1.0, 2.5, 4.0, 5.0, 7.0], PLAIN)])
    assert re.search(r"Twice as many, 10 runs of each, would detect \S+ points, 0\.6[2-6] times as much", told)


def test_one_experiment_is_told_of_two_methods_of_its_spread() -> None:
    assert "With 10 runs of each, two methods that both spread as base does" in texts([BASE])


def test_pairs_are_called_pairs() -> None:
    told = texts([BASE, NEW], is_paired=True)
    assert "These 9 pairs can detect" in told
    assert "runs of each" not in told


@pytest.mark.parametrize(("scores", "why"), [([93.0], "needs 2 runs, has 1"), ([93.0] * 4, "all 4 values equal")])
def test_without_spread_the_reason_stands_in_place(scores: list[float], why: str) -> None:
    part = part_of(judge([scored("base", scores, METRIC)]))
    assert part.reasons[0] == f"The detectable differences are unknown: {why}."
    assert part.figures == ()


def test_without_a_primary_metric_the_whole_part_has_a_reason() -> None:
    findings = judge([scored("base", [1.0, 2.0, 3.0], selected("lr", direction=None, role="other"))])
    view = planning_section(findings, ["base"])
    assert view.parts == ()
    assert "name one with --metric" in view.reasons[0]


def test_the_fourth_candidate_and_further_ones_are_folded() -> None:
    others = [scored(f"new{i}", with_moments(6, 93.0, 0.3, RNG), METRIC) for i in range(5)]
    findings = judge([BASE, *others])
    view = planning_section(findings, ["base", *(it.name for it in others)])
    assert [part.is_folded for part in view.parts] == [False, False, False, True, True]
    assert any("5 candidates share the error" in note for note in view.footnotes)


def test_declared_looks_are_said_to_take_more() -> None:
    looking = [dataclasses.replace(it, looks=(9, 20)) for it in (BASE, NEW)]
    findings = judge(looking)
    assert any("declared looks" in note for note in planning_section(findings, ["base", "new"]).footnotes)


def test_the_figure_tells_every_number_that_it_draws() -> None:
    plot = plot_of(part_of(judge([BASE, NEW])))
    drawn = page_figure(plot)
    assert drawn == page_figure(plot)
    assert "recorded: 10 + 9 runs" in drawn
    assert "margin 0.2 points" in drawn
    for n, _ in plot.points:
        assert f"{n} runs of each: " in plot.description


def test_a_number_in_the_thousands_is_in_the_table_but_does_not_squeeze_the_figure() -> None:
    narrow = selected(is_primary=True, unit="%", margin=0.02)
    part = part_of(judge([scored("base", with_moments(10, 93.4, 0.3, RNG), narrow), NEW]))
    assert max(n for n, _ in plot_of(part).points) <= 50
    (table,) = part.of(Fold)[0].blocks
    assert isinstance(table, DocumentTable)
    assert max(int(row.label) for row in table.rows) > 1000


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_figure_holds_on_any_scale(scale: float) -> None:
    metric = selected(is_primary=True, unit="")
    plot = plot_of(part_of(judge([scored("base", [scale * it for it in (1.0, 1.5, 3.0, 2.0, 2.5)], metric)])))
    assert "<svg" in page_figure(plot)


def test_the_colour_is_that_of_the_experiment_that_is_planned_by() -> None:
    other = scored("other", [1.0, 2.0, 3.0], selected("another", is_primary=False, direction="max"))
    section = planning_section(judge([BASE, other, NEW]), ["base", "other", "new"])
    assert plot_of(section.parts[0]).index == 2
    assert plot_of(part_of(study(*reversed(usual())))).index == 3

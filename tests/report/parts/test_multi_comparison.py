import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.report.document import Absent, Quote, Section
from deviate.report.figures.write import page_figure
from deviate.report.forms.html import template
from deviate.report.parts.multi_comparison import many_blocks, many_lines
from deviate.report.parts.tasks import task_lines, task_section
from deviate.report.plots import ProfilePlot, RankPlot
from deviate.stats.judge import judge
from deviate.stats.multiple.many import compare_many
from deviate.stats.multiple.tasks import compare_tasks

UNITS = {"acc": ("%", 90.0), "loss": ("", 2.0), "f1": ("", 0.5)}


def _several(n_experiments: int, n: int = 6, names: Sequence[str] = ()) -> list[Experiment]:
    """Experiments on three tasks, each better than the one before."""
    found = []
    for side in range(n_experiments):
        draws = np.random.default_rng(side)
        metrics = [
            selected(name, unit=unit, direction="min" if name == "loss" else "max", is_primary=name == "acc")
            for name, (unit, _) in UNITS.items()
        ]
        runs = [
            run(
                i,
                {
                    name: single(
                        float(level * (1 + (-1 if name == "loss" else 1) * 0.01 * side + draws.normal(0, 0.005)))
                    )
                    for name, (_, level) in UNITS.items()
                },
            )
            for i in range(n)
        ]
        found.append(experiment(names[side] if names else f"e{side}", runs, metrics))
    return found


def _findings(experiments: Sequence[Experiment], tasks: Sequence[str] = tuple(UNITS)) -> Findings:
    judged, names = judge(experiments), [it.name for it in experiments]
    many = compare_many(judged.experiments, names, matches={}, confidence=0.95, rng=np.random.default_rng(0))
    over = compare_tasks(
        judged.experiments, names, tasks, confidence=0.95, rng=np.random.default_rng(0), n_resamples=500
    )
    return dataclasses.replace(judged, many=many, tasks=over)


def _many(*experiments: Experiment) -> Section:
    view = many_blocks(_findings(experiments))[0]
    assert isinstance(view, Section)
    return view


def _tasks(*experiments: Experiment, tasks: Sequence[str] = tuple(UNITS)) -> Section:
    view = task_section(_findings(experiments, tasks), [it.name for it in experiments])
    assert view is not None
    return view


def _plots(*experiments: Experiment) -> tuple[RankPlot, ProfilePlot]:
    ranks, profile = (figure.plot for figure in _tasks(*experiments).figures)
    assert isinstance(ranks, RankPlot)
    assert isinstance(profile, ProfilePlot)
    return ranks, profile


def _page(view: Section, tasks: Section) -> str:
    figures = {"task-ranks": "", "task-profiles": ""}
    page: str = template("macros.html.j2").module.blocks((view, *tasks.blocks), figures)  # type: ignore[attr-defined]
    return page


def test_the_lines_name_each_candidate_with_difference_interval_and_p() -> None:
    experiments = (
        scored("base", [93.1, 93.4, 92.8, 93.6, 93.0, 93.3]),
        scored("a", [93.9, 94.1, 93.5, 94.4, 93.8]),
        scored("b", [93.2, 93.9, 92.6, 94.0, 93.3, 92.9, 93.8]),
    )
    findings = dataclasses.replace(_findings(experiments), primary="test_acc")
    ((first, second),) = many_lines(findings, [it.name for it in experiments])
    (quote,) = _many(*experiments).of(Quote)
    assert first.startswith("test_acc over 3 experiments: Welch F(2, ")
    pattern = r"[+−]\d\.\d\d points \[[−\d.]+ … [−\d.]+\], p = 0\.\d{3}"
    assert re.fullmatch(rf"Dunnett against base: a {pattern}; b {pattern}", second)
    assert quote.sentence.startswith("test_acc over 3 experiments (n: base 6, a 5, b 7): Welch F(2, ")
    assert "95% simultaneous CI, equal variances assumed" in quote.sentence


def test_the_matrix_has_each_pair_once_below_the_diagonal() -> None:
    view = _many(*_several(4))
    (matrix,) = [table for table in view.tables if table.kind == "matrix"]
    assert matrix.columns == ("", "e0", "e1", "e2")
    assert [row.label for row in matrix.rows] == ["e1", "e2", "e3"]
    assert [[bool(cell.text) for cell in row.cells] for row in matrix.rows] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    assert "Holm over 6 pairs" in matrix.caption


def test_too_few_runs_have_reasons_in_place_of_numbers() -> None:
    view = _many(*_several(3, n=1))
    assert view.reasons[0] == "Not compared with e0: needs 5 runs in each, has 1 and 1."
    assert [table.kind for table in view.tables] == ["matrix"]
    assert all(isinstance(fact.cell, Absent) for fact in view.facts)
    assert "nan" not in f"{view}".lower()


def test_tasks_are_told_with_their_interval_and_how_they_were_made_comparable() -> None:
    view = _tasks(*_several(3))
    tasks = _findings(_several(3)).tasks
    assert tasks is not None
    lines = task_lines(tasks, "95%")
    assert lines[0].startswith("IQM over 3 tasks, each scaled to 0 … 1 [95% CI, stratified bootstrap over runs]: e0 0.")
    assert lines[1].startswith("mean rank e0 3.00, e1 2.00, e2 1.00, critical difference 1.91; Friedman chi-square(2)")
    facts = {fact.label: fact.cell.text for fact in view.facts}
    assert facts["Runs per task"] == "e0 6; e1 6; e2 6"
    assert "lower is better in loss" in facts["Normalisation"]
    table = view.tables[0]
    assert len(table.rows) == 3
    assert all(len(row.cells) == len(table.columns) - 1 for row in table.rows)


def test_one_task_alone_has_a_reason_and_no_figures() -> None:
    view = _tasks(*_several(3), tasks=["acc"])
    assert "needs 2 tasks" in view.reasons[0]
    assert view.figures == ()
    assert not any(table.kind == "grid" for table in view.tables)
    assert "needs 2 tasks" in _page(_many(*_several(3)), view)


def test_without_named_tasks_there_is_no_part_on_tasks() -> None:
    assert task_section(judge(_several(3)), ["a", "b", "c"]) is None
    assert judge(_several(2)).many == ()


def test_names_that_would_be_markup_or_codes_are_harmless() -> None:
    several = _several(3, names=["<b>&", "\x1b[31mred", "x\ny"])
    many, tasks = _many(*several), _tasks(*several)
    page = _page(many, tasks)
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;" in page
    assert "\x1b" not in f"{many.of(Quote)}{tasks.of(Quote)}{page}"
    ET.fromstring(page_figure(tasks.figures[0].plot))


def test_figures_are_well_formed_named_and_in_the_ink_of_the_page() -> None:
    ranks, profile = _plots(*_several(3))
    for svg in (page_figure(ranks), page_figure(profile)):
        root = ET.fromstring(svg)
        assert root.get("role") == "img"
        named = {element.get("id"): element for element in root.iter() if element.get("id")}
        for key in (root.get("aria-labelledby") or "").split():
            assert named[key].text
        assert "currentColor" in svg
        assert "#000000" not in svg
    assert ranks.key != profile.key


def test_figures_are_the_same_each_time() -> None:
    ranks, profile = _plots(*_several(3))
    assert page_figure(ranks) == page_figure(ranks)
    assert page_figure(profile) == page_figure(profile)


@pytest.mark.parametrize("n_experiments", [3, 7, 13])
def test_each_experiment_stands_in_both_figures_with_its_rank_and_its_n(n_experiments: int) -> None:
    ranks, profile = _plots(*_several(n_experiments))
    text = "".join(ET.fromstring(page_figure(ranks)).itertext())
    for group in ranks.groups:
        assert re.search(rf"\b{group.label}\W+{re.escape(group.note)}\b", text)
    assert "n = 3 tasks" in text
    shown = "".join(ET.fromstring(page_figure(profile)).itertext())
    for index in range(n_experiments):
        assert re.search(rf"\be{index}\W+n = 18 scores", shown)


def test_lines_of_ranks_overlap_where_experiments_are_not_told_apart() -> None:
    ranks, _ = _plots(*_several(3))
    first, second, third = ranks.groups
    assert None not in {first.high, second.low, third.low}
    assert (second.low or 0) < (first.high or 0) < (third.low or 0)
    assert "Not distinguished: e2, e1; e1, e0." in ranks.description

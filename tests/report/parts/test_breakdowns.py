"""What the report says of metrics per class."""

import re

import numpy as np
from experiments import experiment, run, scored, selected, single

from deviate.model import Experiment
from deviate.report import build_report, render
from deviate.report.document import Absent
from deviate.report.figures import page_figure
from deviate.report.parts.breakdowns import N_DRAWN, breakdown_section
from deviate.report.plots import BreakdownPlot
from deviate.stats import judge

CLASSES = {"cat": 0.010, "dog": 0.003, "bird": 0.001}


def classes(name: str = "a", n: int = 8, sds: dict[str, float] | None = None, *, has_whole: bool = True) -> Experiment:
    rng = np.random.default_rng(1)
    scores = {f"f1_{part}": 0.9 + sd * rng.normal(size=n) for part, sd in (sds or CLASSES).items()}
    scores |= {"f1": 0.9 + 0.002 * rng.normal(size=n)} if has_whole else {}
    runs = [run(i, {metric: single(float(values[i])) for metric, values in scores.items()}) for i in range(n)]
    return experiment(name, runs, [selected(metric) for metric in scores])


def test_the_widest_class_is_named_with_its_spread() -> None:
    (section,) = breakdown_section(judge([classes()]), ["a"]).parts
    assert [row.label for row in section.tables[0].rows] == ["cat", "dog", "bird"]
    widest, chance = section.sentences
    assert re.fullmatch(r"Widest is cat: SD 0\.\d+, n = 8, range 0\.\d+, \d\.\d\d times the SD of f1\.", widest)
    assert re.search(r"of 3 classes that are equally steady, the widest would have an SD of about 0\.\d+", chance)


def test_each_row_has_n_mean_sd_interval_range_and_ratio() -> None:
    (section,) = breakdown_section(judge([classes()]), ["a"]).parts
    assert section.tables[0].columns == ("Class", "n", "mean", "SD", "95% CI of the SD", "range", "SD over that of f1")
    for row in section.tables[0].rows:
        assert len(row.cells) == len(section.tables[0].columns) - 1
        assert not any(isinstance(cell, Absent) for cell in row.cells)


def test_without_a_whole_the_ratio_has_a_reason() -> None:
    (section,) = breakdown_section(judge([classes(has_whole=False)]), ["a"]).parts
    assert all(isinstance(row.cells[-1], Absent) for row in section.tables[0].rows)
    assert "times the SD" not in section.sentences[0]


def test_other_metrics_give_a_reason() -> None:
    view = breakdown_section(judge([scored("a", [1.0, 2.0])]), ["a"])
    assert view.parts == ()
    assert "as acc/class_0, acc/class_1 and acc/class_2" in view.reasons[0]


def test_every_experiment_has_its_own() -> None:
    view = breakdown_section(judge([classes("a"), classes("b")]), ["a", "b"])
    assert [section.heading for section in view.parts] == ["f1_*, a", "f1_*, b"]
    assert len({section.key for section in view.parts}) == 2


def test_classes_without_spread_say_so() -> None:
    (section,) = breakdown_section(judge([classes(n=1)]), ["a"]).parts
    assert section.sentences[0].startswith("No class has a spread")
    assert "<svg" in page_figure(section.figures[0].plot)


def test_a_hundred_classes_are_in_the_table_and_the_widest_in_the_figure() -> None:
    many = {f"class_{i}": 0.001 * (i + 1) for i in range(100)}
    (section,) = breakdown_section(judge([classes(sds=many)]), ["a"]).parts
    assert len(section.tables[0].rows) == 100
    plot = section.figures[0].plot
    assert isinstance(plot, BreakdownPlot)
    assert len(plot.lines) == N_DRAWN
    assert "The widest 30 of 100 are drawn." in plot.description
    assert page_figure(plot) == page_figure(plot)


def test_the_page_shows_them() -> None:
    page = render(build_report(judge([classes()])), "html")
    assert '<details id="breakdowns"' in page
    assert "Widest is cat" in page
    assert "f1_*: every run, per class" in page

"""What stands at figures of metrics is true of what is drawn."""

from dataclasses import replace

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, trained

from deviate.model.records import Series
from deviate.report.document import Report, ReportFigure
from deviate.report.figures.write import page_figure
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.parts.metrics import MOST_CURVES
from deviate.report.plots import EstimationPlot
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions


def _compared(n_experiments: int, *, is_paired: bool = False) -> Report:
    scores = [np.random.default_rng(i).normal(90, 1, 6).tolist() for i in range(n_experiments)]
    return build_report(
        judge([scored(f"e{i}", it) for i, it in enumerate(scores)], AnalysisOptions(is_paired=is_paired))
    )


def _plot(view: Report) -> EstimationPlot:
    estimation = view.metrics[0].estimation
    assert isinstance(estimation, ReportFigure)
    assert isinstance(estimation.plot, EstimationPlot)
    return estimation.plot


@pytest.mark.parametrize(
    ("n_experiments", "told"),
    [
        (1, "mean and its 95% interval"),
        (8, "mean ± SD. A panel of its own has the differences"),
    ],
)
def test_the_caption_says_what_the_line_beside_the_points_is(n_experiments: int, told: str) -> None:
    view = _compared(n_experiments)
    assert told in _plot(view).caption


def test_rows_of_many_experiments_draw_the_sd_and_not_the_interval() -> None:
    plot = _plot(_compared(8))
    without = replace(plot, groups=tuple(replace(it, low=None, high=None) for it in plot.groups))
    wider = replace(plot, groups=tuple(replace(it, sd=10 * (it.sd or 0)) for it in plot.groups))
    assert page_figure(without) == page_figure(plot) != page_figure(wider)


def test_a_single_run_has_no_mean_to_speak_of() -> None:
    plot = _plot(build_report(judge([scored("a", [1.0])])))
    assert plot.caption == "Each point is one run."


def test_a_curve_is_told_in_numbers_to_those_who_cannot_see_it() -> None:
    curves = [Series((0, 1, 2), (1.0, 0.5, 0.25 + 0.01 * i)) for i in range(3)]
    runs = [run(i, {"loss": it}) for i, it in enumerate(curves)]
    diverged = run(3, {"loss": Series((0, 1), (1.0, float("nan")))}, status="diverged")
    view = build_report(judge([experiment("a", [*runs, diverged], [selected("loss")])]))
    curve = view.metrics[0].curve
    assert isinstance(curve, ReportFigure)
    assert "a: 3 runs, first value 1.0000, last values 0.2500 … 0.2700, 1 failed" in curve.plot.description


def test_the_page_draws_the_curves_of_the_first_results_and_the_full_page_every_figure() -> None:
    sides = [trained(name, n_runs=3, n_metrics=MOST_CURVES + 3, n_points=4, seed=i) for i, name in enumerate("ab")]
    view = build_report(judge(sides))
    drawn, whole = (render(view, "html", is_full=is_full) for is_full in (False, True))
    for place, metric in enumerate(view.metrics):
        assert isinstance(metric.estimation, ReportFigure)
        assert isinstance(metric.curve, ReportFigure)
        keys = [f'id="{figure.plot.key}-title"' for figure in (metric.estimation, metric.curve)]
        assert [whole.count(key) for key in keys] == [1, 1]
        assert [drawn.count(key) for key in keys] == [place == 0, place < MOST_CURVES]

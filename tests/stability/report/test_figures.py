"""Pairs of runs and steps as figures."""

import base64
import dataclasses
import io
import math
import re

import matplotlib.image
import numpy as np
import pytest
from stabilities import everything, one_set, with_stability

from deviate.model.findings import Findings
from deviate.model.stability import StabilityFindings
from deviate.report.figures.write import page_figure
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.plots import MatrixPlot, StepsPlot
from deviate.stability.report.sections import stability_section

LABELS = ("small", "wide")


def _matrix(n_runs: int) -> MatrixPlot:
    sides = [it.experiment for it in everything().experiments]
    found = with_stability(sides, StabilityFindings(sets=(one_set(0, "test", n_runs),)))
    plot = stability_section(found, LABELS).parts[0].figures[0].plot
    assert isinstance(plot, MatrixPlot)
    return plot


def _steps(findings: Findings) -> list[StepsPlot]:
    view = stability_section(findings, LABELS)
    return [it.plot for part in view.parts for it in part.figures if isinstance(it.plot, StepsPlot)]


def _pixels(figure: str) -> np.ndarray:
    (found,) = re.findall(r'href="data:image/png;base64,([^"]+)"', figure)
    return np.asarray(matplotlib.image.imread(io.BytesIO(base64.b64decode("".join(found.split()))), format="png"))


def test_few_runs_have_their_figures_in_the_cells() -> None:
    plot = _matrix(4)
    figure = page_figure(plot)
    for row in range(4):
        for column in range(row):
            assert f">{plot.texts[row][column]}</text>" in figure
    assert len(re.findall(r">\d\.\d+</text>", figure)) == 6 + 1  # and the end of the scale that has nothing behind it


@pytest.mark.parametrize("n_runs", [2, 8, 100])
def test_a_cell_is_the_stronger_the_farther_its_runs_are_apart(n_runs: int) -> None:
    plot = _matrix(n_runs)
    alpha = _pixels(page_figure(plot))[..., 3]
    assert alpha.shape == (n_runs - 1, n_runs - 1)
    places = [(i, j) for i in range(1, n_runs) for j in range(i)]
    values = [plot.values[i][j] for i, j in places]
    shown = [alpha[i - 1, j] for i, j in places]
    order = np.argsort(values)
    assert (np.diff(np.array(shown)[order]) >= 0).all()
    assert (alpha[np.triu_indices(n_runs - 1, 1)] == 0).all()


def test_a_hundred_runs_take_little_room() -> None:
    figure = page_figure(_matrix(100))
    assert len(figure) < 25_000
    assert figure == page_figure(_matrix(100))


def test_runs_beyond_a_hundred_are_said_to_be_left_out() -> None:
    plot = _matrix(103)
    assert len(plot.values) == len(plot.names) == 100
    assert "The first 100 runs are drawn; 3 are not." in plot.caption


def test_the_pair_that_is_farthest_apart_is_named_for_those_who_do_not_see_it() -> None:
    it = one_set(0, "test", 8)
    matrix = np.array(it.disagreement)
    i, j = sorted(np.unravel_index(int(matrix.argmax()), matrix.shape))
    assert f"most {100 * matrix.max():.1f} (replicates {i} and {j})" in _matrix(8).description


def test_pairs_without_a_number_are_empty_and_count_in_no_figure() -> None:
    sides = [it.experiment for it in everything().experiments]
    distances = [[math.nan if 2 in (i, j) and i != j else abs(i - j) / 10 for j in range(5)] for i in range(5)]
    weights = dataclasses.replace(everything(5).stability.weights[0], distances=tuple(map(tuple, distances)))
    plot = (
        stability_section(with_stability(sides, StabilityFindings(weights=(weights,))), LABELS).parts[0].figures[0].plot
    )
    assert isinstance(plot, MatrixPlot)
    assert plot.description.startswith(
        "distance of the weights of two runs: 6 pairs of 5 runs, median 0.25, "
        "least 0.10 (replicates 0 and 1), most 0.40 (replicates 0 and 4)."
    )
    assert plot.caption.endswith("Empty cells have no finite value: 4 pairs.")
    assert (_pixels(page_figure(plot))[..., 3] == 0).sum() == 6 + 4
    assert "NaN" not in page_figure(plot)


def test_steps_are_drawn_for_each_experiment_with_its_band() -> None:
    churn, weights = _steps(everything())
    assert [line.label for line in churn.lines] == ["small", "wide"]
    assert churn.lines[0].steps == (0, 10, 20, 30, 40)
    assert churn.lines[0].values[0] == pytest.approx(30.0)
    assert churn.lines[0].band[0][0] < 30 < churn.lines[0].band[0][1]
    assert "small: 30.00 % [28.19 … 31.81] at step 0" in churn.description
    assert weights.lines[0].values[-1] == pytest.approx(1.0)
    for plot in (churn, weights):
        assert "<svg" in page_figure(plot)


def test_too_few_runs_have_lines_without_bands() -> None:
    churn, _ = _steps(everything(3))
    assert np.isnan(churn.lines[0].band).all()
    assert "band" not in churn.caption
    assert "<svg" in page_figure(churn)


def test_a_page_of_a_hundred_runs_keeps_its_data_small() -> None:
    page = render(build_report(everything(100)), "html")
    (data,) = re.findall(r'id="deviate-data">(.*?)</script>', page, flags=re.DOTALL)
    assert '"disagreement"' not in data
    assert '"distances"' not in data
    assert len(page) < 1_000_000

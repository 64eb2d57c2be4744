"""Steps as figures."""

import re

import numpy as np
import pytest
from stabilities import everything

from deviate.model.findings import Findings
from deviate.report.figures.write import page_figure
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.plots import StepsPlot
from deviate.stability.report.sections import stability_section

LABELS = ("small", "wide")


def _steps(findings: Findings) -> list[StepsPlot]:
    view = stability_section(findings, LABELS)
    return [it.plot for part in view.parts for it in part.figures if isinstance(it.plot, StepsPlot)]


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

"""What runs report several times within a step of the main loop is whole in the records, the curves and the data."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import start, value_line

from deviate.model.estimates import Estimate
from deviate.model.records import Experiment
from deviate.records.read import read_experiment
from deviate.report.data.tables import table_files
from deviate.report.document import ReportFigure
from deviate.report.parts.build import build_report
from deviate.report.plots import CurvePlot
from deviate.series.score import aggregate_series
from deviate.stats.judge import judge

AddRun = Callable[..., Path]
UPDATES, EPISODES = 16, 16
RETURNS = [math.sin(number) for number in range(UPDATES * EPISODES)]


@pytest.fixture
def reinforced(experiment: Path, add_run: AddRun) -> Path:
    """Two runs of 16 updates with 16 returns of episodes each."""
    for replicate in range(2):
        lines = (
            value_line(0, number, loops=(0, at // EPISODES, 1, at % EPISODES)) for at, number in enumerate(RETURNS)
        )
        add_run(replicate, start() + "".join(lines))
    return experiment


def read(folder: Path) -> Experiment:
    (experiment,) = read_experiment(folder)
    return experiment


def score(experiment: Experiment, aggregate: str) -> Estimate:
    return aggregate_series(experiment.runs[0].series["acc"], aggregate, "max")


def test_they_are_in_the_record_the_curve_and_the_data(reinforced: Path) -> None:
    experiment = read(reinforced)
    assert [list(run.series["acc"].values) for run in experiment.runs] == [RETURNS, RETURNS]
    assert not [text for run in experiment.runs for text in run.warnings]
    assert score(experiment, "mean") == math.fsum(RETURNS) / len(RETURNS)
    assert (score(experiment, "max"), score(experiment, "last")) == (max(RETURNS), RETURNS[-1])
    findings = judge([experiment])
    curves = next(table for table in table_files(findings) if table.name == "curves.csv")
    assert "".join(curves.chunks()).count("\nacc,base,as-is,0,") == 256
    curve = build_report(findings).metrics[0].curve
    assert isinstance(curve, ReportFigure)
    plot = curve.plot
    assert isinstance(plot, CurvePlot)
    assert len(plot.groups[0].counted[0].values) == 256
    assert "Several values within a step" in plot.caption
    assert "up to 256 in a run" in plot.caption

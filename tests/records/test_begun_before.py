"""An experiment goes on by what its user declared when it began."""

from dataclasses import replace
from pathlib import Path

import pytest

from deviate.model.plan import PrimaryChoice
from deviate.project.begin import begin_experiment
from deviate.project.prepare import PreparedScript, find_target, prepare_script
from deviate.records.plans import read_plan
from deviate.replay.experiments import Request
from deviate.replay.variants import VARIANTS

SCRIPT = 'import random\nfor epoch in range(3):\n    print(f"val acc {random.random():.3f}")\n'
REQUEST = Request(runs=1, variants=(VARIANTS["algo+impl"],), name="old", seed=0)


@pytest.fixture
def script(tmp_path: Path) -> PreparedScript:
    (tmp_path / "train.py").write_text(SCRIPT)
    return prepare_script(find_target(["train.py"], tmp_path, "python"))


@pytest.fixture
def records(script: PreparedScript) -> Path:
    return script.target.root / ".deviate"


def test_a_margin_that_a_run_declares_stands_in_its_plan_and_stays_there(script: PreparedScript, records: Path) -> None:
    request = replace(REQUEST, margin=0.5)
    begin_experiment(script, request, records)
    assert read_plan(records / "experiments/old").selection.margin == 0.5
    grown = begin_experiment(script, replace(REQUEST, runs=2), records)
    assert (grown.plan.selection.margin, read_plan(records / "experiments/old").selection.margin) == (0.5, 0.5)


def test_a_metric_that_a_run_declares_stands_in_its_plan_though_nothing_has_reported_it(
    script: PreparedScript, records: Path
) -> None:
    named = PrimaryChoice("valid_acc", "named with --metric before the runs")
    begin_experiment(script, replace(REQUEST, primary="valid_acc"), records)
    assert read_plan(records / "experiments/old").selection.primary == named
    assert begin_experiment(script, replace(REQUEST, runs=2), records).plan.selection.primary == named

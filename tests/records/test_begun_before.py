"""An experiment goes on by the rules that it began with, and by what its user declared then."""

from dataclasses import replace
from pathlib import Path

import pytest
from recorded import edit_record

from deviate.model.plan import STREAMS_NUMBER, PrimaryChoice
from deviate.project.begin import begin_experiment
from deviate.project.prepare import PreparedScript, find_target, prepare_script
from deviate.records.layout import experiment_file
from deviate.records.plans import read_plan
from deviate.replay.experiments import Request, open_experiment, specs_of
from deviate.replay.variants import VARIANTS

SCRIPT = 'import random\nfor epoch in range(3):\n    print(f"val acc {random.random():.3f}")\n'
EARLIER = -1
"""A number of rules from before the first one."""
REQUEST = Request(runs=1, variants=(VARIANTS["algo+impl"],), name="old", seed=0)


@pytest.fixture
def script(tmp_path: Path) -> PreparedScript:
    (tmp_path / "train.py").write_text(SCRIPT)
    return prepare_script(find_target(["train.py"], tmp_path, "python"))


@pytest.fixture
def records(script: PreparedScript) -> Path:
    return script.target.root / ".deviate"


@pytest.fixture
def old(script: PreparedScript, records: Path) -> Path:
    """An experiment that a version of before has begun, which kept streams and made scores by other rules."""
    begin_experiment(script, REQUEST, records)
    edit_record(experiment_file(records / "experiments/old"), streams=EARLIER, scores=EARLIER)
    return records / "experiments/old"


def test_its_runs_keep_its_rules(old: Path) -> None:
    begun = open_experiment(old)
    rules = EARLIER, EARLIER
    assert (begun.plan.streams, begun.plan.scores) == rules
    assert {(it.streams, it.scores) for it in specs_of(begun.plan)} == {rules}


def test_further_runs_keep_its_rules(old: Path, script: PreparedScript) -> None:
    grown = begin_experiment(script, replace(REQUEST, runs=3), old.parents[1])
    assert (grown.plan.n_runs, grown.plan.streams, grown.plan.scores) == (3, EARLIER, EARLIER)


def test_what_takes_its_snapshot_over_takes_its_rules_too(old: Path, script: PreparedScript) -> None:
    like = open_experiment(old).snapshot
    request = replace(REQUEST, name=None)
    assert begin_experiment(script, request, old.parents[1], name="further", like=like).plan.streams == EARLIER
    assert begin_experiment(script, request, old.parents[1], name="anew").plan.streams == STREAMS_NUMBER


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

"""An experiment that an older version began is resumed, grown, compared and reported by the rules it began with.

`begun/330947f.tar.xz` is the experiment `old` as the version at commit 330947f left it: five runs of a script of the
standard library were planned, two completed, one was killed with its executor, one had been made ready, and one is
missing. It lay in the project /home/researcher/project of a machine called `machine`, whose clock was a month late, and
was moved.
"""

import json
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deviate.model.plan import STREAMS_NUMBER
from deviate.project import find_target, prepare
from deviate.records.plans import read_plan
from deviate.records.read import read_experiment
from deviate.records.runs import run_id
from deviate.replay import VARIANTS
from deviate.workflows import Request, begin, specs_of
from deviate.workflows.execute import open_experiment

BEGUN = Path(__file__).parent / "begun"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The experiment, moved into another project."""
    experiments = tmp_path / "elsewhere/project/.deviate/experiments"
    experiments.mkdir(parents=True)
    with tarfile.open(BEGUN / "330947f.tar.xz") as archive:
        archive.extractall(experiments, filter="data")
    shutil.copy(experiments / "old/snapshot/originals/train.py", tmp_path / "elsewhere/project")
    return experiments / "old"


def test_its_runs_keep_their_ids_and_its_rules(old: Path) -> None:
    plan = read_plan(old)
    begun = open_experiment(old)
    specs = specs_of(begun.plan, begun.snapshot)
    assert (plan.streams, plan.scores) == (1, 1)
    assert {(it.streams, it.scores) for it in specs} == {(1, 1)}
    assert {path.name for path in (old / "runs").iterdir()} < {run_id(it) for it in specs}


def test_what_it_recorded_is_read(old: Path) -> None:
    (experiment,) = read_experiment(old)
    told = [(run.replicate, run.status) for run in experiment.runs]
    assert told == [(0, "completed"), (1, "completed"), (2, "lost"), (3, "lost")]
    assert experiment.runs[1].series["acc"].values[-1] == 0.8161424569351807


def test_what_takes_its_snapshot_over_takes_its_rules_too(old: Path) -> None:
    project = old.parents[2]
    prepared = prepare(find_target(["train.py"], project, "python"))
    request = Request(runs=1, variants=(VARIANTS["algo+impl"],), name=None, seed=0)
    like = open_experiment(old).snapshot
    assert begin(prepared, request, old.parents[1], name="further", like=like).plan.streams == 1
    assert begin(prepared, request, old.parents[1], name="anew").plan.streams == STREAMS_NUMBER


def test_a_margin_that_a_run_declares_stands_in_its_plan_and_stays_there(old: Path) -> None:
    prepared = prepare(find_target(["train.py"], old.parents[2], "python"))
    request = Request(runs=1, variants=(VARIANTS["algo+impl"],), name="anew", seed=0, margin=0.5)
    begun = begin(prepared, request, old.parents[1])
    grown = begin(prepared, replace(request, margin=0.7), old.parents[1])
    for one in (begun, grown):
        primary = one.plan.selection.primary
        assert primary is not None
        assert {metric.name: metric.margin for metric in one.plan.selection.metrics}[primary.name] == 0.5
    assert not any("otherwise" in note for note in grown.notes)


@pytest.mark.slow
def test_it_is_resumed_grown_compared_and_reported(old: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> None:
    project = old.parents[2]
    deviate = deviate_in(project)
    guest = old / "snapshot/guest/sitecustomize.py"
    with guest.open("a") as file:  # what leaves a mark is the guest of its own snapshot
        file.write('\nimport os\nopen(os.path.join(os.environ["DEVIATE_RUN_DIR"], "mark"), "w").close()\n')
    before = {path: path.read_bytes() for path in (old / "runs").glob("*/spec.json")}
    done = deviate("resume", "old")
    assert done.code == 0, done.both
    assert f"it goes on by the rules that it began with (streams 1; new experiments have {STREAMS_NUMBER})" in done.both
    (experiment,) = read_experiment(old)
    assert [run.status for run in experiment.runs] == ["completed"] * 5
    assert sum((run.folder / "mark").exists() for run in experiment.runs) == 3
    assert {path: path.read_bytes() for path in before} == before

    done = deviate("run", "train.py", "--runs", "6", "--name", "old", "--python", "python")
    assert done.code == 0, done.both
    (experiment,) = read_experiment(old)
    assert [run.status for run in experiment.runs] == ["completed"] * 6
    assert (experiment.runs[5].folder / "mark").exists()
    assert read_plan(old).streams == 1
    assert "streams" not in json.loads((experiment.runs[5].folder.parent / "spec.json").read_text())

    done = deviate("run", "train.py", "--runs", "6", "--name", "new", "--python", "python")
    assert done.code == 0, done.both
    new = old.with_name("new")
    assert read_plan(new).streams == STREAMS_NUMBER
    (fresh,) = read_experiment(new)
    assert json.loads((fresh.runs[0].folder.parent / "spec.json").read_text())["streams"] == STREAMS_NUMBER

    text = json.dumps(json.loads(deviate("compare", "old", "new", "--paired", "--json", "-").out))
    assert f"(streams 1 and {STREAMS_NUMBER})" in text
    assert "They are not compared as pairs." in text
    assert '"is_paired": false' in text
    assert '"is_paired": true' not in text
    told = " ".join(deviate("report", "old").both.split())
    assert told.count("2 of its runs are not verifiable") == 1

"""Capture from the command line to the report: one experiment of a small network, and what is made of it."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import deviate as package
from deviate.pipeline import describe_variants
from deviate.records.experiments import read
from deviate.replay.cleanup import clean_up
from deviate.stability.captures.collect import captured_of
from deviate.stats.options import AnalysisOptions

pytestmark = pytest.mark.requires("torch")

TRAIN = """\
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

inputs = torch.sin(torch.arange(1200.0) ** 1.5).reshape(300, 4)
labels = (inputs[:, 0] + inputs[:, 1] > 0).long() + (inputs[:, 2] > 0.8).long()
train_loader = DataLoader(TensorDataset(inputs[:200], labels[:200]), 20, shuffle=True)
test_loader = DataLoader(TensorDataset(inputs[200:], labels[200:]), 50, shuffle="--shuffled" in sys.argv)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    n_right = 0
    with torch.no_grad():
        for x, y in test_loader:
            n_right += (model(x).argmax(1) == y).sum().item()
    test_acc = n_right / 100
    print("test acc", test_acc)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("captured")
    (place / "train.py").write_text(TRAIN)
    return place


@pytest.fixture(scope="module")
def done(folder: Path, deviate_in):  # type: ignore[no-untyped-def]
    """One experiment of two runs with all that can be kept."""
    ran = deviate_in(folder)(
        "run", "train.py", "-r", "2", "-j", "2", "--capture", "predictions,weights", "--capture-every", "1"
    )
    assert ran.code == 0, ran.both
    return ran


@pytest.fixture
def deviate(folder: Path, deviate_in, done, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(folder)
    return deviate_in(folder)


def test_what_will_be_kept_is_told_before_the_runs(done) -> None:  # type: ignore[no-untyped-def]
    told = "Capture    predictions and weights, at the end and every step of the main loop; at most 1.0 GB of each run,"
    assert told in done.out


def test_accuracies_of_captured_predictions_are_those_that_the_script_printed(folder: Path, done) -> None:  # type: ignore[no-untyped-def]
    (experiment,) = read(folder / ".deviate", ["train"])
    captured = captured_of(experiment)
    printed = np.array([run.series["test_acc"].values for run in experiment.runs])
    (last,) = captured.sets
    assert (captured.reasons, last.name, last.kind) == ((), "test", "logits")
    assert np.array_equal((last.labels == last.truth).mean(axis=1), printed[:, -1])
    by_step = [(it.labels == it.truth).mean(axis=1) for it in captured.by_step]
    assert np.array_equal(np.transpose(by_step), printed)


def test_runs_disagree_as_the_findings_say(folder: Path, done) -> None:  # type: ignore[no-untyped-def]
    (experiment,) = read(folder / ".deviate", ["train"])
    labels = captured_of(experiment).sets[0].labels
    assert labels is not None
    (found,) = describe_variants([experiment], AnalysisOptions()).stability.sets
    churn = next(it.value for it in found.measures if it.name == "churn")
    assert churn == pytest.approx((labels[0] != labels[1]).mean())


def test_the_same_command_without_capture_adds_runs_that_keep_the_same(folder: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    more = deviate("run", "train.py", "-r", "3")
    assert more.code == 0, more.both
    assert "Note     runs go on keeping predictions and weights" in more.out
    (experiment,) = read(folder / ".deviate", ["train"])
    assert [len(run.artifacts) > 0 for run in experiment.runs] == [True] * 3


def test_other_settings_of_capture_are_another_experiment(deviate) -> None:  # type: ignore[no-untyped-def]
    refused = deviate("run", "train.py", "--name", "train", "--capture", "weights", "--capture-every", "7")
    assert refused.code == 1
    assert "with another --capture: its runs keep predictions and weights" in refused.err


def test_show_tells_what_is_kept_and_how_large_it_is(deviate) -> None:  # type: ignore[no-untyped-def]
    told = "Capture    predictions and weights, at the end and every step of the main loop; "
    assert told in deviate("show", "train").out
    (run,) = json.loads(deviate("show", "train", "--run", "0", "--format", "json").out)
    names = {name.rpartition("-")[0]: size for name, size in run["captured"].items()}
    assert names.keys() >= {"predictions-test-0", "predictions-test-1", "weights-torch-step-0"}
    assert all(size > 0 for size in names.values())
    assert run["spec"]["capture"]["every"] == "1"


def test_groups_and_weak_runs_reach_the_report(folder: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (folder / "groups.csv").write_text("half\n" + "first\n" * 50 + "second\n" * 50)
    told = deviate("report", "train", "--groups", "groups.csv", "--weak-below", "test_acc=0.1", "--json", "-")
    assert told.code == 0, told.both
    assert '"first"' in told.out
    (experiment,) = read(folder / ".deviate", ["train"])
    options = AnalysisOptions(groups=(str(folder / "groups.csv"),), weak_below=("test_acc", 2.0))
    found = describe_variants([experiment], options).stability
    assert [(it.column, it.value, it.n_examples) for it in found.sets[0].groups] == [
        ("", "All", 100), ("half", "first", 50), ("half", "second", 50)
    ]  # fmt: skip
    assert found.weak[0].excluded == tuple(run.replicate for run in experiment.runs)


def test_groups_without_predictions_are_refused(folder: Path, done) -> None:  # type: ignore[no-untyped-def]
    (experiment,) = read(folder / ".deviate", ["train"])
    bare = dataclasses.replace(
        experiment, runs=tuple(dataclasses.replace(run, artifacts=()) for run in experiment.runs)
    )
    with pytest.raises(package.errors.InputError, match="no predictions were captured") as caught:
        describe_variants([bare], AnalysisOptions(groups=("half",)))
    assert "--capture predictions" in caught.value.hint


def test_a_notebook_has_predictions_as_a_table(deviate) -> None:  # type: ignore[no-untyped-def]
    results = package.describe("train")
    table = results.predictions("test")
    n_runs = table["replicate"].nunique()
    assert len(table) == n_runs * 100
    assert list(table)[:6] == ["experiment", "variant", "replicate", "position", "truth", "predicted"]
    scores = table[["output_0", "output_1", "output_2"]].to_numpy()
    assert np.array_equal(scores.argmax(axis=1), table["predicted"].to_numpy())
    assert len(results.predictions(step=0)) == n_runs * 100
    with pytest.raises(package.errors.InputError, match="no evaluation set 'val'"):
        results.predictions("val")
    weights = results.captured()[0].weights
    assert weights is not None
    assert all(layer.shape[0] == n_runs for layer in weights.layers.values())


def test_clean_keeps_what_was_captured_unless_it_is_asked_for(folder: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    def files() -> list[Path]:
        return list(folder.glob(".deviate/experiments/train/runs/*/attempt-1/artifacts/*.npz"))

    before = files()
    clean_up(folder / ".deviate", "train")
    assert len(files()) == len(before) > 0
    gone = deviate("clean", "train", "--captured")
    assert f"captured files of {len({it.parent for it in before})} runs" in gone.out
    assert files() == []
    (experiment,) = read(folder / ".deviate", ["train"])
    assert all("missing" in run.warnings[-1] for run in experiment.runs)
    assert all("missing" in reason for reason in captured_of(experiment).reasons)

"""`--dl-variance FOLDER`: runs with the columns of the artifact of Pham et al., from the command line and back."""

import csv
import re
import statistics
from pathlib import Path

import pytest

from deviate.cli.options.results import Documents
from deviate.errors import InputError
from deviate.records.importing import read_files
from deviate.stability.report.dl_variance import OURS, RAW, RESULT

TRAIN = """\
import random
import time

import deviate

TRUTH = [0] * 10 + [1] * 30
for epoch in range(4):
    time.sleep(0.01)
    labels = [it if random.random() < 0.5 + epoch / 10 else 1 - it for it in TRUTH]
    deviate.log_predictions(labels, TRUTH)
    acc = 100 * sum(a == b for a, b in zip(labels, TRUTH)) / len(TRUTH)
    loss = random.random()
    print("epoch %d loss %.4f acc %.4f" % (epoch, loss, acc))
"""
README = """
backend backend_version cuda_version cudnn_version network random_seed stopping_type no_try max_accuracy_diff
max_accuracy min_accuracy std_dev_accuracy mean_accuracy max_diff_label max_per_label_acc_diff max_label_accuracy
min_label_accuracy no_samples_max_diff max_std_label max_per_label_acc_std no_samples_max_std max_convergent_diff
max_convergent min_convergent std_dev_convergent mean_convergent max_convergent_diff_epoch max_convergent_epoch
min_convergent_epoch std_dev_convergent_epoch mean_convergent_epoch
"""
"""Columns of analysis_result.csv in the README of github.com/lin-tan/dl-variance."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_columns_are_those_of_the_artifact_and_ours_behind_them() -> None:
    assert list(RESULT) == README.split()
    assert (*RESULT[:7], "try", "accuracy", "convergent", "convergent_epoch") == RAW
    assert not set(OURS) & set(RESULT)


def test_tables_hold_what_was_recorded_and_the_runs_read_back(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate_in(project)("run", "train.py", "--runs", "3", "--jobs", "2", "--name", "a", "--dl-variance", "t")
    assert answer.code == 0, answer.both
    assert "Tables   t" in answer.out
    result, raw = rows(project / "t/analysis_result.csv"), rows(project / "t/analysis_raw.csv")
    last, other, *_ = result
    criteria = ["last step", "best acc", "within 1% of the best acc", "acc not better for 5 values", "best loss"]
    assert [row["stopping_type"] for row in result] == criteria
    assert (last["network"], last["random_seed"], last["no_try"], last["ddof"]) == ("a:algo+impl", "-1", "3", "1")
    logs = sorted((project / ".deviate").glob("experiments/*/runs/*/attempt-*/stdout.log"))
    printed = [[float(it) for it in re.findall(r"acc ([0-9.]+)", log.read_text())] for log in logs]
    of_last = {int(row["try"]): row for row in raw if row["stopping_type"] == "last step"}
    accuracies = [float(row["accuracy"]) for row in of_last.values()]
    assert sorted(accuracies) == sorted(run[-1] for run in printed)
    best = [float(row["accuracy"]) for row in raw if row["stopping_type"] == "best acc"]
    assert sorted(best) == sorted(max(run) for run in printed)
    assert float(last["std_dev_accuracy"]) == pytest.approx(statistics.stdev(accuracies))
    assert float(last["max_accuracy_diff"]) == pytest.approx(max(accuracies) - min(accuracies))
    assert {row["convergent_epoch"] for row in of_last.values()} == {"4"}
    seconds = [float(row["convergent"]) for row in of_last.values()]
    assert float(last["max_convergent_diff"]) == pytest.approx(max(seconds) - min(seconds))
    relative = 100 * (max(seconds) - min(seconds)) / min(seconds)
    assert float(last["relative_convergent_diff_percent"]) == pytest.approx(relative)
    assert last["relative_convergent_diff_epoch_percent"] == "0.0"
    imported = read_files([project / "t/analysis_raw.csv"])
    assert len(imported) == 5
    assert [run.series["accuracy"].values[0] for run in imported[0].runs] == accuracies
    assert last["label_set"] == "test"
    sizes = {"0": "10", "1": "30"}
    assert sizes[last["max_diff_label"]] == last["no_samples_max_diff"]
    assert sizes[last["max_std_label"]] == last["no_samples_max_std"]
    low, high = float(last["min_label_accuracy"]), float(last["max_label_accuracy"])
    assert float(last["max_per_label_acc_diff"]) == pytest.approx(high - low)
    assert high > 1, "percent, as the accuracy"
    assert (high * int(last["no_samples_max_diff"]) / 100) % 1 == pytest.approx(0, abs=1e-9)
    assert float(last["max_per_label_acc_std"]) <= (high - low) / 2**0.5 + 1e-9
    assert (other["max_diff_label"], other["label_set"]) == ("", "")


def test_a_folder_that_cannot_be_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match=r"file cannot hold tables: .*file is not a folder"):
        Documents(dl_variance=tmp_path / "file")


def test_scores_alone_give_the_accuracy_and_empty_times(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    (project / "runs.csv").write_text("acc,loss\n0.5,2\n0.75,1\n")
    assert deviate_in(project)("report", "runs.csv", "--dl-variance", "t").code == 0
    (row,) = rows(project / "t/analysis_result.csv")
    assert (row["stopping_type"], row["max_accuracy_diff"], row["max_convergent"]) == ("last", "0.25", "")
    assert [it["accuracy"] for it in rows(project / "t/analysis_raw.csv")] == ["0.5", "0.75"]

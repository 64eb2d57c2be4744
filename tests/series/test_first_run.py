"""What the first run decides: the metric that the user named is one that it reported, or the experiment stops there."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """import random
for epoch in range(3):
    print(f"epoch {epoch} loss {random.random():.3f} val acc {random.random():.3f}")
print(f"Test accuracy: {random.random():.3f}")
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(SCRIPT)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "deviate", "run", "train.py", "--runs", "3", "--name", "a", *words],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def n_completed(folder: Path) -> int:
    results = (folder / ".deviate" / "experiments" / "a" / "runs").glob("*/attempt-*/result.json")
    return sum('"completed"' in result.read_text() for result in results)


def test_a_named_metric_that_the_first_run_did_not_report_stops_the_experiment_there(tmp_path: Path) -> None:
    done = run(tmp_path, "--metric", "tset_accuracy")
    assert done.returncode != 0
    assert "did not report tset_accuracy" in done.stderr
    assert "test_accuracy" in done.stderr
    assert n_completed(tmp_path) == 1


def test_a_metric_is_named_as_written_or_with_its_words_in_another_order(tmp_path: Path) -> None:
    done = run(tmp_path, "--metric", "acc_val", "--margin", "0.02")
    assert done.returncode == 0, done.stderr
    assert "Result: val_acc " in done.stdout
    assert "named with --metric before the runs" in done.stdout
    assert n_completed(tmp_path) == 3


def test_without_a_name_the_first_run_decides_and_its_reason_is_said(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert "result: test_accuracy, announced after training" in done.stdout + done.stderr
    assert "Result: test_accuracy " in done.stdout

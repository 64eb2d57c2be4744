"""The examples are ordinary scripts: without deviate they learn, and a seed fixes what they do."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from clock import mask_clock

Require = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """What a plain run of an example left behind, clock readings masked."""

    stdout: str
    stderr: str
    files: dict[str, bytes]


def run_plainly(script: Path, folder: Path, *arguments: str) -> Outcome:
    folder.mkdir()
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return Outcome(mask_clock(done.stdout), done.stderr, files)


@pytest.mark.parametrize(
    ("script", "framework", "arguments", "weights"),
    [
        ("tiny.py", None, [], None),
        ("fgsm_digits/train.py", "tensorflow", ["--epochs", "2"], "weights.npz"),
        ("digits_torch/train.py", "torch", ["--epochs", "2"], "best.pt"),
        ("digits_keras/train.py", "tensorflow", ["--epochs", "2"], "digits.weights.h5"),
    ],
)
def test_two_runs_with_one_seed_are_alike_but_for_the_clock(
    script: str,
    framework: str | None,
    arguments: list[str],
    weights: str | None,
    examples: Path,
    require: Require,
    tmp_path: Path,
) -> None:
    for name in ["sklearn", framework] if framework else []:
        require(name)
    first, second = (run_plainly(examples / script, tmp_path / name, *arguments) for name in ("first", "second"))
    assert first.stdout == second.stdout
    assert first.stdout.count("#") >= 2
    assert first.stderr == second.stderr
    assert first.files == second.files
    assert list(first.files) == ([weights] if weights else [])


def test_another_seed_gives_other_accuracy_on_the_same_data(examples: Path, tmp_path: Path) -> None:
    outcomes = [run_plainly(examples / "tiny.py", tmp_path / seed, "--seed", seed) for seed in ("0", "1", "2")]
    accuracies = [re.findall(r"accuracy (\d\.\d{4})", outcome.stdout)[-1] for outcome in outcomes]
    assert len(set(accuracies)) > 1
    assert all(0.7 < float(accuracy) < 0.9 for accuracy in accuracies)


def test_adversarial_training_reports_train_and_test_data_in_each_epoch(
    examples: Path, require: Require, tmp_path: Path
) -> None:
    for name in ("sklearn", "tensorflow"):
        require(name)
    stdout = run_plainly(examples / "fgsm_digits/train.py", tmp_path / "run", "--epochs", "6", "--attack", "pgd").stdout
    line = r"^  (train|test ) natural accuracy (\d\.\d{4})  adversarial accuracy (\d\.\d{4})$"
    reports = re.findall(line, stdout, flags=re.MULTILINE)
    assert [split.strip() for split, _, _ in reports] == ["train", "test"] * 6
    _, natural, adversarial = reports[-1]
    assert 0.3 < float(adversarial) < float(natural)

"""The examples are ordinary scripts: without deviate they learn, and a seed changes what they do.

That a seed fixes what they do is in test_fidelity.py: there a plain run leaves what another run with that seed left.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Require = Callable[[str], None]


def run_plainly(script: Path, folder: Path, *arguments: str) -> str:
    """Standard output of a script that was run in a new folder."""
    folder.mkdir()
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_another_seed_gives_other_accuracy_on_the_same_data(examples: Path, tmp_path: Path) -> None:
    printed = [run_plainly(examples / "tiny.py", tmp_path / seed, "--seed", seed) for seed in ("0", "1", "2")]
    accuracies = [re.findall(r"accuracy (\d\.\d{4})", text)[-1] for text in printed]
    assert len(set(accuracies)) > 1
    assert all(0.7 < float(accuracy) < 0.9 for accuracy in accuracies)


@pytest.mark.slow
def test_adversarial_training_reports_train_and_test_data_in_each_epoch(
    examples: Path, require: Require, tmp_path: Path
) -> None:
    for name in ("sklearn", "tensorflow"):
        require(name)
    stdout = run_plainly(examples / "fgsm_digits/train.py", tmp_path / "run", "--epochs", "6", "--attack", "pgd")
    line = r"^  (train|test ) natural accuracy (\d\.\d{4})  adversarial accuracy (\d\.\d{4})$"
    reports = re.findall(line, stdout, flags=re.MULTILINE)
    assert [split.strip() for split, _, _ in reports] == ["train", "test"] * 6
    _, natural, adversarial = reports[-1]
    assert 0.3 < float(adversarial) < float(natural)

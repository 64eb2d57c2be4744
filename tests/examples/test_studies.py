"""The studies are ordinary scripts that deviate reads right, and what a page says is what deviate found."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.analysis.analyze import analyze

Require = Callable[[str], None]

METRICS = {
    "adversarial/train.py": {"loss", "time", "natural_accuracy", "under_fgsm", "under_pgd"},
    "identical/train.py": {"loss", "val_accuracy", "time", "test_accuracy"},
    "factors/train.py": {"train_loss", "test_loss", "test_accuracy", "time"},
    "factors/attributes.py": {"loss", "test_accuracy", "missed"},
    "sources/train.py": {"loss", "test_loss", "test_accuracy"},
}


@pytest.mark.parametrize("script", METRICS)
def test_the_main_loop_and_the_metrics_of_a_study_are_found(script: str, examples: Path) -> None:
    path = examples / "studies" / script
    analysis = analyze(path, path.parent)
    assert {metric.name for metric in analysis.metrics} == METRICS[script]
    assert analysis.main_loop is not None
    assert analysis.main_loop.variable == "epoch"


@pytest.mark.slow
def test_a_page_says_what_the_report_found(
    examples: Path, require: Require, project: Path, deviate_in: Callable[[Path], Callable[..., object]]
) -> None:
    for name in ("torch", "sklearn"):
        require(name)
    shutil.copy(examples / "studies" / "identical" / "train.py", project)
    documents = project / "documents"
    documents.mkdir()
    report = documents / "lookup.json"
    variants = "algo+impl,impl"
    deviate_in(project)(
        "run", "train.py", "--name", "study-identical-tiny-lookup", "--runs", "2", "--variants", variants, "--quiet",
        "--capture", "predictions,weights", "--metric", "test_accuracy", "--weak-below", "test_accuracy=60",
        "--jobs", "2", "--env", "OMP_NUM_THREADS=1", "--json", str(report), "--", "--epochs", "2", "--input", "scale",
    )  # fmt: skip
    shutil.copy(report, documents / "scale.json")
    command = [sys.executable, examples / "studies" / "pages", "identical", "--size", "tiny", "--documents", documents]
    subprocess.run([*command, "--output", project], cwd=project, capture_output=True, text=True, check=True)
    page = (project / "study-identical-tiny.md").read_text(encoding="utf-8")
    found = json.loads(report.read_text(encoding="utf-8"))
    free, fixed = (
        next(metric for metric in part["metrics"] if metric["metric"] == "test_accuracy")
        for part in found["experiments"][:2]
    )
    assert f"| default (`algo+impl`) | {free['mean']:.2f} ± {free['sd']:.2f} [" in page
    assert f"| fixed seed (`impl`) | {fixed['mean']:.2f}, all equal | 0.00 | 2 |" in page
    assert "all 2 runs bitwise equal" in page
    assert str(project) not in page

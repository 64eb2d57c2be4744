"""A guest does no harm: each example leaves the same bytes with taps on and off, and in `as-is` as in a plain run."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from deviate import analysis, instrument, records, replay
from deviate.model import Selection
from deviate.records import Plan, VariantPlan


@dataclass(frozen=True)
class Example:
    """An example, the module it needs, its arguments, and the names of its fields that show clock time."""

    script: str
    module: str
    arguments: tuple[str, ...]
    clock: str
    files: tuple[str, ...]


EXAMPLES = [
    Example("tiny.py", "sys", ("--epochs", "5"), r"time \d+\.\d\ds", ()),
    Example("digits_torch/train.py", "torch", ("--epochs", "2"), r"time \d+\.\d\ds", ("best.pt",)),
    Example(
        "digits_keras/train.py", "tensorflow", ("--epochs", "2"), r"\d+s - |\d+[mu]?s/step", ("digits.weights.h5",)
    ),
    Example("fgsm_digits/train.py", "tensorflow", ("--epochs", "2"), r"time \d+\.\d\ds", ("weights.npz",)),
]


@dataclass(frozen=True)
class Traces:
    """Everything a run leaves for others to see."""

    exit_code: int | None
    stdout: str
    stderr: str
    files: dict[str, bytes]


def traces(example: Example, exit_code: int | None, stdout: bytes, stderr: bytes, work: Path) -> Traces:
    files = {
        str(path.relative_to(work)): path.read_bytes()
        for path in sorted(work.rglob("*"))
        if path.is_file() and path.name != Path(example.script).name and "__pycache__" not in path.parts
    }
    return Traces(exit_code, masked(example, stdout), masked(example, stderr), files)


def masked(example: Example, output: bytes) -> str:
    """The text with clock readings taken out: the example's own fields, and the stamps of TensorFlow's log lines."""
    text = re.sub(example.clock, "<clock>", output.decode())
    return re.sub(r"^([IWEF])\d{4} \d\d:\d\d:[\d.]+ +\d+ ", r"\1<clock> ", text, flags=re.MULTILINE)


def run(example: Example, project: Path, folder: Path, *, variant: str, is_tapped: bool) -> tuple[Traces, Path]:
    """One run in `folder`, which is made anew; gives its traces and its work copy."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    found = analysis.analyze(project / example.script, project)
    cwd = str(Path(example.script).parent)
    snapshot = instrument.freeze(found, records.snapshot_folder(folder), cwd=cwd, is_tapped=is_tapped)
    command = (sys.executable, Path(example.script).name, *example.arguments)
    variants = (VariantPlan(variant, 1),)
    records.create_experiment(
        folder, Plan("x", 0.0, project, command, cwd, 0, snapshot.sources_hash, variants, Selection(()))
    )
    specs = replay.plan(snapshot, command=command, cwd=cwd, variant=variant, runs=1, seed=0)
    (outcome,) = replay.execute(specs, snapshot, folder, jobs=1)
    output = [(outcome.folder / name).read_bytes() for name in ("stdout.log", "stderr.log")]
    work = outcome.folder / "work" / project.parent.name / project.name
    left = traces(example, outcome.exit_code, *output, work)
    values = [line for log in outcome.folder.glob("events-*") for line in log.read_text().splitlines()]
    assert any(line.startswith(('["value"', '["named"')) for line in values) or not is_tapped
    assert not any(line.startswith('["error"') for line in values)
    return left, work


def run_plainly(example: Example, project: Path, work: Path) -> Traces:
    """The user's own run, without any of us, in the same place."""
    shutil.rmtree(work)
    shutil.copytree(project, work)
    done = subprocess.run(
        [sys.executable, Path(example.script).name, *example.arguments],
        cwd=work / Path(example.script).parent,
        env={key: value for key, value in os.environ.items() if not key.startswith("DEVIATE_")},
        capture_output=True,
        check=False,
    )
    return traces(example, done.returncode, done.stdout, done.stderr, work)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.script)
def test_runs_leave_the_same_with_taps_on_and_off_and_as_is_as_plain_runs(
    example: Example, tmp_path: Path, examples: Path, require
) -> None:  # type: ignore[no-untyped-def]
    require(example.module)
    project = tmp_path / "parent" / "root"
    shutil.copytree(examples, project, ignore=shutil.ignore_patterns("__pycache__", ".deviate"))
    folder = tmp_path / "experiment"
    for variant in ("algo+impl", "as-is"):
        off, _ = run(example, project, folder, variant=variant, is_tapped=False)
        on, work = run(example, project, folder, variant=variant, is_tapped=True)
        assert on == off, f"taps change what a run in {variant} leaves"
    assert on.exit_code == 0, on.stderr
    assert {Path(name).name for name in on.files} >= set(example.files)
    assert on == run_plainly(example, project, work), "a run in as-is is not the plain run"

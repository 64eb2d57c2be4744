"""Mistakes on the command line: each gets one message of at most two lines, with the way out, before any training."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from deviate.cli.app import run_arguments
from deviate.records.files import lock_folder

TRAIN = """\
import argparse
import random
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
Path({marker!r}).touch()
for epoch in range(2):
    loss = random.random() / (epoch + 1)
    val_loss = loss + 0.1
    print(f"epoch {{epoch}} loss {{loss:.4f}} val_loss {{val_loss:.4f}}")
    test_acc = 90 + random.random()
    print(f"test_acc {{test_acc:.4f}}")
"""


class Mistake(NamedTuple):
    """A command, its exit code, and what the message must name."""

    command: str
    code: int
    words: tuple[str, ...]


def mistake(command: str, *words: str, code: int = 1) -> Mistake:
    return Mistake(command, code, words)


MISTAKES = [
    # numbers of the verdict
    mistake("run train.py --margin -1", "--margin", "positive"),
    mistake("run train.py --margin nan", "--margin"),
    mistake("run train.py --confidence 95", "--confidence", "0.9999", code=2),
    mistake("run train.py --aggregate lats", "--aggregate", "lats", "last"),
    mistake("run train.py --weak-below test_acc=low", "--weak-below", "low"),
    mistake("run train.py --groups missing.csv", "--groups", "missing.csv"),
    mistake("run train.py --capture predictions --groups labels.csv:shape", "--groups", "shape", "colour"),
    mistake("run train.py --paired", "--paired", "--versus"),
    mistake("run --versus a=train.py --versus b=train.py --runs 1 --paired", "--paired", "--runs"),
    # outputs
    mistake("run train.py --html .", "--html", "folder"),
    mistake("run train.py --html train.py/out.html", "--html", "train.py"),
    mistake("run train.py --html train.py", "--html", "train.py"),
    mistake("run train.py --html out.html --json ./out.html", "--html", "--json", "out.html"),
    mistake("run train.py --csv - --json -", "csv", "json", "standard output"),
    mistake("run train.py --paper train.py", "train.py"),
    mistake("run train.py --siunitx", "--siunitx", "--latex"),
    mistake("run train.py --column-width 3", "--column-width", "--paper"),
    # how many runs
    mistake("run train.py --runs 0", "--runs", code=2),
    mistake("run train.py --runs five", "--runs", "integer", code=2),
    mistake("run train.py --run 5", "--run", "--runs", code=2),
    mistake("run train.py --epochs 3", "--epochs", "--", code=2),
    mistake("run train.py --gpus-per-rnu 2", "--gpus-per-run", code=2),
    mistake("run train.py --until test_acc", "--until", "test_acc"),
    mistake("run train.py --until 'test_acc ±0.5' --min-runs 9 --max-runs 5", "--max-runs", "--min-runs"),
    mistake("run train.py --until 'test_acc ±1' --looks 5,10", "--until", "--looks"),
    mistake("run train.py --min-runs 5", "--min-runs", "--until"),
    mistake("run train.py --looks 10,5", "10,5"),
    mistake("run train.py --looks 5,10 --runs 7", "--looks", "--runs 7"),
    mistake("run train.py --budget 0", "--budget", "8h"),
    # what varies, and is kept
    mistake("run train.py --variants algoo", "algoo", "algo"),
    mistake("run train.py --variants ,", "--variants"),
    mistake("run train.py --capture logits", "--capture", "logits", "predictions"),
    mistake("run train.py --capture predictions --capture-limit lots", "--capture-limit", "lots", "1GB"),
    mistake("run train.py --capture-limit 1GB", "--capture"),
    mistake("run train.py --capture predictions --tta flipp", "--tta", "flipp", "flip"),
    mistake("run train.py --trackers on", "--trackers", "offline"),
    mistake("run train.py --keep some", "--keep", "best"),
    # the machine
    mistake("run train.py --timeout 0", "--timeout", "8h"),
    mistake("run train.py --stall-timeout soon", "--stall-timeout", "soon"),
    mistake("run train.py --jobs 0", "--jobs", code=2),
    mistake("run train.py --gpus 97", "--gpus", "97"),
    mistake("run train.py --gpus two", "--gpus", "two"),
    mistake("run train.py --gpus 0,0", "--gpus", "once"),
    mistake("run train.py --gpus 0 --gpus-per-run 2", "1 GPU", "--gpus-per-run"),
    mistake("run train.py --gpus-per-run 2", "--gpus-per-run", "--gpus"),
    mistake("run train.py --per-gpu 2", "--per-gpu", "--gpus"),
    mistake("run train.py --executor slum", "--executor", "slurm"),
    mistake("run train.py --executor slurm", "slurm", "sbatch"),
    mistake("run train.py --option partition=gpu", "--option", "--executor"),
    mistake("run train.py --executor ray --option memroy=1", "memroy", "memory"),
    mistake("run train.py --retries -1", "--retries", code=2),
    mistake("run train.py --ignore-failure oops", "--ignore-failure", "oops"),
    mistake("run train.py --requeue never", "--requeue", "continue"),
    # commands
    mistake("run train.py --python python9", "--python", "python9"),
    mistake("run train.py --wrap 'aptainer exec image.sif'", "--wrap", "aptainer"),
    mistake("run train.py --wrap ''", "--wrap"),
    mistake("run train.py --prepare 'mkae data'", "--prepare", "mkae"),
    mistake("run train.py --prepare 'python prepaer.py'", "--prepare", "prepaer.py"),
    mistake("run train.py --then 'pyhton eval.py'", "pyhton"),
    mistake("run train.py --then 'python evla.py'", "evla.py"),
    mistake("run train.py --then 'python \"eval.py'", "--then", "quotation"),
    mistake("run train.py --env BATCH", "--env", "KEY=VALUE"),
    mistake("run train.py --name a/b", "a/b", "letters"),
    mistake("run train.py --name ''", "letters"),
    mistake("run --versus a=train.py", "--versus", "two"),
    mistake("run --versus a=train.py --versus a=train.py", "--versus", "name"),
    mistake("run --versus train.py --versus b=train.py", "--versus", "NAME=COMMAND"),
    mistake("run --versus a=train.py --versus b=train.py --name x", "--name", "--versus"),
    mistake("run --versus a=train.py --versus b=new.py", "new.py", "train.py"),
    mistake("run train.py --versus a=train.py --versus b=train.py", "train.py", "--versus"),
    mistake("run train.py --sweep lr=1", "--sweep", "two values"),
    mistake("run train.py --sweep --lr=1,2 --paper paper", "--paper", "sweep"),
    # scripts
    mistake("run", "deviate run train.py"),
    mistake("run tarin.py", "tarin.py", "train.py"),
    mistake("run 'python train.py'", "deviate run -- python train.py"),
    mistake("run job.sh", "job.sh", "deviate run -- bash job.sh"),
    mistake("run labels.csv", "labels.csv", "Python"),
    mistake("run code", "code", "code/main.py", "deviate run"),
    mistake("run empty.py", "empty.py"),
    mistake("run syntax.py", "syntax.py:2"),
    mistake("run latin.py", "latin.py", "UTF-8"),
    mistake("run broken.ipynb", "broken.ipynb"),
    mistake("run busy.py --name busy", "busy", code=75),
    # records and files
    mistake("compare base", "base", "candidate"),
    mistake("compare base bsae", "bsae", "base"),
    mistake("compare base base", "base"),
    mistake("compare base strange", "acc", "f1", "--match"),
    mistake("compare base other --baseline new", "--baseline", "new", "base"),
    mistake("compare base other --match acc=f1", "--match", "f1", "acc"),
    mistake("compare base other --direction acc=up", "--direction", "up", "max"),
    mistake("compare base other --target acc=high", "--target", "high"),
    mistake("compare base other --metric f1", "f1", "acc"),
    mistake("compare base other --html .", "--html", "folder"),
    mistake("compare base other --aggregate at-best:ac", "ac", "Did you mean acc?"),
    mistake("compare base other --against 'acc=0.5, n=1'", "--against", "base and other", "deviate compare other"),
    mistake("compare base --against 'acc=0.5±0.1, n=5' --paired", "--paired", "--against"),
    mistake("compare base --against 'f1=0.5, n=1'", "f1", "acc"),
    mistake("compare base --against 'acc=0.5±0.1, n=5'", "±0.1", "SD, or SE"),
    mistake("check base other --margin -1", "--margin", "positive"),
    mistake("check base other --margin f1=1", "f1", "acc"),
    mistake("check base other --junit .", "--junit", "folder"),
    mistake("report nosuch", "nosuch", "base"),
    mistake("show base:control", "base", "control"),
    mistake("resume base", "base", "imported"),
    mistake("worker base", "--index", "--run"),
    mistake("compare base other --format xml", "xml", "csv"),
    mistake("import train.py", "train.py", "csv", "--format"),
    mistake("import missing.csv", "missing.csv"),
    mistake("plan --sd 0", "--sd"),
    mistake("plan --effect 1 --difference 1", "--effect", "--difference"),
    mistake("diverge train.py --variant controll", "controll", "control"),
    mistake("overhead train.py --variants control", "control"),
    mistake("clean nosuch", "nosuch"),
    mistake("doctor --python python9", "python9"),
    mistake("rnu train.py", "rnu", "run", code=2),
]

CONFIGS = [
    mistake("[experiment]\ntrian = 'train.py'", "trian", "train"),
    mistake("[experiment]\nruns = 'ten'", "runs", "ten", "integer"),
    mistake("[experiment]\nruns = \ntrain = 1", "deviate.toml", "line 2"),
    mistake("[experiment]\nvariants = ['algoo']", "algoo", "algo"),
    mistake("[metrics.test_acc]\nmargin = -1", "margin", "-1"),
    mistake("[metrics.test_acc]\naggregate = 'lats'", "lats", "last"),
    mistake("[experiment]\ntrain = 'tarin.py'", "tarin.py"),
    mistake("[capture]\nkeep = ['logits']", "logits", "predictions"),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with scripts of all kinds, and results on record."""
    folder = tmp_path_factory.mktemp("template")
    for name in ("train.py", "busy.py"):
        (folder / name).write_text(TRAIN.format(marker=str(folder / "trained")), encoding="utf-8")
    (folder / "eval.py").write_text("print('test_acc', 1.0)\n", encoding="utf-8")
    (folder / "job.sh").write_text("python train.py --lr 0.5\n", encoding="utf-8")
    (folder / "labels.csv").write_text("example,colour\n0,red\n1,blue\n", encoding="utf-8")
    (folder / "code").mkdir()
    (folder / "code/main.py").write_text(TRAIN.format(marker=""), encoding="utf-8")
    (folder / "empty.py").touch()
    (folder / "syntax.py").write_text("loss = 1\nprint('loss' loss)\n", encoding="utf-8")
    (folder / "latin.py").write_bytes("print('é', 1)\n".encode("latin-1"))
    (folder / "broken.ipynb").write_text('{"cells": [', encoding="utf-8")
    for name, metric in (("base", "acc"), ("other", "acc"), ("strange", "f1")):
        (folder / f"{name}.csv").write_text(
            f"run,{metric}\n" + "".join(f"{run},0.{run + 4}\n" for run in range(5)), encoding="utf-8"
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("base", "other", "strange"):
            assert run_arguments(["import", f"{name}.csv", "--name", name]) == 0
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, which is the working folder."""
    copy = tmp_path / "project"
    shutil.copytree(template, copy)
    monkeypatch.chdir(copy)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, path in {"python": sys.executable, "git": shutil.which("git"), "bash": shutil.which("bash")}.items():
        if path is not None:
            (programs / name).symlink_to(path)
    monkeypatch.setenv("PATH", str(programs))  # a machine without Slurm, and with one GPU
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    return copy


def refuse(folder: Path, template: Path, wrong: Mistake, arguments: list[str], output: pytest.CaptureFixture) -> None:
    """One message, which names all, and nothing begun."""
    before = sorted((folder / ".deviate/experiments").iterdir())
    output.readouterr()
    code = run_arguments(arguments)
    streams = output.readouterr()
    (template / "trained").unlink() if (is_trained := (template / "trained").exists()) else None
    assert not is_trained, f"trained, then said: {streams.err}"
    assert sorted((folder / ".deviate/experiments").iterdir()) == before
    assert code == wrong.code, streams
    assert streams.out == "" or code == 75  # that an experiment is in use is seen when it begins
    assert len(streams.err.splitlines()) <= 2, streams.err
    for word in wrong.words:
        assert word in streams.err


@pytest.mark.parametrize("wrong", MISTAKES, ids=lambda wrong: wrong.command)
def test_a_mistake_is_one_message_before_any_training(
    folder: Path, template: Path, wrong: Mistake, capsys: pytest.CaptureFixture
) -> None:
    arguments = shlex.split(wrong.command)
    if "busy" in arguments:
        with lock_folder(folder / ".deviate/experiments/busy", waits=False):
            refuse(folder, template, wrong, arguments, capsys)
    else:
        refuse(folder, template, wrong, arguments, capsys)


@pytest.mark.parametrize("wrong", CONFIGS, ids=lambda wrong: wrong.command.splitlines()[-1])
def test_a_mistake_in_the_settings_is_one_message_before_any_training(
    folder: Path, template: Path, wrong: Mistake, capsys: pytest.CaptureFixture
) -> None:
    (folder / "deviate.toml").write_text(wrong.command, encoding="utf-8")
    refuse(folder, template, wrong, ["run"] if "tarin" in wrong.command else ["run", "train.py"], capsys)

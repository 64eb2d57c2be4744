"""Disk space is given back: work copies go, logs and records stay, and what is being run is left alone."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from deviate.records.runs import read_claim, write_claim
from deviate.replay.adopt import temporary_prefix
from deviate.replay.cleanup import clean_up, disk_space, size

TRAIN = """\
import os, sys, time
from pathlib import Path

replicate = int(os.environ["DEVIATE_REPLICATE"])
for epoch in range(2):
    acc = [3.0, 9.0, 1.0, 5.0, 7.0][replicate] + epoch / 1000
    print("test acc %.4f" % acc)
    while "GO" in os.environ and not Path(os.environ["GO"]).exists():
        time.sleep(0.05)
Path("checkpoint.pt").write_bytes(os.urandom(200_000))
if replicate == 4:
    sys.exit(3)
"""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in the project folder."""
    (project / "train.py").write_text(TRAIN)
    (project / "data.bin").write_bytes(os.urandom(300_000))
    return deviate_in(project)


def copies(project: Path, name: str = "train") -> list[int]:
    """The replicates that have a work copy."""
    works = project.glob(f".deviate/experiments/{name}/runs/*/attempt-*/work")
    return sorted(json.loads((work.parents[1] / "spec.json").read_text())["replicate"] for work in works)


def files(folder: Path) -> dict[str, bytes]:
    """Every file of the records but those in work copies."""
    paths = [path for path in folder.rglob("*") if path.is_file() and "/work/" not in str(path)]
    return {str(path): path.read_bytes() for path in paths}


def test_work_copies_go_and_all_else_stays(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "5", "-j", "2").code == 3
    folder = project / ".deviate/experiments/train"
    before, report = files(folder), deviate("report", "train").out
    space = size(folder)
    tried = deviate("clean", "--dry-run")
    assert tried.out.endswith(" would be freed; nothing was removed.\n")
    assert "train  5 work copies  " in tried.out
    assert copies(project) == [0, 1, 2, 3, 4]
    done = deviate("clean", "train")
    assert done.code == 0, done.both
    assert copies(project) == []
    assert files(folder) == before
    assert deviate("report", "train").out == report
    told = clean_up(project / ".deviate", "train")
    assert (told.n_copies, told.n_bytes) == (0, 0)
    freed = space - size(folder)
    assert freed >= 1_000_000
    number, unit = done.out.split()[-3:-1]
    assert float(number) * {"kB": 1e3, "MB": 1e6}[unit] == pytest.approx(freed, rel=0.06)


def test_the_best_and_the_worst_are_kept(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "4", "-j", "2", "--variants", "as-is,control").code == 0
    answer = deviate("clean", "--keep", "best")
    assert answer.code == 0, answer.both
    assert "train  4 work copies, 4 kept  " in answer.out
    assert copies(project) == [1, 1, 2, 2]
    assert deviate("clean").code == 0
    assert copies(project) == []


def test_at_the_end_of_a_run_those_that_failed_are_spared(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "5", "-j", "2", "--keep", "best").code == 3
    assert copies(project) == [1, 2, 4]
    assert deviate("run", "train.py", "-q", "-r", "5", "-j", "2", "--keep", "none", "--name", "x").code == 3
    assert copies(project, "x") == [4]


def test_without_a_direction_both_ends_of_the_scores_stay(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "deviate.toml").write_text('[metrics.test_acc]\ndirection = "none"\n')
    assert deviate("run", "train.py", "-q", "-r", "3", "-j", "2").code == 0
    assert deviate("clean", "train", "--keep", "best").code == 0
    assert copies(project) == [1, 2]


def test_an_experiment_that_is_being_run_is_left_alone_and_others_are_not(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "1", "--name", "other").code == 0
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    go = project.parent / "go"
    command = [sys.executable, "-m", "deviate", "run", "train.py", "-q", "-r", "3", "-j", "1", "--env", f"GO={go}"]
    run = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL)
    try:
        while not list(project.glob(".deviate/experiments/train/runs/*/attempt-1/events-*")):
            assert run.poll() is None
            time.sleep(0.05)
        answer = deviate("clean")
        assert f"train is being run by process {run.pid}: nothing of it was removed" in answer.err
        assert "other  1 work copy  " in answer.out
        assert copies(project, "other") == []
        assert copies(project)
        assert deviate("clean", "train").code == 1
        run.send_signal(signal.SIGKILL)
        run.wait()
        orphaned = deviate("clean", "train")
        assert orphaned.code == 1
        assert "left behind by a killed deviate: nothing of it was removed" in orphaned.err
    finally:
        run.kill()
        run.wait()
        go.touch()
    assert deviate("resume", "train", "-q").code == 0
    assert deviate("clean", "train").code == 0
    assert copies(project) == []


def test_only_temporary_folders_of_runs_are_removed(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "2").code == 0
    precious = project / "precious"
    precious.mkdir()
    one, other = project.glob(".deviate/experiments/train/runs/*/attempt-1")
    ours = Path(tempfile.mkdtemp(prefix=temporary_prefix(one)))
    for attempt, place in ((one, ours), (other, precious)):
        (place / "file").write_bytes(b"x" * 10_000)
        claim = read_claim(attempt)
        assert claim is not None
        write_claim(attempt, dataclasses.replace(claim, temporary=str(place)))
        if place != precious:
            temporary = place
    answer = deviate("clean")
    assert "2 work copies, 1 other folder" in answer.out
    assert not temporary.exists()
    assert (precious / "file").exists()


def test_old_folders_of_the_cache_go_with_all_experiments_alone(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "1").code == 0
    cache = project / ".deviate/cache"
    for name in ("staged-1", "staged-2"):
        (cache / name).mkdir(parents=True)
        (cache / name / "file").write_bytes(b"x" * 100_000)
    os.utime(cache / "staged-1", (1, 1))
    deviate("clean", "train")
    assert (cache / "staged-1").exists()
    assert "cache  1 other folder  1" in deviate("clean").out
    assert [path.name for path in cache.iterdir()] == ["staged-2"]


def test_files_that_have_another_name_give_no_space_back(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "data").write_bytes(b"x" * 1_000_000)
    (folder / "link").hardlink_to(tmp_path / "data")
    (folder / "pointer").symlink_to(tmp_path)
    (folder / "own").write_bytes(b"x" * 100_000)
    assert 1_100_000 <= size(folder) < 1_200_000
    assert 100_000 <= disk_space(folder) < 200_000


def test_the_best_run_is_the_best_in_the_metric_that_the_plan_names(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    report = '    print("test acc %.4f" % acc)\n'
    (project / "train.py").write_text(TRAIN.replace(report, f'{report}    print("test loss %.4f" % (acc % 7))\n'))
    assert deviate("run", "train.py", "-q", "-r", "3", "-j", "2", "--metric", "test_loss").code == 0
    assert deviate("clean", "train", "--keep", "best").code == 0
    assert copies(project) == [0, 2]

"""Experiments under fire come to the table of undisturbed ones; what is done to them is in support/survival.py."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from survival import TRAIN, Arena, Ordeal, is_fault

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs to see the processes of others")
LIMIT = """\
import os
if not os.path.exists(os.environ["SURVIVAL_MARKS"] + "/free"):
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"""
KILLS = {"parent": 4, "group": 4, "run": 4, "worker": 4}


def assert_survived(arena: Arena, undisturbed: Arena, n_runs: int) -> None:
    """Nothing lost, nothing twice, nothing alive, and never two attempts of one run at once."""
    assert not arena.marked("overlap")
    assert not arena.processes()
    assert not arena.left_over()
    assert undisturbed.run(n_runs).returncode == 0
    table = arena.table()
    assert table == undisturbed.table()
    assert [status for status, _ in table.values()] == ["completed"] * n_runs


@pytest.mark.slow
def test_an_experiment_survives_kills_with_the_table_of_an_undisturbed_one(tmp_path: Path) -> None:
    arena = Arena(tmp_path / "fire")
    ordeal = Ordeal(arena, 20, KILLS, n_runs=8, truncations=3)
    figures = ordeal.endure()
    assert dict(figures.kills) == KILLS
    assert dict(figures.truncated) == {"during": 3, "after": 3}
    assert_survived(arena, Arena(tmp_path / "calm"), ordeal.n_runs)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("resume", "train", "-q"), ("run", "train.py", "-r", "4", "--seed", "7", "-q")])
def test_of_several_that_begin_at_once_exactly_one_works_and_the_others_say_who(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    undisturbed = Arena(tmp_path / "calm")
    arena = Arena(tmp_path / "several")
    (arena.marks / "hold").touch()  # who comes when all is done would find it on record
    if words[0] == "resume":
        first = arena.start("run", "train.py", "-r", "4", "--seed", "7", "-q")
        while not arena.marked("begin") and first.poll() is None:
            time.sleep(0.02)
        first.kill()
        first.communicate()
    several = [arena.start(*words) for _ in range(3)]
    until = time.monotonic() + 600
    while sum(process.poll() is None for process in several) > 1:
        assert time.monotonic() < until
        time.sleep(0.02)
    (arena.marks / "hold").unlink()
    said = {process.pid: process.communicate(timeout=600)[0] for process in several}
    (winner,) = [process.pid for process in several if process.returncode == 0]
    for process in several:
        if process.pid != winner:
            assert process.returncode == 75
            assert f"by process {winner}" in said[process.pid]
    assert_survived(arena, undisturbed, 4)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 12 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("mounting a small file system is not allowed here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> None:
    """Leave not a byte."""
    with contextlib.suppress(OSError), (place / "filler").open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)


@pytest.mark.slow
def test_a_disk_that_runs_full_again_and_again_costs_runs_and_no_results(small_disk: Path, tmp_path: Path) -> None:
    arena = Arena(small_disk, marks_in=tmp_path / "marks")
    n_stopped = 0
    for wait_s in (0.0, 0.4, 0.2, 0.7):
        process = arena.start("run", "train.py", "-r", "12", "--seed", "7", "-j", "2", "-q")
        before = len(arena.marked("begin"))
        while len(arena.marked("begin")) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(wait_s)
        fill(small_disk)
        said = process.communicate(timeout=600)[0]
        assert not is_fault(said), said
        assert process.returncode in (0, 1, 3)
        if process.returncode == 1:
            assert "No space left on device" in said or "nearly full" in said
            n_stopped += 1
        (small_disk / "filler").unlink()
        if process.returncode == 0:
            break
    assert n_stopped
    assert arena.run(12).returncode == 0
    assert_survived(arena, Arena(tmp_path / "calm"), 12)


def test_bytecode_of_the_guest_that_a_full_disk_has_cut_off_changes_no_result(tmp_path: Path) -> None:
    """Without its adapters the guest would let a run draw what it likes, and the run would count."""
    arena = Arena(tmp_path / "fire")
    assert arena.run(2).returncode == 0
    cut = list(arena.experiment.glob("snapshot/guest/**/*.pyc"))
    assert cut
    for path in cut:
        os.truncate(path, path.stat().st_size - 10)
    assert arena.run(4).returncode == 0
    assert_survived(arena, Arena(tmp_path / "calm"), 4)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [400, 1400])
def test_a_limit_of_file_sizes_that_runs_inherit_costs_runs_and_no_results(tmp_path: Path, limit: int) -> None:
    """In bytes: less than what a run records, so that its event file is cut off, or first what the script writes."""
    arena = Arena(tmp_path / "limited")
    (arena.project / "train.py").write_text(f"import resource\n{LIMIT.format(limit=limit)}\n" + TRAIN)
    undisturbed = Arena(tmp_path / "calm")
    (undisturbed.project / "train.py").write_text((arena.project / "train.py").read_text())
    limited = arena.run(2, "--retries", "0")
    assert limited.returncode == 3, limited.stdout
    assert {status for status, _ in arena.table().values()} <= {"lost", "crashed"}
    (arena.marks / "free").touch()
    (undisturbed.marks / "free").touch()
    assert arena.run(2).returncode == 0
    assert_survived(arena, undisturbed, 2)

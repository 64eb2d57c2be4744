"""What the guest tells of a checkpoint is read once, and told with the ways out."""

import subprocess
from pathlib import Path

import pytest

from deviate.eventlog import BY_NAME, encode
from deviate.replay.progress import CheckpointWatch, checkpoint_error


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    folder = tmp_path / "attempt-1"
    (folder / "work" / "home" / "project").mkdir(parents=True)
    (folder / "events-1-1.jsonl").write_text(encode("start", 1, {}))
    return folder


def add(attempt: Path, text: str) -> None:
    with (attempt / "events-1-1.jsonl").open("a") as file:
        file.write(text)


def test_a_run_that_tells_nothing_started_from_nothing(attempt: Path) -> None:
    add(attempt, '[0, 0, [], 0.1, 0.5, "[\\"checkpoint\\", 1]"]\n')
    assert CheckpointWatch(attempt).look() is None


def test_the_file_is_found_as_soon_as_its_line_is_whole(attempt: Path) -> None:
    watch = CheckpointWatch(attempt)
    line = encode("checkpoint", "runs/last.pt", "the run writes it again")
    add(attempt, line[:20])
    assert watch.look() is None
    add(attempt, line[20:])
    assert watch.look() == ("runs/last.pt", "the run writes it again")
    assert watch.look() is None
    assert CheckpointWatch(attempt).look() == ("runs/last.pt", "the run writes it again")


def test_a_checkpoint_that_git_tracks_is_part_of_the_project_unless_the_run_writes_it_again(attempt: Path) -> None:
    root = attempt / "work" / "home" / "project"
    (root / "checkpoint.pt").write_bytes(b"weights")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    add(attempt, encode("checkpoint", "checkpoint.pt", BY_NAME))
    assert CheckpointWatch(attempt).look() == ("checkpoint.pt", BY_NAME)
    subprocess.run(["git", "-C", str(root), "add", "checkpoint.pt"], check=True)
    assert CheckpointWatch(attempt).look() is None
    add(attempt, encode("checkpoint", "checkpoint.pt", "the run writes it again"))
    assert CheckpointWatch(attempt).look() is not None


def test_the_error_names_the_file_and_the_folder_that_has_to_be_fresh() -> None:
    error = checkpoint_error("checkpoints/last.pt", "the main loop begins at 3")
    assert "checkpoints/last.pt" in error.message
    assert "the main loop begins at 3" in error.message
    assert '[snapshot] fresh = ["checkpoints/"]' in error.hint
    assert 'fresh = ["last.pt"]' in checkpoint_error("last.pt", BY_NAME).hint
    assert "fresh" not in checkpoint_error("/data/last.pt", BY_NAME).hint

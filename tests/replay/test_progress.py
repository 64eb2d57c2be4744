"""Progress read from growing event files."""

from collections.abc import Callable
from pathlib import Path

from recorded import start, value_line

from deviate.eventlog import encode
from deviate.records.snapshot import read_manifest
from deviate.replay.progress import Progress
from deviate.replay.slots import default_jobs

from .conftest import Frozen


def test_the_last_step_is_seen_and_nothing_twice(frozen: Callable[..., Frozen], tmp_path: Path) -> None:
    manifest = read_manifest(frozen().snapshot.folder)
    progress = Progress(tmp_path, manifest)
    assert not progress.look()
    path = tmp_path / "events-1-1.jsonl"
    path.write_text(start() + encode("step", 0, 4, 0.1) + value_line(0, 0.5) + encode("step", 7, 9, 0.2) + '["st')
    assert progress.look()
    assert progress.step == 4
    assert not progress.look()
    with path.open("a") as file:
        file.write('ep", 0, 5, 0.3]\n' + value_line(1, 9))
    assert progress.look()
    assert progress.step == 5


def test_a_long_file_is_read_at_its_end_only(frozen: Callable[..., Frozen], tmp_path: Path) -> None:
    progress = Progress(tmp_path, read_manifest(frozen().snapshot.folder))
    lines = [encode("step", 0, index, 0.1) + value_line(0, float("nan")) for index in range(5000)]
    (tmp_path / "events-1-1.jsonl").write_text(start() + "".join(lines))
    assert progress.look()
    assert progress.step == 4999


def test_there_is_always_one_job() -> None:
    assert default_jobs() >= 1

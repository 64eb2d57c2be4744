"""A snapshot that is taken over by another experiment is the same one, and takes no room."""

import json
from pathlib import Path

import pytest
from frozen import TRAIN, analysis_of

from deviate.base.digests import with_digest
from deviate.instrument.snapshot import changed_files, freeze, take_over
from deviate.model.plan import Snapshot

LARGE = b"x" * (1 << 20) + b"y"


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    root = tmp_path / "project"
    (root / "data").mkdir(parents=True)
    (root / "train.py").write_text(TRAIN)
    (root / "data/large.bin").write_bytes(LARGE)
    (root / "data/small.csv").write_text("1")
    (root / "link.csv").symlink_to("data/small.csv")
    return freeze(analysis_of(root), tmp_path / "one")


def files(folder: Path) -> dict[str, Path]:
    return {str(it.relative_to(folder)): it for it in folder.rglob("*") if it.is_file()}


def test_all_files_are_those_of_the_first_but_for_what_the_guest_is_told(snapshot: Snapshot, tmp_path: Path) -> None:
    taken = take_over(snapshot, tmp_path / "two")
    assert (taken.folder, taken.sources_hash) == (tmp_path / "two", snapshot.sources_hash)
    assert changed_files(snapshot.folder, taken.folder) == ()
    mine, theirs = files(snapshot.folder), files(taken.folder)
    assert mine.keys() == theirs.keys()
    own = [name for name in mine if not mine[name].samefile(theirs[name])]
    assert own == ["guest/_deviate_guest/manifest.json"]
    told = json.loads(theirs[own[0]].read_text())
    assert told["originals"] == str(tmp_path / "two" / "originals")
    first = with_digest({**told, "originals": str(tmp_path / "one" / "originals")})
    assert json.loads(mine[own[0]].read_text()) == first
    assert (taken.folder / "tree/link.csv").is_symlink()


def test_what_an_interrupted_attempt_left_is_replaced(snapshot: Snapshot, tmp_path: Path) -> None:
    (tmp_path / "two/tree").mkdir(parents=True)
    (tmp_path / "two/tree/half.bin").write_text("?")
    take_over(snapshot, tmp_path / "two")
    assert not (tmp_path / "two/tree/half.bin").exists()


def test_the_second_outlives_the_first(snapshot: Snapshot, tmp_path: Path) -> None:
    taken = take_over(snapshot, tmp_path / "two")
    for file in files(snapshot.folder).values():
        file.unlink()
    assert (taken.folder / "tree/data/small.csv").read_text() == "1"

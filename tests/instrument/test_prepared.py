"""What a preparing command left in the tree is shared by the runs where it is large or much."""

import json
from pathlib import Path

import pytest
from frozen import TRAIN, analysis_of

from deviate.base.digests import with_digest
from deviate.errors import RecordError
from deviate.instrument.snapshot import changed_files, freeze, note_prepared
from deviate.model.plan import Snapshot

LARGE = b"x" * (1 << 20) + b"y"


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text(TRAIN)
    (root / "large.bin").write_bytes(LARGE)
    (root / "gone.bin").write_bytes(LARGE)
    (root / "small.csv").write_text("1")
    return freeze(analysis_of(root), tmp_path / "s")


def prepared(snapshot: Snapshot) -> dict[str, str | None]:
    found = json.loads((snapshot.folder / "manifest.json").read_bytes())["prepared"]
    return {name: entry and entry["kind"] for name, entry in found.items()}


def test_where_nothing_was_prepared_nothing_is_entered(snapshot: Snapshot) -> None:
    before = json.loads((snapshot.folder / "manifest.json").read_bytes())
    note_prepared(snapshot)
    assert json.loads((snapshot.folder / "manifest.json").read_bytes()) == with_digest({
        **before, "prepared": {}
    })  # fmt: skip


def test_large_files_and_crowds_are_shared_and_small_ones_and_code_are_not(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = snapshot.folder / "tree"
    (tree / "made.bin").write_bytes(LARGE)
    (tree / "made.py").write_bytes(b"#" * len(LARGE))
    (tree / "made.csv").write_text("2")
    (tree / "images").mkdir()
    for number in range(3):
        (tree / f"images/{number}.png").touch()
    monkeypatch.setattr("deviate.instrument.tree.CROWD_ABOVE", 2)
    note_prepared(snapshot)
    assert prepared(snapshot) == dict.fromkeys(["images/0.png", "images/1.png", "images/2.png", "made.bin"], "shared")


def test_what_was_linked_and_is_something_else_now_is_entered_as_it_is(snapshot: Snapshot) -> None:
    tree = snapshot.folder / "tree"
    (tree / "gone.bin").unlink()
    (tree / "large.bin").unlink()
    (tree / "large.bin").write_bytes(b"small now")
    (tree / "small.csv").write_text("other")
    note_prepared(snapshot)
    note_prepared(snapshot)
    assert prepared(snapshot) == {"large.bin": "copied", "gone.bin": None}


def test_what_was_prepared_is_no_change_of_the_project(snapshot: Snapshot, tmp_path: Path) -> None:
    (snapshot.folder / "tree/made.bin").write_bytes(LARGE)
    note_prepared(snapshot)
    again = freeze(analysis_of(snapshot.root), tmp_path / "again")
    assert changed_files(snapshot.folder, again.folder) == ()


def test_a_snapshot_without_a_manifest_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="manifest"):
        note_prepared(Snapshot(tmp_path, tmp_path, ""))

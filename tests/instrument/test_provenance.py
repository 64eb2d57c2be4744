"""What git says of a project when it is frozen."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
from frozen import TRAIN, analysis_of

from deviate.base.digests import with_digest
from deviate.instrument.git import LONGEST_DIFF, freeze_provenance
from deviate.instrument.snapshot import freeze
from deviate.model.records import Revision
from deviate.records.snapshot import read_manifest


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit: a script, and a script whose name git quotes."""
    root = tmp_path / "root"
    root.mkdir()
    for name in ("train.py", "größer als.py"):
        (root / name).write_text(TRAIN)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def test_a_clean_checkout_has_a_commit_and_no_diff(root: Path, tmp_path: Path) -> None:
    state = freeze_provenance(root, tmp_path / "git.diff")
    assert state is not None
    assert (state.commit, state.branch, state.is_dirty) == (git(root, "rev-parse", "HEAD").strip(), "main", False)
    assert (state.n_untracked, state.untracked) == (0, ())
    assert not (tmp_path / "git.diff").exists()


def test_the_diff_brings_another_checkout_to_the_same_text(root: Path, tmp_path: Path) -> None:
    git(root, "config", "diff.external", "false")
    git(root, "config", "color.ui", "always")
    (root / "größer als.py").write_text("staged = 1\n")
    git(root, "add", ".")
    (root / "größer als.py").write_text("changed = 1\n")
    (root / "train.py").unlink()
    git(root, "clone", "-q", str(root), str(tmp_path / "clone"))
    state = freeze_provenance(root, tmp_path / "git.diff")
    assert state is not None
    assert state.is_dirty
    git(tmp_path / "clone", "apply", str(tmp_path / "git.diff"))
    assert (tmp_path / "clone/größer als.py").read_text() == "changed = 1\n"
    assert not (tmp_path / "clone/train.py").exists()


def test_sources_that_are_not_tracked_are_named_and_data_are_counted(root: Path, tmp_path: Path) -> None:
    (root / ".gitignore").write_text("out/\n")
    git(root, "add", ".gitignore")
    git(root, "commit", "-q", "-m", "ignore")
    for name in ("new/model.py", "new/weights.bin", "out/x.py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x")
    state = freeze_provenance(root, tmp_path / "git.diff")
    assert state is not None
    assert (state.n_untracked, state.untracked, state.is_dirty) == (2, ("new/model.py",), False)


def test_a_long_diff_is_cut_at_a_line_and_contents_of_binary_files_are_left_out(root: Path, tmp_path: Path) -> None:
    (root / "a.bin").write_bytes(bytes(range(256)) * 40)
    git(root, "add", "a.bin")
    short = freeze_provenance(root, tmp_path / "git.diff")
    assert short is not None
    assert not short.is_cut
    assert "Binary files" in (tmp_path / "git.diff").read_text()
    (root / "train.py").write_text("x = 12345678\n" * 200_000)
    state = freeze_provenance(root, tmp_path / "git.diff")
    assert state is not None
    assert state.is_cut
    kept = (tmp_path / "git.diff").read_bytes()
    assert LONGEST_DIFF - 100 < len(kept) <= LONGEST_DIFF
    assert kept.endswith(b"\n+x = 12345678\n")


def test_the_users_repository_is_left_as_it_was(root: Path, tmp_path: Path) -> None:
    (root / "train.py").touch()
    before = {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()}
    freeze_provenance(root, tmp_path / "git.diff")
    assert {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()} == before


def test_before_the_first_commit_and_without_a_branch_there_is_none(root: Path, tmp_path: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    detached = freeze_provenance(root, tmp_path / "git.diff")
    assert detached is not None
    assert detached.branch is None
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q", "-b", "trunk")
    fresh = freeze_provenance(empty, tmp_path / "git.diff")
    assert fresh is not None
    assert (fresh.commit, fresh.branch) == (None, "trunk")


def test_without_a_repository_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert freeze_provenance(tmp_path, tmp_path / "git.diff") is None
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert freeze_provenance(tmp_path, tmp_path / "git.diff") is None


def test_the_snapshot_keeps_it_and_records_read_it(root: Path, tmp_path: Path) -> None:
    (root / "train.py").write_text(TRAIN + "# edited\n")
    snapshot = freeze(analysis_of(root), tmp_path / "s")
    assert "+# edited" in (snapshot.folder / "git.diff").read_text()
    commit = git(root, "rev-parse", "HEAD").strip()
    assert read_manifest(snapshot.folder).git == Revision(commit, "main", is_dirty=True, n_untracked=0)
    manifest = json.loads((snapshot.folder / "manifest.json").read_bytes())
    assert manifest["git"] == json.loads(json.dumps(asdict(freeze_provenance(root, tmp_path / "again.diff"))))
    del manifest["git"]
    (snapshot.folder / "manifest.json").write_text(json.dumps(with_digest(manifest)))
    assert read_manifest(snapshot.folder).git is None

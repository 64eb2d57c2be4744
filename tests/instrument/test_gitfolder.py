"""The private git folder: what the user had not committed stays visible in it."""

import subprocess
from pathlib import Path

import pytest

from deviate.instrument.git import freeze_git


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit: a script, and a script whose name git quotes."""
    root = tmp_path / "root"
    root.mkdir()
    for name in ("train.py", "größer als.py"):
        (root / name).write_text("loss = 1\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def tapped(root: Path, tmp_path: Path, name: str) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    for file in root.glob("*.py"):
        (tree / file.name).write_text(file.read_text() + ("# tapped\n" if file.name == name else ""))
    assert freeze_git(root, tree, changed=[name], linked=[]) is None
    return tree


@pytest.mark.parametrize("name", ["train.py", "größer als.py"])
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_tapped_file_shows_as_changed_only_if_the_user_changed_it(
    root: Path, tmp_path: Path, name: str, *, is_changed: bool
) -> None:
    if is_changed:
        (root / name).write_text("loss = 2\n")
    tree = tapped(root, tmp_path, name)
    for query in (("status", "--porcelain"), ("describe", "--always", "--dirty"), ("diff", "--stat", "--shortstat")):
        assert (git(tree, *query) == "") == (git(root, *query) == "")
    assert git(tree, "status", "--porcelain") == git(root, "status", "--porcelain")
    assert ("+loss = 2" in git(tree, "diff")) == is_changed

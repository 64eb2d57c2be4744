"""The files of a folder are those that a person wrote."""

import subprocess
from pathlib import Path

import pytest

from deviate.analysis.entries import project_files


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n", encoding="utf-8")


FOREIGN = [
    ".hidden/a.py",
    "venv/lib/a.py",
    "site-packages/a.py",
    "node_modules/a/b.py",
    "pkg/__pycache__/a.py",
    "my-environment/lib/a.py",
]


@pytest.mark.parametrize("is_git", [False, True])
def test_environments_caches_and_packages_are_left(tmp_path: Path, *, is_git: bool) -> None:
    write(tmp_path, "train.py", "pkg/deep/model.py", "my-environment/pyvenv.cfg", "README.md", "Makefile", "a.ipynb")
    write(tmp_path, *FOREIGN)
    if is_git:
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    found = project_files(tmp_path)
    assert found.scripts == ("train.py", "pkg/deep/model.py")
    assert found.notebooks == ("a.ipynb",)
    assert found.documents == ("Makefile", "README.md")


def test_what_git_ignores_is_left_and_what_it_does_not_know_yet_is_not(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    write(tmp_path, "old.py", "new.py", "out/copy.py", "gone.py")
    (tmp_path / ".gitignore").write_text("out/\n")
    subprocess.run(["git", "add", "old.py", "gone.py"], cwd=tmp_path, check=True)
    (tmp_path / "gone.py").unlink()
    assert project_files(tmp_path).scripts == ("new.py", "old.py")
    assert project_files(tmp_path / "out").scripts == ("copy.py",), "a folder named by the user is looked into"


def test_circles_of_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "a/train.py")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    assert project_files(tmp_path).scripts == ("a/train.py",)

"""The project at a commit: what is laid out, what is linked from the working tree, and that nothing of it stays."""

from pathlib import Path

import pytest
from gates import commit_all, git

from deviate.errors import InputError
from deviate.project.refs import Reference, checked_out, find_reference


@pytest.fixture
def repository(project: Path) -> Path:
    """A project in git with a script, and a data folder that git ignores."""
    (project / "train.py").write_text("committed")
    (project / ".gitignore").write_text("data/\n.venv/\n*.log\n__pycache__/\n")
    (project / "data/inner").mkdir(parents=True)
    (project / "data/inner/x.txt").write_text("x")
    commit_all(project)
    (project / "train.py").write_text("changed")
    return project


def test_a_commit_is_found_by_branch_tag_hash_or_the_remote_that_has_it(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "v1")
    git(repository, "update-ref", "refs/remotes/origin/release", commit)
    for ref, name in (("main", "main"), ("v1", "v1"), (commit[:8], commit[:8]), ("release", "origin/release")):
        assert find_reference(repository, ref) == Reference(name, commit)
    for bad in ("nowhere", "--help", "main..HEAD", ""):
        with pytest.raises(InputError, match="there is no such branch, tag or commit"):
            find_reference(repository, bad)


def test_a_folder_without_git_is_refused(project: Path) -> None:
    with pytest.raises(InputError, match="is not in a git repository"):
        find_reference(project, "main")


@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("main", "train@main-0123456789"),
        ("origin/feat/ä b", "train@origin-feat---b-0123456789"),
        ("0123456", "train@0123456789"),
    ],
)
def test_experiments_are_called_after_what_was_asked_for_and_the_commit(name: str, experiment: str) -> None:
    assert Reference(name, "0123456789abcdef").experiment("train") == experiment


def test_the_commit_is_laid_out_with_what_git_ignores_and_is_gone_afterwards(repository: Path) -> None:
    (repository / "new.py").write_text("not committed")
    (repository / "run.log").write_text("log")
    (repository / "__pycache__").mkdir()
    (repository / "__pycache__/train.pyc").write_bytes(b"stale")
    (repository / ".venv").mkdir()
    (repository / ".venv/pyvenv.cfg").write_text("home = /usr")
    (repository / "deviate.toml").write_text("[experiment]\n")
    with checked_out(repository, find_reference(repository, "main"), repository / ".deviate") as checkout:
        place = checkout.place
        assert (place / "train.py").read_text() == "committed"
        assert (place / "data/inner/x.txt").samefile(repository / "data/inner/x.txt")
        assert (place / "run.log").read_text() == "log"
        assert (place / ".venv").readlink() == repository / ".venv"
        assert (place / "deviate.toml").read_text() == "[experiment]\n"
        assert not (place / "deviate.toml").samefile(repository / "deviate.toml")
        assert not (place / "new.py").exists()
        assert not (place / "__pycache__").exists()
        assert place.name == repository.name
    assert not place.parent.exists()
    assert git(repository, "worktree", "list").count("\n") == 0
    assert (repository / "data/inner/x.txt").read_text() == "x"
    assert (repository / ".venv/pyvenv.cfg").exists()


def test_what_the_commit_tracks_is_not_replaced_by_what_is_ignored_now(repository: Path) -> None:
    git(repository, "add", "--force", "data/inner/x.txt")
    git(repository, "commit", "--quiet", "--message", "tracked")
    git(repository, "rm", "--quiet", "--cached", "data/inner/x.txt")
    (repository / "data/inner/x.txt").write_text("other")
    (repository / "data/inner/y.txt").write_text("y")
    with checked_out(repository, find_reference(repository, "main"), repository / ".deviate") as checkout:
        assert (checkout.place / "data/inner/x.txt").read_text() == "x"
        assert (checkout.place / "data/inner/y.txt").read_text() == "y"


def test_links_mean_what_they_mean_in_the_project(repository: Path) -> None:
    (repository.parent / "beside.txt").write_text("beside")
    (repository / "relative").symlink_to("../beside.txt")
    (repository / "absolute").symlink_to(repository / "train.py")
    (repository / "within").symlink_to("train.py")
    git(repository, "add", "relative", "absolute", "within")
    git(repository, "commit", "--quiet", "--message", "links")
    with checked_out(repository, find_reference(repository, "main"), repository / ".deviate") as checkout:
        texts = {name: (checkout.place / name).read_text() for name in ("relative", "absolute", "within")}
        assert texts == {"relative": "beside", "absolute": "committed", "within": "committed"}
        assert git(checkout.place, "status", "--porcelain") == ""


def test_a_fault_leaves_no_checkout_behind(repository: Path) -> None:
    reference = find_reference(repository, "main")
    with (
        pytest.raises(KeyboardInterrupt),
        checked_out(repository, reference, repository / ".deviate") as checkout,
    ):
        raise KeyboardInterrupt
    assert not checkout.place.exists()
    with (
        pytest.raises(InputError, match="checkout of"),
        checked_out(repository, Reference("main", "0" * 40), repository / ".deviate"),
    ):
        pass
    assert not list((repository / ".deviate/cache").iterdir())
    assert not list((repository / ".git/worktrees").glob("*"))


def test_hooks_of_the_user_do_not_run_and_submodules_are_told_of(repository: Path) -> None:
    hook = repository / ".git/hooks/post-checkout"
    hook.write_text("#!/bin/sh\ntouch hooked\n")
    hook.chmod(0o755)
    (repository / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = ../x\n')
    commit_all(repository)
    with checked_out(repository, find_reference(repository, "main"), repository / ".deviate") as checkout:
        assert not (checkout.place / "hooked").exists()
        assert checkout.notes == ("submodules are not checked out at the commit: their folders are empty there",)

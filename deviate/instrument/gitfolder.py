"""A private git folder for the tree, in which runs can read the history, and files with taps appear unchanged.

It shares the objects of the user's repository without writing to it. If git is missing or cannot read the repository,
the tree has no git folder, and runs do not fail.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from deviate.base import run_git

OF_THE_CHECKOUT = ("HEAD", "index", "ORIG_HEAD")
OF_THE_REPOSITORY = ("config", "packed-refs", "refs", "reftable", "info", "shallow")


def freeze_git(root: Path, tree: Path, *, changed: Sequence[str], linked: Sequence[str]) -> str | None:
    """Create a `.git` in `tree` if `root` has one.

    Args:
        changed: files and folders that differ from the original by our doing: instrumented, emptied.
        linked: folders that the tree only points to.

    Returns:
        A warning when the history will not be readable in the runs, else None.
    """
    if not (root / ".git").exists():
        return None
    private = tree / ".git"
    try:
        checkout = Path(run_git(root, "rev-parse", "--absolute-git-dir").strip())
        repository = Path(root, run_git(root, "rev-parse", "--git-common-dir").strip()).resolve()
        _copy(checkout, private, (*OF_THE_CHECKOUT, *(path.name for path in checkout.glob("sharedindex.*"))))
        _copy(repository, private, OF_THE_REPOSITORY)
        _share_objects(repository, private)
        _configure(root, private)
        if (private / "index").exists():
            _hide(root, tree, changed, linked)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(private, ignore_errors=True)
        detail = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        return f"the git history of {root} is not readable in the runs: {detail}"
    return None


def _copy(source: Path, target: Path, names: Iterable[str]) -> None:
    target.mkdir(exist_ok=True)
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name)
        elif (source / name).exists():
            shutil.copy2(source / name, target / name)


def _share_objects(repository: Path, private: Path) -> None:
    (private / "objects" / "info").mkdir(parents=True)
    (private / "refs").mkdir(exist_ok=True)
    alternates = private / "objects" / "info" / "alternates"
    alternates.write_bytes(os.fsencode(repository / "objects") + b"\n")


def _configure(root: Path, private: Path) -> None:
    """Remove settings that refer to the user's checkout: the folder of a submodule, and file monitors.

    This runs in the root, since in the tree git would follow the setting to be removed.
    """
    change = ("config", "--file", str((private / "config").absolute()))
    with contextlib.suppress(subprocess.CalledProcessError):  # there is none to unset
        run_git(root, *change, "--unset-all", "core.worktree")
    for key in ("core.bare", "core.fsmonitor", "core.untrackedCache"):
        run_git(root, *change, key, "false")


def _hide(root: Path, tree: Path, changed: Sequence[str], linked: Sequence[str]) -> None:
    """Mark files changed by deviate as unchanged, except those that the user had changed before."""
    if linked:
        (tree / ".git" / "info").mkdir(exist_ok=True)
        with (tree / ".git" / "info" / "exclude").open("a", encoding="utf-8") as exclude:
            exclude.writelines(f"\n/{name}" for name in linked)
    if changed or linked:
        ours = ("--literal-pathspecs", "ls-files", "-z")
        tracked = run_git(tree, *ours, "--", *changed, *linked).split("\0")
        of_the_user = set(run_git(root, *ours, "--modified", "--", *changed, *linked).split("\0"))
        hidden = "".join(f"{name}\0" for name in tracked if name and name not in of_the_user)
        run_git(tree, "update-index", "-z", "--assume-unchanged", "--stdin", text=hidden)

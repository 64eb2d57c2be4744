"""Git of a frozen project: its state when it was frozen, and the history that runs can read."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from deviate.base.git import git_environment, run_git, safe_git
from deviate.model.records import Revision

# ---------------------------------------------------------------- the history in the runs
#
# A private git folder for the tree, in which runs can read the history, and files with taps appear unchanged.
#
# It shares the objects of the user's repository without writing to it. If git is missing or cannot read the repository,
# the tree has no git folder, and runs do not fail.

OF_THE_CHECKOUT = ("HEAD", "index", "ORIG_HEAD")
OF_THE_REPOSITORY = ("config", "packed-refs", "refs", "reftable", "info", "shallow")


def freeze_git(root: Path, tree: Path, *, changed: Sequence[str], linked: Sequence[str]) -> str | None:
    """Create a `.git` in `tree` if `root` has one.

    Args:
        changed: files and folders that differ from the original by our doing: instrumented, emptied.
        linked: folders that the tree only points to.

    Returns:
        A warning if runs cannot read the history, else None.
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
        return f"runs cannot read the git history of {root}: {detail}"
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


# ---------------------------------------------------------------- the state of the project

LONGEST_DIFF = 1 << 20
"""Maximum size of the stored diff in bytes; longer diffs are data or generated, and the snapshot has the sources."""
MOST_NAMED = 1_000
INSIDE = "--ignore-submodules=dirty"
"""Flags that keep git out of submodules, which have their own settings; a change of their commit is still visible."""
SOURCES = (
    *(".py", ".pyx", ".pyi", ".ipynb", ".sh", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".rs", ".jl", ".R"),
    *(".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".gin", ".txt"),
)


def freeze_provenance(root: Path, diff: Path) -> Revision | None:
    """Query the git state of the project at `root`, and write uncommitted changes to the file `diff`.

    Secrets are not redacted, since the diff contains source text, which is in the snapshot anyway. Binary files are
    left out.

    Returns: None where there is no repository, no git, or git cannot read it; no freeze fails for that.

    Raises:
        OSError: the file cannot be written.
    """
    if not (root / ".git").exists():
        return None
    try:
        arguments = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", INSIDE)
        state = _state(subprocess.run(
            [*safe_git(root), *arguments], cwd=root, env=git_environment(), capture_output=True, check=True,
        ).stdout)  # fmt: skip
        text, is_cut = _diff(root) if state.is_dirty and state.commit else (b"", False)
    except (OSError, subprocess.SubprocessError):
        return None
    if text:
        diff.write_bytes(text)
    return replace(state, is_cut=is_cut)


def _state(status: bytes) -> Revision:
    """Source: git-status(1), Porcelain Format Version 2."""
    commit = branch = None
    is_dirty = False
    untracked: list[str] = []
    for entry in status.split(b"\0"):
        head, _, rest = entry.partition(b" ")
        if entry.startswith(b"# branch.oid ") and entry != b"# branch.oid (initial)":
            commit = entry.rpartition(b" ")[2].decode("ascii", "replace")
        elif entry.startswith(b"# branch.head ") and entry != b"# branch.head (detached)":
            branch = os.fsdecode(entry.removeprefix(b"# branch.head "))
        elif head == b"?":
            untracked.append(os.fsdecode(rest))
        elif head in {b"1", b"2", b"u"}:
            is_dirty = True
    sources = [name for name in sorted(untracked) if PurePosixPath(name).suffix in SOURCES]
    return Revision(commit, branch, is_dirty, len(untracked), untracked=tuple(sources[:MOST_NAMED]))


def _diff(root: Path) -> tuple[bytes, bool]:
    """The diff against the commit, limited in size to whole lines, and whether it was truncated."""
    plainly = (
        "diff",
        "HEAD",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        INSIDE,
        "--submodule=short",
    )
    with subprocess.Popen(
        [*safe_git(root), *plainly], cwd=root, env=git_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        text = process.stdout.read(LONGEST_DIFF + 1) if process.stdout else b""
        process.kill()
    if len(text) <= LONGEST_DIFF:
        return text, False
    return text[: text.rfind(b"\n", 0, LONGEST_DIFF) + 1], True

"""Git state of the project when it was frozen: commit, branch, and uncommitted changes."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deviate.base import git_environment, safe_git

LONGEST_DIFF = 1 << 20
"""Bytes of the diff that are kept: more is data or generated, and the snapshot has the sources anyway."""
MOST_NAMED = 1_000
INSIDE = "--ignore-submodules=dirty"
"""A submodule has settings of its own, so that git is not sent into it; another commit of it is seen all the same."""
SOURCES = (
    *(".py", ".pyx", ".pyi", ".ipynb", ".sh", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".rs", ".jl", ".R"),
    *(".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".gin", ".txt"),
)


@dataclass(frozen=True, slots=True)
class GitState:
    """Git state of the project.

    Attributes:
        commit: None before the first one.
        branch: None where no branch is checked out.
        is_dirty: tracked files differ from the commit.
        n_untracked: files that git neither tracks nor ignores; `untracked` names the sources among them.
        is_cut: the diff is longer than what was kept.
    """

    commit: str | None
    branch: str | None
    is_dirty: bool
    n_untracked: int
    untracked: tuple[str, ...]
    is_cut: bool = False


def freeze_provenance(root: Path, diff: Path) -> GitState | None:
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
    return GitState(state.commit, state.branch, state.is_dirty, state.n_untracked, state.untracked, is_cut)


def _state(status: bytes) -> GitState:
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
    return GitState(commit, branch, is_dirty, len(untracked), tuple(sources[:MOST_NAMED]))


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

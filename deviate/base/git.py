"""Runs git in repositories that may come from strangers, without running any program named in their settings.

A repository's settings can name programs: a file system monitor, hooks, file filters, diff programs, and helpers that
fetch missing objects. Examining a project must run none of them. The user's global settings are not affected.

Source: git-config(1); gitattributes(5), filter; git(1), GIT_ALLOW_PROTOCOL and GIT_NO_LAZY_FETCH.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from deviate.base.decisions import log_decision
from deviate.errors import InputError

SAFE = (
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.untrackedCache=false", "-c", "core.quotePath=false", "-c", "submodule.recurse=false",
)  # fmt: skip
FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"
OF_THE_USER = frozenset({"system", "global"})


def only_there() -> dict[str, str]:
    """Variables that restrict git to the given repository."""
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}


def git_environment() -> dict[str, str]:
    """Variables that also prevent git from fetching anything."""
    return {**only_there(), "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}


def safe_git(folder: Path) -> list[str]:
    """The beginning of a git command on the repository of a folder.

    Raises:
        OSError: git cannot be started.
        subprocess.SubprocessError: git cannot read the settings, or a name in them cannot be overridden.
    """
    answer = subprocess.run(
        [*SAFE, "config", "--null", "--show-scope", "--get-regexp", FILTERS],
        cwd=folder, env=git_environment(), capture_output=True, check=False,
    )  # fmt: skip
    if answer.returncode not in {0, 1}:  # exit status 1: there are none
        raise subprocess.CalledProcessError(answer.returncode, "git config", answer.stdout, os.fsdecode(answer.stderr))
    command = list(SAFE)
    words = answer.stdout.split(b"\0")
    for scope, setting in zip(words[::2], words[1::2], strict=False):
        name = os.fsdecode(setting.partition(b"\n")[0])
        if scope.decode("ascii", "replace") in OF_THE_USER:
            continue
        if not re.fullmatch(r"[^=\n]+", name):
            raise subprocess.SubprocessError(f"the setting {name!r} of the repository cannot be overridden")
        command += ["-c", f"{name}={'false' if name.endswith('.required') else ''}"]
    return command


def run_git(folder: Path, *arguments: str, text: str = "") -> str:
    """The output of git in a folder.

    Raises:
        OSError: git cannot be started.
        subprocess.SubprocessError: git has failed, or its settings cannot be read.
    """
    log_decision("base", "git %s in %s", " ".join(arguments), folder)
    finished = subprocess.run(
        [*safe_git(folder), *arguments], cwd=folder, env=git_environment(), input=text, text=True, capture_output=True,
        check=True, errors="surrogateescape",
    )  # fmt: skip
    return finished.stdout


def project_root(folder: Path) -> Path:
    """Git top level of a folder, else the folder itself.

    Raises:
        InputError: that would be a home folder, which no run may copy.
    """
    query = subprocess.run(
        [*SAFE, "rev-parse", "--show-toplevel"], cwd=folder, capture_output=True, text=True, check=False
    ) if shutil.which("git") else None  # fmt: skip
    root = Path(query.stdout.strip()).resolve() if query and query.returncode == 0 and query.stdout.strip() else folder
    return allowed_root(root)


def allowed_root(root: Path) -> Path:
    """The folder itself. Raises InputError if it is a home folder or that of the system."""
    if root in (Path.home().resolve(), Path("/")):
        raise InputError(f"the project would be {root}", "change to the folder of the project; each run copies it")
    return root

"""The hand-written files of a project folder, without ignored files, environments, caches and packages."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deviate.base import SAFE, git_environment
from deviate.model.metric_vocabulary import word_set

LEFT = word_set("venv env node_modules site-packages dist-packages __pycache__ wandb mlruns lightning_logs")
ENVIRONMENT = "pyvenv.cfg"
DOCUMENTS = (".md", ".rst", ".txt", ".sh", ".bash", ".toml")
MOST_FILES = 5_000
"""Limit of files of one kind, those nearest to the root first."""


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """Names relative to the folder, with forward slashes, those nearest to the top first.

    Attributes:
        documents: files that contain commands: readme files, shell scripts, makefiles.
    """

    scripts: tuple[str, ...]
    notebooks: tuple[str, ...]
    documents: tuple[str, ...]


def project_files(folder: Path) -> ProjectFiles:
    """Files in a folder; symbolic links to folders are not followed."""
    names = sorted(_list_by_git(folder) or _walk(folder), key=lambda name: (name.count("/"), name))
    return ProjectFiles(
        scripts=tuple(name for name in names if name.endswith(".py"))[:MOST_FILES],
        notebooks=tuple(name for name in names if name.endswith(".ipynb"))[:MOST_FILES],
        documents=tuple(name for name in names if _is_document(name))[:MOST_FILES],
    )


def _list_by_git(folder: Path) -> list[str]:
    """Files that git does not ignore; none without git, or if it ignores the folder itself."""
    if not shutil.which("git"):
        return []
    command = [*SAFE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=folder, env=git_environment(), capture_output=True, check=False)
    names = {os.fsdecode(name) for name in listing.stdout.split(b"\0") if name}
    answers: dict[str, bool] = {}
    return [name for name in names if not _is_left(name, folder, answers) and (folder / name).is_file()]


def _is_left(name: str, folder: Path, answers: dict[str, bool]) -> bool:
    """Whether a file is in a folder that is skipped."""
    parent = name.rpartition("/")[0]
    if not parent:
        return False
    if parent not in answers:
        answers[parent] = _is_foreign(folder, parent) or _is_left(parent, folder, answers)
    return answers[parent]


def _walk(folder: Path) -> Iterator[str]:
    for place, inner, files in os.walk(folder):
        below = Path(place).relative_to(folder)
        inner[:] = [name for name in inner if not _is_foreign(folder, (below / name).as_posix())]
        yield from ((below / name).as_posix() for name in files if os.path.isfile(os.path.join(place, name)))  # noqa: PTH113, PTH118


def _is_foreign(folder: Path, below: str) -> bool:
    """Whether a folder is hidden, a cache, a package or an environment, and so no code of the project."""
    name = PurePosixPath(below).name
    return name.startswith(".") or name in LEFT or (folder / below / ENVIRONMENT).exists()


def _is_document(name: str) -> bool:
    base = name.rpartition("/")[2].lower()
    return base == "makefile" or (base.endswith(DOCUMENTS) and not base.startswith("requirements"))

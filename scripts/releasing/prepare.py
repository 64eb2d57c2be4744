"""The steps of a release that a program can do: version, changelog, derived files, distributions and their checks."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from packaging.version import Version

from scripts.releasing.changelog import assemble, fragments, released_versions
from scripts.releasing.derived import derived_files, write_derived
from scripts.releasing.facts import read_facts, write_version
from scripts.releasing.problems import tag_problems, working_tree_problems

DISTRIBUTIONS = "dist"
VERSION = re.compile(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(rc[1-9]\d*)?")


def prepare(root: Path, version: str) -> None:
    """Writes the version, the section of the changelog and the derived files.

    Raises:
        ValueError: if this is no version that can follow, the working tree is not clean, the tag exists, or nothing
            has changed. Nothing is written then.
    """
    _require_next(root, version)
    for problem in (*working_tree_problems(root), *tag_problems(root, version)):
        raise ValueError(problem)
    if not fragments(root):
        raise ValueError("changelog.d has no fragments: there is nothing to release")
    derived_files(root, read_facts(root))  # a page without its comments is refused before anything is written
    assemble(root, version)
    write_version(root, version)
    write_derived(root, read_facts(root))


def build(root: Path) -> list[Path]:
    """Builds the source distribution, and the wheel from it, in dist/, and checks both.

    Raises:
        ValueError: if a step fails, with what it printed.
    """
    folder = root / DISTRIBUTIONS
    shutil.rmtree(folder, ignore_errors=True)
    _call(root, "build", "--no-isolation", "--outdir", str(folder))
    paths = sorted(folder.iterdir())
    _call(root, "twine", "check", "--strict", *map(str, paths))
    _call(root, "check_wheel_contents", *(str(path) for path in paths if path.suffix == ".whl"))
    return paths


def _require_next(root: Path, version: str) -> None:
    if not VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no version: write three numbers, such as 1.2.0, or 1.2.0rc1 before it")
    for released in released_versions(root)[:1]:
        if Version(version) <= Version(released):
            raise ValueError(f"{version} does not come after {released}, the newest version in CHANGELOG.md")


def _call(root: Path, module: str, *arguments: str) -> None:
    process = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise ValueError(f"{module} {' '.join(arguments)} failed:\n{process.stdout}{process.stderr}".rstrip())

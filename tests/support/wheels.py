"""deviate as an index would have it, and an environment in which nothing else is installed but what it asks for."""

import importlib.metadata
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


class Distributions(NamedTuple):
    wheel: Path
    sdist: Path


def build_distributions(folder: Path, source: Path = ROOT) -> Distributions:
    """The wheel and the source distribution of a checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Distributions(wheel, sdist)


def install_alone(wheel: Path, folder: Path, *others: str) -> Path:
    """Install a wheel into a new virtual environment, with what it requires and what `others` name.

    Those packages are links to our own files, for an index need not be in reach. What the wheel does not ask for is
    not there, nor is this checkout.

    Returns:
        The folder of its programs.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin/python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (installed,) = packages.glob("*.dist-info")
    requirements = importlib.metadata.Distribution.at(installed).requires or []
    for package in _closure([*requirements, *others]):
        entries = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
        for entry in entries:
            link = packages / entry
            if not link.exists():
                link.symlink_to(str(package.locate_file(entry)))
    return python.parent


def _closure(requirements: Iterable[str]) -> Iterable[importlib.metadata.Distribution]:
    """What requirements ask for here, and what that asks for; extras of deviate are left out."""
    closure: dict[str, importlib.metadata.Distribution] = {}
    waiting = [(requirement, frozenset({""})) for requirement in map(Requirement, requirements)]
    while waiting:
        requirement, extras = waiting.pop()
        is_asked = requirement.marker is None or any(requirement.marker.evaluate({"extra": it}) for it in extras)
        if not is_asked or requirement.name in closure:
            continue
        closure[requirement.name] = importlib.metadata.distribution(requirement.name)
        asked = map(Requirement, closure[requirement.name].requires or ())
        waiting += [(it, frozenset(requirement.extras or {""})) for it in asked]
    return closure.values()

"""A verb imports what it uses: for each the dependencies and the rooms that it may import, in a process of its own."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from deviate.cli.app import VERBS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES = {
    re.split(r"[^\w-]", text)[0] for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pandas"])
}
OBSERVER = """\
import json, sys
path, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "deviate"
from deviate.cli import main
try:
    main()
finally:
    with open(path, "w") as file:
        json.dump(sorted(sys.modules), file)
"""
SCRIPT = "for epoch in range(3):\n    print(f'test acc: {epoch / 10:.3f}')\n"


CORE = "base cli errors eventlog logs model pipeline project records registry series stability"
LOOKED = "base cli errors logs model project registry series"
SCRIPTS = f"{CORE} analysis replay report sinks sources"
JUDGED = f"{CORE} replay report stats"
FIGURES = "jinja2 matplotlib msgspec numpy rich scipy typer"
STATISTICS = "scipy.integrate scipy.optimize scipy.stats"
"""Parts of scipy that take a quarter of a second or more; one experiment is described without them."""
CASES = {
    "--version": ("typer", "cli errors logs"),
    "--help": ("typer", "cli errors logs"),
    "list": ("msgspec rich typer", f"{CORE} replay report stats"),
    "show a": ("msgspec numpy rich scipy typer", f"{CORE} replay report stats"),
    "clean": ("msgspec typer", f"{CORE} replay report"),
    "import b.csv --name c": ("msgspec typer", f"{CORE} replay report"),
    "doctor --python ./bare": (
        "rich typer",
        "base cli doctor errors logs model project registry replay report series sources",
    ),
    "plan --effect 0.5": (
        f"msgspec numpy rich scipy typer {STATISTICS}",
        "base cli errors eventlog logs model project records registry report series stats stability",
    ),
    "plugins": ("rich typer", "base cli doctor errors logs model registry report"),
    "check a b": (f"msgspec numpy rich scipy typer {STATISTICS}", JUDGED),
    "compare a b": (f"{FIGURES} {STATISTICS}", JUDGED),
    "report a": (FIGURES, JUDGED),
    "analyze train.py": ("libcst msgspec rich typer", f"{LOOKED} analysis replay report sinks sources stats"),
    "diverge train.py --dry-run": ("libcst msgspec numpy rich typer", f"{SCRIPTS} diverge stats"),
    "overhead train.py --dry-run": ("libcst msgspec rich typer", f"{SCRIPTS} stats"),
    "run train.py --plan-only --runs 2 --name t": ("libcst msgspec rich typer", f"{SCRIPTS} instrument stats"),
    "worker planned --index 0": ("msgspec typer", f"{CORE} replay stats"),
    "resume planned": (FIGURES, f"{JUDGED} analysis"),
}
"""Dependencies, and rooms, that a command may import."""
ONCE_PLANNED = ("worker", "resume")
"""They go on with what `run` has planned."""


class Imports(NamedTuple):
    """Dependencies and rooms of deviate."""

    packages: set[str]
    rooms: set[str]


def imports_of(modules: Iterable[str]) -> Imports:
    """What has been imported. The `__init__` of a room loads nothing, so a room counts when another module is there."""
    names = set(modules)
    parts = [name.split(".") for name in names if name.startswith("deviate.")]
    return Imports(
        (DEPENDENCIES | {"libcst.matchers", *STATISTICS.split()}) & names,
        {name for _, name, *inner in parts if inner or not (ROOT / "deviate" / name).is_dir()},
    )


def observe(folder: Path, words: Sequence[str], **variables: str) -> Imports:
    """What `deviate WORDS` imports."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    report = folder.with_suffix(".json")  # beside the project, which it would change
    done = subprocess.run(
        [sys.executable, "-c", OBSERVER, str(report), *words], cwd=folder,
        env={**os.environ, "PATH": path, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return imports_of(json.loads(report.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script, experiments a and b, and an interpreter without packages."""
    folder = tmp_path_factory.mktemp("imports") / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    for name, mean in (("a", 0.7), ("b", 0.8)):
        rows = "".join(f"{run},{mean + run * 7 % 5 / 100:.3f}\n" for run in range(6))
        (folder / f"{name}.csv").write_text(f"run,test_acc\n{rows}", encoding="utf-8")
        observe(folder, ("import", f"{name}.csv", "--name", name))
    bare = folder / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def planned(project: Path) -> None:
    observe(project, ("run", "train.py", "--plan-only", "--runs", "2", "--name", "planned"))


@pytest.mark.parametrize("command", CASES)
def test_a_verb_imports_what_it_uses(command: str, project: Path, request: pytest.FixtureRequest) -> None:
    words = command.split()
    if words[0] in ONCE_PLANNED:
        request.getfixturevalue("planned")
    packages, rooms = map(str.split, CASES[command])
    found = observe(project, words)
    assert found.packages - set(packages) == set(), "imports packages that it does without so far"
    assert found.rooms - set(rooms) == set(), "imports rooms that it does without so far"


def test_every_verb_is_among_the_cases() -> None:
    assert {command.split()[0] for command in CASES} - {"--version", "--help"} == set(VERBS)


def test_the_help_of_no_verb_imports_what_reads_computes_or_draws() -> None:
    program = f"import json, sys; from deviate.cli.app import load_command; [load_command(it) for it in {list(VERBS)}]"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; print(json.dumps(list(sys.modules)))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    modules = json.loads(done.stdout)
    assert imports_of(modules).packages <= {"msgspec", "rich", "typer"}
    assert "logging" not in modules


@pytest.mark.parametrize("words", ["deviate ", "deviate compare a"])
def test_completion_imports_neither_what_computes_nor_what_draws(words: str, project: Path) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_DEVIATE_COMPLETE": "complete_bash"}
    assert observe(project, [], **asked).packages <= {"msgspec", "rich", "typer"}

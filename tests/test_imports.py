"""A verb imports what it uses: for each the dependencies and the rooms that it may import, in a process of its own."""

import ast
import importlib
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


CORE = "base cli errors eventlog logs model pipeline project records registry series stability workflows"
LOOKED = "base cli errors logs model project registry series"
SCRIPTS = f"{CORE} analysis replay report sinks sources"
JUDGED = f"{CORE} replay report stats"
FIGURES = "jinja2 matplotlib msgspec numpy rich scipy typer"
CASES = {
    "--version": ("typer", "cli errors logs"),
    "--help": ("typer", "cli errors logs"),
    "list": ("msgspec rich typer", f"{CORE} replay report stats"),
    "show a": ("msgspec numpy rich scipy typer", f"{CORE} replay report stats"),
    "clean": ("msgspec typer", f"{CORE} replay report"),
    "import b.csv --name c": ("msgspec typer", f"{CORE} replay report"),
    "doctor --python ./bare": ("typer", "base cli doctor errors logs model project registry report series sources"),
    "plan --effect 0.5": (
        "msgspec numpy rich scipy typer",
        "base cli errors eventlog logs model project records registry report series stats stability workflows",
    ),
    "plugins": ("rich typer", "base cli errors logs model registry report workflows"),
    "check a b": ("msgspec numpy rich scipy typer", JUDGED),
    "compare a b": (FIGURES, JUDGED),
    "report a": (FIGURES, JUDGED),
    "analyze train.py": ("libcst rich typer", f"{LOOKED} analysis replay report sinks sources stats"),
    "diverge train.py --dry-run": ("libcst msgspec numpy rich typer", f"{SCRIPTS} diverge stats"),
    "overhead train.py --dry-run": ("libcst msgspec rich typer", f"{SCRIPTS} stats"),
    "run train.py --plan-only --runs 2 --name t": ("libcst msgspec rich typer", f"{SCRIPTS} instrument stats"),
    "worker planned --index 0": ("msgspec typer", f"{CORE} replay"),
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
        DEPENDENCIES & names,
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


def rooms_with_doors() -> list[str]:
    """Packages that load on first use."""
    files = sorted((ROOT / "deviate").rglob("__init__.py"))
    doors = [it for it in files if "load_on_first_use" in it.read_text(encoding="utf-8")]
    return [".".join(it.parent.relative_to(ROOT).parts) for it in doors]


@pytest.mark.parametrize("room", rooms_with_doors())
def test_a_room_loads_the_names_that_type_checkers_see(room: str) -> None:
    package = importlib.import_module(room)
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {(it.module, name.asname) for it in block.body if isinstance(it, ast.ImportFrom) for name in it.names}
    assert {(home, name) for name, home in package.__homes__.items()} == seen
    for name, home in package.__homes__.items():
        assert getattr(package, name) is vars(importlib.import_module(home))[name]


OPEN = {
    "analysis",
    "base",
    "diverge",
    "doctor",
    "instrument",
    "model",
    "records",
    "replay",
    "report",
    "series",
    "sources",
    "stability",
}
"""Rooms without a door, whose modules are imported by name."""


def past_doors() -> list[str]:
    """Imports of a module of another room, other than by the `__init__` of the room or of a sub-room that is a door."""
    doors = {*rooms_with_doors(), "deviate.cli", "deviate.sinks", "deviate.api"}
    past = []
    for path in sorted((ROOT / "deviate").rglob("*.py")):
        room = path.relative_to(ROOT / "deviate").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.level or not (node.module or "").startswith("deviate."):
                continue
            other = str(node.module).split(".")[1]
            is_inside = other == room or not (ROOT / "deviate" / other).is_dir()
            if not is_inside and node.module not in doors and other not in OPEN:
                past.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}")
    return past


def test_a_room_is_entered_through_its_door() -> None:
    assert past_doors() == []


@pytest.mark.parametrize("room", rooms_with_doors())
def test_no_module_of_a_room_uses_its_own_door(room: str) -> None:
    """The door imports what lies behind it: that would be a circle, of which the import contract does not know.

    `acyclic_siblings` compares modules of one folder, and the door is the folder itself.
    """
    names = importlib.import_module(room).__homes__
    uses = []
    for path in sorted((ROOT / room.replace(".", "/")).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == room:
                uses += [f"{path.relative_to(ROOT)}:{node.lineno}" for alias in node.names if alias.name in names]
    assert uses == []


def test_a_function_stands_where_python_would_put_the_module_of_its_name() -> None:
    program = (
        "import deviate.workflows.judge; from deviate import workflows; "
        "print(workflows.judge.__name__, workflows.clean_up.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["judge", "clean_up"]


def test_a_room_has_no_other_names() -> None:
    stats = importlib.import_module("deviate.stats")
    with pytest.raises(AttributeError, match=r"module 'deviate\.stats' has no attribute 'Nothing'"):
        getattr(stats, "Nothing")  # noqa: B009


def test_threads_that_use_a_room_for_the_first_time_wait_for_one_another() -> None:
    program = """\
import threading
from deviate import stats, workflows
start, found = threading.Barrier(9), []
def use(package, name):
    start.wait()
    found.append(getattr(package, name) is getattr(package, name))
names = ("half_width", "is_precise_enough", "power_of", "half_width", "forecast", "Summary")
uses = [(stats, name) for name in names]
uses += [(workflows, name) for name in ("judge", "write", "clean_up")]
threads = [threading.Thread(target=use, args=it) for it in uses]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(found == [True] * 9)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")

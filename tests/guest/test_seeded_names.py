"""Every public name that takes a seed is known: how it is varied and by which route that is tried, or why it is not."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SUPPORT = HERE.parent / "support"
KNOWN = json.loads((HERE / "seeded_names.json").read_text())


def new_names(library: str) -> set[str]:
    """Names that take a seed, or lie in a module that draws, and that no family has."""
    command = [sys.executable, SUPPORT / "seeded_walk.py", library]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert found
    return set(found) - {name for family in KNOWN[library].values() for name in family["names"]}


@pytest.mark.requires("numpy>=2")  # version 1 shows the same generators under other names
@pytest.mark.parametrize("library", ["random", "numpy"])
def test_no_name_of_a_library_takes_a_seed_unknown_to_us(library: str) -> None:
    assert not new_names(library)


@pytest.mark.slow
@pytest.mark.requires("torch", "tensorflow", "keras", "jax", "sklearn", "lightgbm", "xgboost", "catboost", "gymnasium")
@pytest.mark.parametrize("library", [name for name in KNOWN if name not in {"random", "numpy"}])
def test_no_name_of_a_large_library_does(library: str) -> None:
    assert not new_names(library)


def test_a_name_that_is_new_is_found(tmp_path: Path) -> None:
    package = tmp_path / "dice"
    package.mkdir()
    (package / "__init__.py").write_text(
        "def roll(n, *, seed=None): ...\n"
        "def _hidden(seed): ...\n"
        "class Cup:\n"
        "    def shake(self, rng): ...\n"
        "    def look(self): ...\n"
        "from dice import box\n"
    )
    (package / "box.py").write_text("class Box:\n    def __init__(self, random_state=None): ...\n")
    command = [sys.executable, SUPPORT / "seeded_walk.py", "dice"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)})
    assert done.stdout.split() == ["dice.Cup.shake", "dice.box.Box", "dice.roll"]


def test_families_name_routes_that_are_tried_or_say_how_else() -> None:
    programs = "".join(path.read_text() for path in sorted((SUPPORT / "routes").glob("*.py")))
    routes = set(re.findall(r"""^ *show\(\s*"([^"]+)",""", programs, re.MULTILINE))
    assert len(routes) >= 60
    for library, families in KNOWN.items():
        for name, family in families.items():
            assert set(family["routes"]) <= routes, (library, name)
            assert family["how"], (library, name)
            assert family["names"] == sorted(set(family["names"])), (library, name)

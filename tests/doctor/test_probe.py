import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.doctor.examine import PROBE

FILES = [PROBE, *sorted((PROBE.parent / "probes").glob("*.py"))]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_runs_in_the_users_interpreter_imports_the_standard_library_only(path: Path) -> None:
    assert imported(path) <= sys.stdlib_module_names


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_every_python_from_the_oldest_on_can_be_asked(
    version: str, interpreters: Callable[..., Path], tmp_path: Path
) -> None:
    python = interpreters(version, optional=version not in {"3.8", "3.11"})
    subprocess.run([python, PROBE, tmp_path, "python"], check=True)
    notes = [json.loads(line) for line in (tmp_path / "python.facts").read_text().splitlines()]
    assert notes[-1] == {"fact": "is_done", "value": True}
    assert [note for note in notes if "fault" in note] == []


def test_modules_beside_the_probe_are_not_taken_for_the_users(tmp_path: Path) -> None:
    """`facts` and `judge` are files beside it, whose folder Python puts first on the path of a script."""
    (tmp_path / "judge.py").write_text("__version__ = 'the user has one too'\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, PROBE, tmp_path, "judge"], check=True, env=environment)
    assert "the user has one too" in (tmp_path / "judge.facts").read_text()


def test_the_probe_leaves_no_bytecode_where_it_stands(tmp_path: Path) -> None:
    copy = tmp_path / "probe"
    copy.mkdir()
    (copy / "probe.py").write_bytes(PROBE.read_bytes())
    (copy / "probes").mkdir()
    for path in FILES[1:]:
        (copy / "probes" / path.name).write_bytes(path.read_bytes())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, copy / "probe.py", tmp_path, "python"], check=True, env=environment)
    assert list(tmp_path.rglob("__pycache__")) == []

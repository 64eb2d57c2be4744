"""The command line: `deviate doctor`."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Deviate = Callable[[Path], Callable[..., Any]]


def test_the_table_is_for_people(deviate_in: Deviate, project: Path, bare: str) -> None:
    answer = deviate_in(project)("doctor", "--python", bare)

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Interpreter")
    assert "\x1b" not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 120


def test_the_document_is_for_programs(deviate_in: Deviate, project: Path, bare: str) -> None:
    answer = deviate_in(project)("doctor", "--python", bare, "--format", "json")

    document = json.loads(answer.out)
    assert (answer.code, document["schema"], document["interpreter"]["command"]) == (0, 1, bare)


def test_a_broken_framework_is_no_error(
    deviate_in: Deviate, project: Path, bare: str, fake: Callable[[str, str], None]
) -> None:
    fake("torch", "raise ImportError('no such library')")

    answer = deviate_in(project)("doctor", "--python", bare)

    assert answer.code == 0
    assert "no such library" in answer.out


def test_an_interpreter_that_cannot_be_started_is_one(deviate_in: Deviate, project: Path) -> None:
    answer = deviate_in(project)("doctor", "--python", "no-such-python")

    assert (answer.code, answer.out) == (1, "")
    assert "no-such-python" in answer.err
    assert "--python PATH" in answer.err


def test_a_path_is_seen_from_where_the_user_is(deviate_in: Deviate, project: Path, bare: str) -> None:
    (project / "bin").mkdir()
    (project / "bin" / "python").symlink_to(bare)
    assert deviate_in(project)("doctor", "--python", "bin/python").code == 0


def test_without_a_name_it_is_the_python_on_the_path(
    deviate_in: Deviate, project: Path, bare: str, monkeypatch: Any
) -> None:
    folder = project / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(bare)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "deviate", "doctor", "--format", "json"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["interpreter"]["command"] == str(folder / "python")


def test_a_terminal_shows_what_is_being_looked_at_and_it_goes_at_the_end(
    project: Path, bare: str, fake: Callable[[str, str], None]
) -> None:
    fake("accelerate", "__version__ = '1'")
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "deviate", "doctor", "--python", bare]
    done = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, stderr=inner, check=True)
    os.close(inner)
    pieces = []
    with contextlib.suppress(OSError):  # on Linux, the end of what the other side has written
        while piece := os.read(outer, 100_000):
            pieces.append(piece)
    os.close(outer)
    shown = b"".join(pieces).decode()

    assert "Looking at accelerate" in shown
    assert shown.endswith("\r\x1b[K")
    assert b"Looking" not in done.stdout

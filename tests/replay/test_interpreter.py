"""Which interpreter a command starts, and what it says."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deviate.replay.environment import ask, find_interpreter

ORACLE = """
import importlib.metadata, json
print(json.dumps([(it.metadata["Name"], it.version) for it in importlib.metadata.distributions()]))
"""
"""Asked in a process of its own: libraries that other tests have imported put folders on the path of this one."""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """Variables whose PATH holds a Python, and scripts as installers write them."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    script(folder / "torchrun", f"#!{folder}/python\nimport x\n")
    script(folder / "accelerate", "#!/usr/bin/env python\nimport x\n")
    script(folder / "long", f"#!/bin/sh\n'''exec' \"{folder}/python\" \"$0\" \"$@\"\n' '''\nimport x\n")
    script(folder / "bash", "#!/bin/sh\n")
    script(folder / "nice", "")
    script(folder / "julia", "")
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    "command",
    ["python train.py", "torchrun train.py", "accelerate launch train.py", "long -x", "nice -n 5 python train.py",
     "env A=python torchrun train.py", "bin/python -m pkg"],
)  # fmt: skip
def test_the_first_python_of_a_command_is_found(tmp_path: Path, programs: dict[str, str], command: str) -> None:
    assert find_interpreter(command.split(), tmp_path, programs) == (tmp_path / "bin/python", "")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("bash run.sh python", "`bash` chooses the interpreter"),
        ("uv run python train.py", "`uv` chooses the interpreter"),
        ("docker run image python train.py", "`docker` has its own interpreter"),
        ("julia train.py python", "`julia` is not Python and is not known to start it"),
        ("python9.9 train.py", "no word of the command is a Python interpreter or script"),
    ],
)
def test_where_it_cannot_be_told_the_reason_is(
    tmp_path: Path, programs: dict[str, str], command: str, reason: str
) -> None:
    assert find_interpreter(command.split(), tmp_path, programs) == (None, reason)


def test_in_a_container_there_is_another_one(tmp_path: Path, programs: dict[str, str]) -> None:
    found = find_interpreter(["python", "x.py"], tmp_path, programs, wrap=("apptainer", "exec", "image.sif"))
    assert found == (None, "`apptainer` has its own interpreter")


def test_packages_are_those_that_importlib_finds() -> None:
    told, packages = ask(Path(sys.executable), Path.cwd(), os.environ)
    fresh = subprocess.run([sys.executable, "-c", ORACLE], capture_output=True, text=True, check=True)
    expected: dict[str, str] = {}
    for name, version in json.loads(fresh.stdout):
        expected.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    assert packages == expected
    assert told["version"] == ".".join(map(str, sys.version_info[:3]))
    assert told["build"] == " ".join(sys.version.split())


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_every_supported_interpreter_answers(version: str, interpreters, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    told, packages = ask(interpreters(version), tmp_path, os.environ)
    assert told["version"].startswith(f"{version}.")
    assert packages is not None


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with one package of each form, one that was removed by halves, and none of ours."""
    folder = tmp_path_factory.mktemp("v") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in ("Pkg.One-1.0.dist-info", "gone-1.0.dist-info", "~kg_one-0.9.dist-info", "old.egg-info"):
        (site / name).mkdir()
    (site / "Pkg.One-1.0.dist-info/METADATA").write_text("Name: Pkg.One\nVersion: 1.0\n")
    (site / "~kg_one-0.9.dist-info/METADATA").write_text("Name: Pkg.One\nVersion: 0.9\n")
    (site / "old.egg-info/PKG-INFO").write_text("Metadata-Version: 1.0\nName: Old_Thing\nVersion: 0.3.dev1\n")
    return folder


def test_packages_of_every_form_are_found_and_remains_of_others_are_not(venv: Path, tmp_path: Path) -> None:
    told, packages = ask(venv / "bin/python", tmp_path, {})
    assert packages == {"pkg-one": "1.0", "old-thing": "0.3.dev1"}
    assert told["path"] == str(venv.resolve() / "bin/python")


def test_the_path_is_not_that_of_one_runs_copy(venv: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/.venv").symlink_to(venv)
    told, _ = ask(tmp_path / "copy/.venv/bin/python", tmp_path / "copy", {})
    assert told["path"] == str(venv.resolve() / "bin/python")


def test_what_lies_in_the_working_folder_does_not_disturb_the_question(venv: Path, tmp_path: Path) -> None:
    for name in ("json", "os", "platform"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('mine')\n")
    _, packages = ask(venv / "bin/python", tmp_path, {})
    assert packages is not None


def test_packages_on_the_users_path_count_and_the_guest_stays_away(venv: Path, tmp_path: Path) -> None:
    script(tmp_path / "guest/sitecustomize.py", "open('started', 'w').close()\n")
    (tmp_path / "theirs/mine-2.0.dist-info").mkdir(parents=True)
    (tmp_path / "theirs/mine-2.0.dist-info/METADATA").touch()
    variables = {
        "PYTHONPATH": f"{tmp_path}/guest{os.pathsep}{tmp_path}/theirs",
        "DEVIATE_GUEST": f"{tmp_path}/guest",
        "DEVIATE_RUN_DIR": str(tmp_path),
    }
    _, packages = ask(venv / "bin/python", tmp_path, variables)
    assert packages is not None
    assert packages["mine"] == "2.0"
    assert not (tmp_path / "started").exists()


def test_a_python_that_is_too_old_or_none_says_why(interpreters, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    liar = script(tmp_path / "python", "#!/bin/sh\necho no >&2; exit 3\n")
    assert ask(liar, tmp_path, {}) == ({"path": str(liar), "unknown": "it did not answer: no"}, None)
    told, _ = ask(tmp_path / "nowhere", tmp_path, {})
    assert told["unknown"].startswith("it cannot be started")
    old, packages = ask(interpreters("2.7", optional=True), tmp_path, {})
    assert (old["unknown"], packages) == ("it did not answer: older than Python 3.8", None)

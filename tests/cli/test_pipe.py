"""A pipe and a file get whole lines: what is told is neither cut nor broken where COLUMNS is not set."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deviate.model.diagnosis import Concern, Diagnosis, Interpreter
from deviate.report.forms.registry import render
from deviate.report.medium import WHOLE
from deviate.report.parts.doctor_text import diagnosis_document

REASON = f"the loss is not finite, {'and the gradient of this layer is not either, ' * 6}so it ends here"
TRAIN = f"""\
import os, random
for epoch in range(3):
    accuracy_of_the_model_on_the_test_set = SHIFT + random.random()
    print("accuracy of the model on the test set", accuracy_of_the_model_on_the_test_set)
    print("another measure with a long name that takes room", random.random())
if SHIFT and os.environ["DEVIATE_REPLICATE"] == "1":
    raise ValueError("{REASON}")
"""
CUT = re.compile(r"\w…|…\w|…$", re.MULTILINE)
"""Where a text was cut; an interval has a blank on both sides of the sign, and a line of what is left out begins so."""


def _deviate(folder: Path, *arguments: str) -> str:
    """What the command prints into pipes, both streams."""
    variables = {name: text for name, text in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "deviate", *arguments],
        cwd=folder,
        env={**variables, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


Tell = Callable[..., str]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, shift in (("base", 0), ("new", 1)):
        (folder / f"{name}.py").write_text(TRAIN.replace("SHIFT", str(shift)))
    return folder


@pytest.fixture(scope="module")
def tell(project: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> Tell:
    """What a command prints into files, both streams."""
    return lambda *arguments: str(deviate_in(project)(*arguments, columns=None).both)


@pytest.fixture(scope="module")
def said(project: Path, tell: Tell) -> str:
    """What the second of two experiments printed, which lost a run."""
    tell("run", "base.py", "-r", "5", "--name", "base")
    return _deviate(project, "run", "new.py", "-r", "5", "--name", "new")


def test_a_run_in_a_pipe_tells_the_whole_reason_of_a_crash(said: str) -> None:
    assert not CUT.search(said), CUT.findall(said)
    assert sum(f"ValueError: {REASON}" in line for line in said.splitlines()) >= 2  # as it ends, and in the report
    assert "\x1b" not in said
    assert "\r" not in said


VERBS = (
    ("compare", "base", "new"),
    ("check", "base", "new"),
    ("show", "new"),
    ("show", "new", "--run", "1"),
    ("list",),
    ("plan", "base", "new", "--difference", "0.3"),
    ("analyze", "new.py"),
    ("analyze", "new.py", "--all", "--explain"),
)
TELL_REASONS = frozenset(VERBS[index] for index in (0, 2, 3))


@pytest.mark.parametrize("arguments", VERBS, ids=" ".join)
@pytest.mark.usefixtures("said")
def test_no_line_of_a_verb_is_cut_in_a_pipe(project: Path, tell: Tell, arguments: tuple[str, ...]) -> None:
    told = _deviate(project, *arguments) if arguments == VERBS[0] else tell(*arguments)
    assert not CUT.search(told), told
    assert any(REASON in line for line in told.splitlines()) or arguments not in TELL_REASONS, told


def test_a_diagnosis_in_a_pipe_has_whole_reasons() -> None:
    concern = Concern("XLA_FLAGS", REASON, f"unset it, for {REASON}")
    found = Diagnosis(Interpreter("python", "/usr/bin/python", "3.12.1"), None, (), (concern,), 2.0)
    lines = render(diagnosis_document(found), "terminal", width=WHOLE).splitlines()
    assert [line.strip() for line in lines if REASON in line] == [concern.why, f"→ {concern.advice}"]


def test_a_closed_output_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('accuracy 0.5')\n")
    for words in ("--version", "list", "analyze train.py"):
        command = f"exec {sys.executable} -m deviate {words} >&-"
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), words


def test_a_name_that_turns_the_order_of_a_text_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "a\u202eb.py").write_text("print('accuracy 0.5')\n")
    told = _deviate(tmp_path, "analyze", "a\u202eb.py") + _deviate(tmp_path, "analyze", "\u202enone.py")
    assert "\u202e" not in told
    assert "a\\u202eb.py" in told
    assert "no script \\u202enone.py" in told

"""Commands that tests fork from a process that has imported deviate are the commands of a new interpreter."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warm import Warm

SCRIPT = "for epoch in range(3):\n    print(f'test acc: {epoch / 10:.3f}')\n"


@pytest.mark.parametrize("words", [("analyze", "train.py", "--format", "json"), ("show", "nothing"), ("plan", "--no")])
def test_a_forked_command_says_and_returns_what_a_new_one_does(
    project: Path, deviate_in: Any, words: tuple[str, ...]
) -> None:
    (project / "train.py").write_text(SCRIPT)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "deviate", *words]
    environment = {**os.environ, "PATH": path, "COLUMNS": "120"}
    new = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    forked = deviate_in(project)(*words)
    assert (forked.code, forked.out, forked.err) == (new.returncode, new.stdout, new.stderr)


def test_variables_that_an_interpreter_reads_when_it_begins_are_read(project: Path) -> None:
    (project / "train.py").write_text(SCRIPT)
    warm = Warm()
    told = warm.run(("--version",), project, {**os.environ, "PYTHONVERBOSE": "1"})
    assert "import 'deviate.cli'" in told.err
    assert warm.process is None, "nothing was forked"

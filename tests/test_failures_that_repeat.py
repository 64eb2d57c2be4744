"""A failure that every run would repeat ends an experiment after one run, or two; chance does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPORT = 'acc = random.random()\nprint(f"acc {acc}")\n'
SCRIPTS = {
    "a module that is missing": ("import no_such_module", 1, "install it for the interpreter of the runs (pip install"),
    "wrong usage": (
        'import argparse; lr = argparse.ArgumentParser(); lr.add_argument("--lr", required=True); lr.parse_args()',
        1,
        "arguments of the script go after --",
    ),
    "syntax of a newer Python": ('title = t"{random}"', 1, "cannot read it, though deviate can (syntax up to 3.14)"),
    "a question": ('name = input("name of the run: ")', 1, "nobody can type anything in a repeated run"),
    "a mistake of the script": ('raise ValueError("lr must be positive")', 2, "the same in two runs"),
    "every second run": (
        'if int(os.environ["DEVIATE_REPLICATE"]) % 2: raise ValueError("diverged")',
        5,
        "",
    ),
    "a failure after values": (f'{REPORT}raise ValueError("too late")', 5, ""),
    "messages that differ": ("raise ValueError(random.random())", 5, ""),
}
"""By what is wrong: the script, how many of five runs are carried out, and what helps."""


@pytest.mark.parametrize("name", SCRIPTS)
def test_runs_that_would_fail_as_the_first_did_are_not_run(
    name: str, project: Path, deviate_in: Callable[[Path], Callable[..., Any]]
) -> None:
    text, n_run, cure = SCRIPTS[name]
    (project / "train.py").write_text(f"import os, random\n{text}\n{REPORT}")
    told = deviate_in(project)("run", "train.py", "--runs", "5")
    ended = [json.loads(path.read_text()) for path in project.rglob("attempt-*/result.json")]
    assert len([one for one in ended if one["status"] != "cancelled"]) == n_run, told.both
    assert cure in " ".join(told.both.split()), told.both
    assert ("No new runs of train" in told.both) == (n_run < 5)
    assert n_run == 5 or "not run" in told.out

"""What many runs cost, in operations on files: an executor that waits, estimates while runs go on, and verbs."""

import json
import subprocess
import sys
from typing import Any

import pytest
from pages import ROOT

from deviate.replay.executors.workers import LOOKS_PER_S

SUPPORT = ROOT / "tests/support"
MINUTE_S = 60
PER_ACTIVE_LOOK = 2
"""Files opened and folders listed in a look at a run that has begun and wrote nothing."""


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, SUPPORT / "counting.py"],
        cwd=tmp_path_factory.mktemp("scale"),
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_an_executor_that_waits_looks_at_so_many_runs_per_second_however_many_there_are(operations) -> None:  # type: ignore[no-untyped-def]
    for n_operations in operations["waiting"]:
        assert n_operations <= LOOKS_PER_S * MINUTE_S * PER_ACTIVE_LOOK


def test_estimates_read_a_run_once_when_it_has_ended(operations) -> None:  # type: ignore[no-untyped-def]
    assert operations["estimates"] == 0
    assert operations["read after the end of one"]


@pytest.mark.parametrize(("verb", "most"), [("list", 6), ("show", 16), ("report", 13)])
def test_verbs_open_and_list_so_much_per_run(operations, verb: str, most: int) -> None:  # type: ignore[no-untyped-def]
    assert operations["per run"][verb] <= most

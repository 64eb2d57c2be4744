"""What many runs cost, in operations on files: an executor that waits, estimates while runs go on, and verbs."""

import json
import subprocess
import sys
from typing import Any

import pytest
from pages import ROOT

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


def test_an_executor_that_waits_does_not_look_at_what_the_scheduler_keeps_in_its_queue(operations) -> None:  # type: ignore[no-untyped-def]
    few, many = operations["told"]
    assert few == many
    assert many <= 10 * MINUTE_S / 5 * PER_ACTIVE_LOOK  # ten active runs, every 5 s each as nothing changes


def test_an_executor_that_is_not_told_which_runs_have_begun_looks_at_no_more_of_them_per_second(operations) -> None:  # type: ignore[no-untyped-def]
    assert operations["not told"] <= (20 + 10 / 5 * PER_ACTIVE_LOOK) * 1.5 * MINUTE_S


def test_estimates_read_a_run_once_when_it_has_ended(operations) -> None:  # type: ignore[no-untyped-def]
    assert operations["estimates"] == 0
    assert operations["read after the end of one"]


@pytest.mark.parametrize(("verb", "most"), [("list", 6), ("show", 16), ("report", 13)])
def test_verbs_open_and_list_so_much_per_run(operations, verb: str, most: int) -> None:  # type: ignore[no-untyped-def]
    assert operations["per run"][verb] <= most

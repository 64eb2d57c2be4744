"""Slurm alone: jobs that it starts anew by itself, what it refuses, and what cannot be used."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deviate.errors import InputError, RunError
from deviate.model.plan import Settings
from deviate.records.layout import attempts
from deviate.replay.execute import Listeners, execute_orders
from deviate.replay.executors.slurm import slurm_executor
from deviate.replay.protocol import Order, RunUpdate

from .conftest import LATE_S
from .test_contract import ALONE, FIRST_WAITS, pids_in, root_of

Make = Callable[..., tuple[Order, ...]]
QUICK = (("interval", "1"), ("time", "5"))


@pytest.fixture
def cluster(slurm: Path, monkeypatch: pytest.MonkeyPatch, require: Callable[[str], None]) -> None:
    require("submitit")
    monkeypatch.setenv("SLURM_CONF", str(slurm))


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_job_that_slurm_starts_anew_is_not_lost(orders: Make) -> None:
    (order,) = orders(ALONE + FIRST_WAITS)
    requeued: list[str] = []

    def requeue(_: RunUpdate) -> None:
        if not requeued and pids_in(root_of(order) / "alive-0"):
            listed = subprocess.run(["squeue", "-h", "-t", "R", "-o", "%i"], capture_output=True, text=True, check=True)
            requeued.extend(listed.stdout.split())
            subprocess.run(["scontrol", "requeue", *requeued], check=True)

    settings = Settings(retries=0)
    outcomes = execute_orders(
        [order], slurm_executor(Settings(options=QUICK), late_s=LATE_S), settings, Listeners(requeue)
    )
    assert len(requeued) == 1
    assert outcomes[order].status == "completed"
    first, second = attempts(order.run)
    assert json.loads((first / "result.json").read_text())["status"] in {"lost", "cancelled"}
    assert outcomes[order].folder == second
    assert not (root_of(order) / "two").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_options_and_lines_of_the_shell_reach_the_job(orders: Make) -> None:
    (order,) = orders("import os\nprint(os.environ['SLURM_CPUS_PER_TASK'], os.environ['MODULE'])\n")
    options = (*QUICK, ("cpus-per-task", "1"), ("partition", "main"), ("setup", "export MODULE=cuda/12.4"))
    outcomes = execute_orders([order], slurm_executor(Settings(options=options), late_s=LATE_S), Settings())
    assert (outcomes[order].folder / "stdout.log").read_text().endswith("\n1 cuda/12.4\n")


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_what_slurm_refuses_is_one_message(orders: Make) -> None:
    with pytest.raises(RunError, match=r"Slurm accepts no jobs: (?s:.*)partition"):
        execute_orders(orders(), slurm_executor(Settings(options=(*QUICK, ("partition", "nowhere")))), Settings())


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_worker_that_cannot_begin_ends_everything_with_what_it_said(orders: Make) -> None:
    (order,) = orders()
    options = (*QUICK, ("setup", "echo no such module >&2; exit 1"))
    with pytest.raises(RunError, match=r"ended before it began its run (?s:.*)no such module"):
        execute_orders([order], slurm_executor(Settings(options=options), late_s=1.0), Settings(retries=0))


def test_without_submitit_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(InputError, match="needs the package submitit") as caught:
        slurm_executor(Settings())
    assert caught.value.hint == "run pip install '.[slurm]' in a clone of deviate, in the environment that runs it"

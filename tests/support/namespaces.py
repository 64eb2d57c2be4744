"""Executors in namespaces of process numbers of their own, on one folder: as containers on a shared disk."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from deviate.records.plans import change_experiment, read_plan
from deviate.records.read import read_experiment

UNSHARE = ("unshare", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc")
"""A namespace of one's own, with a /proc that shows it. Source: unshare(1)."""

SCRIPT = """
import fcntl, os, pathlib, time
place = pathlib.Path(os.environ["PLACE"])
replicate = os.environ["DEVIATE_REPLICATE"]
with (place / f"lock-{replicate}").open("w") as lock:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of the kernel, which both namespaces share
    except OSError:
        (place / f"twice-{replicate}-{time.time_ns()}").touch()
    for epoch in range(4):
        acc = 0.5 + epoch / 10
        print(f"acc: {acc}", flush=True)
        time.sleep(float(os.environ["STEP_S"]))
"""
EXECUTOR = """
import sys, deviate.replay.executors.local as local, deviate.replay.adopt as heartbeats
local.HEARTBEAT_S, heartbeats.STALE_S = {heartbeat_s}, {stale_s}
from deviate.cli import main
main()
"""


@dataclass(frozen=True)
class Trial:
    """What came of it.

    Attributes:
        twice: marks of replicates that were alive twice.
        refused: executors that found the experiment in use.
        statuses: of the runs in the end.
    """

    twice: tuple[str, ...]
    refused: int
    statuses: tuple[str, ...]
    said: tuple[str, ...]


def are_allowed() -> bool:
    """Whether this system lets the user make such namespaces."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


def execute_orders(
    folder: Path, seed: int, *, n_runs: int = 3, step_s: float = 0.5, heartbeat_s: float = 0.5, stale_s: float = 6.0
) -> Trial:
    """Two executors carry out one experiment at once, the second one a little later; one may be killed meanwhile.

    In the end a third one carries out what is missing.

    Args:
        seed: of the moments at which the second begins and one is killed.
        heartbeat_s, stale_s: in place of the usual ones, so that a trial takes seconds.
    """
    rng = random.Random(seed)
    place, project = folder / "place", folder / "project"
    for it in (place, project):
        it.mkdir(parents=True)
    (project / "train.py").write_text(SCRIPT)
    environment = {**os.environ, "STEP_S": "0", "PLACE": str(place)}
    begin = [sys.executable, "-m", "deviate", "run", "train.py", "--runs", "1", "--name", "x", "--quiet"]
    subprocess.run(begin, cwd=project, env=environment, capture_output=True, check=True)
    experiment = project / ".deviate/experiments/x"
    (variant,) = read_plan(experiment).variants
    change_experiment(experiment, time=time.time(), variants=(replace(variant, n_runs=n_runs + 1),))
    environment["STEP_S"] = str(step_s)
    program = EXECUTOR.format(heartbeat_s=heartbeat_s, stale_s=stale_s)
    resume = [*UNSHARE, sys.executable, "-c", program, "resume", "x", "--quiet", "--jobs", "1"]

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            resume, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    both = [start()]
    time.sleep(rng.uniform(0, 8 * step_s))
    both.append(start())
    if seed % 2:
        time.sleep(rng.uniform(0, 8 * step_s))
        both[rng.randrange(2)].send_signal(signal.SIGKILL)
    said = [process.communicate()[0] for process in both]
    last = start()
    said.append(last.communicate()[0])
    statuses = [run.status for it in read_experiment(experiment) for run in it.runs]
    return Trial(
        tuple(sorted(it.name for it in place.glob("twice-*"))),
        sum("being run by" in text for text in said),
        tuple(statuses),
        tuple(said),
    )

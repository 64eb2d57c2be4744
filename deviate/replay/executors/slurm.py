"""Runs as Slurm jobs: an array per submission through submitit, whose elements execute `deviate worker`."""

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from deviate.errors import InputError, RunError
from deviate.model.plan import Settings
from deviate.replay.executors.workers import LATE_S, WorkersExecutor, load, log_folder, worker_command
from deviate.replay.protocol import Order, executor

ARRAY_SIZE = 1000
"""Maximum number of elements of one array. Source: slurm.conf(5), MaxArraySize, 1001 by default."""
PARALLEL = 256
INTERVAL_S = 15.0
"""Seconds between two calls of squeue. Source: squeue(1), PERFORMANCE: calls in a loop are a load on slurmctld."""
WARNING_S = 30
"""Seconds before the time limit at which a job is asked to end, so that its worker can still write a result."""

GOING_ON = frozenset((
    "PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING",
    "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT",
))  # fmt: skip
"""States of a job that has not ended. Source: squeue(1), JOB STATE CODES."""
KEPT = ("SLURM_CONF",)
"""Variables that sbatch needs and that submitit removes with those of an outer job."""
PROGRAMS = ("sbatch", "srun")
"""Programs that submit and start jobs."""
OURS = ("parallel", "setup", "interval")


@executor("slurm")
def slurm_executor(settings: Settings, *, late_s: float = LATE_S) -> WorkersExecutor:
    """The executor for `--executor slurm`.

    Args:
        settings: their `options` are those of sbatch without their dashes (`partition`, `account`, `qos`, `time`,
            `mem`, `gpus-per-task`, `cpus-per-task`, …), and three of ours: `parallel`, elements of an array at a time
            (256); `setup`, what the shell does before the worker starts; `interval`, seconds between calls of squeue
            (15).

    Raises:
        InputError: submitit is not installed, there is no Slurm here, or an option of ours is no number.
    """
    return WorkersExecutor(SlurmBackend(settings.options), late_s=late_s)


class SlurmBackend:
    """Jobs of one call of deviate, which share a name and are queried together."""

    capacity: int | None = None

    def __init__(self, options: Sequence[tuple[str, str]]) -> None:
        self._submitit = load("submitit", "slurm")
        if missing := next((program for program in PROGRAMS if shutil.which(program) is None), None):
            raise InputError(
                f"--executor slurm: there is no {missing} on PATH",
                "start deviate on a machine from which jobs are submitted",
            )
        self._name = f"deviate-{uuid.uuid4().hex[:8]}"
        ours = {key: value for key, value in options if key in OURS}
        values = {key.lstrip("-"): value for key, value in options if key not in OURS}
        self._setup = ours.get("setup", "").splitlines()
        self._parallel = int(_number(ours, "parallel", PARALLEL))
        self.interval_s = _number(ours, "interval", INTERVAL_S)
        self._sbatch: dict[str, Any] = {
            **({} if "no-requeue" in values else {"requeue": True}),
            "signal": f"TERM@{WARNING_S}",  # submitit's own signal would reach the training, which cannot handle it
            **{key: value or True for key, value in values.items()},
        }
        # Source: sbatch(1), --cpus-per-task: srun does not take it over since Slurm 22.05.
        self._srun = [f"--cpus-per-task={values['cpus-per-task']}"] if "cpus-per-task" in values else []
        self._logs: dict[str, Path] = {}

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        """Start one array, or several if it would exceed Slurm's maximum size."""
        names: list[str] = []
        try:
            for begin in range(0, len(orders), ARRAY_SIZE):
                names += self._start_array(orders[begin : begin + ARRAY_SIZE])
        except RunError:
            for name in names:  # all or none
                self.cancel(name, at_once=False)
            raise
        return names

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        """Jobs that Slurm lists as ended, and those it no longer lists."""
        query = subprocess.run(
            ["squeue", "--noheader", "--array", "--states=all", f"--name={self._name}", "--format=%i|%T|%r"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if query.returncode:
            return {}  # the controller is unavailable; its jobs continue
        states = {
            words[0]: words[1:] for line in query.stdout.splitlines() if len(words := line.strip().split("|")) > 2
        }
        over: dict[str, str] = {}
        for job in jobs:
            state, reason = states.get(job, ["", ""])[:2]
            if not state:
                over[job] = f"Slurm no longer knows job {job}"
            elif state not in GOING_ON:
                over[job] = f"Slurm job {job} {state}" + (f" ({reason})" if reason not in {"", "None"} else "")
        return over

    def cancel(self, job: str, *, at_once: bool) -> None:
        """Cancel with `scancel`; for an immediate end, first send SIGKILL to all processes of a running job."""
        if at_once:
            subprocess.run(["scancel", "--quiet", "--full", "--signal=KILL", job], capture_output=True, check=False)
        subprocess.run(["scancel", "--quiet", job], capture_output=True, check=False)

    def log(self, job: str) -> Path | None:
        folder = self._logs.get(job)
        return folder / f"{job}_0_log.err" if folder else None

    def close(self) -> None:
        """There are no resources to release."""

    def _start_array(self, orders: Sequence[Order]) -> list[str]:
        folder = log_folder(orders[0].experiment) / "slurm"
        executor = self._submitit.SlurmExecutor(folder=folder)
        executor.update_parameters(
            job_name=self._name,
            time=None,  # the default of the partition instead of submitit's five minutes
            setup=self._setup or None,
            array_parallelism=self._parallel,
            additional_parameters=self._sbatch,
            srun_args=self._srun,
        )
        conf = {name: os.environ[name] for name in KEPT if name in os.environ}
        commands = [worker_command(order) for order in orders]
        try:
            with self._submitit.helpers.clean_env():
                os.environ.update(conf)
                # The job's process is replaced by the worker, so that Slurm's signals reach it directly.
                jobs = executor.map_array(os.execv, [sys.executable] * len(commands), commands)
        except self._submitit.core.utils.FailedJobError as error:
            raise RunError(f"Slurm accepts no jobs: {str(error).strip()}", "check the values of --option") from error
        names = [str(job.job_id) for job in jobs]
        self._logs.update(dict.fromkeys(names, folder))
        return names


def _number(options: Mapping[str, str], key: str, default: float) -> float:
    try:
        return float(options.get(key, default))
    except ValueError as error:
        raise InputError(f"{key}={options[key]}: not a number", f"write it as {key}={default:g}") from error

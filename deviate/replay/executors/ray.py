"""Runs as Ray tasks: each starts `deviate worker` on a node selected by Ray. Ray's own retries are disabled."""

import os
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from deviate.errors import InputError, RunError
from deviate.model.plan import Settings
from deviate.records.runs import run_id
from deviate.replay.executors.workers import LATE_S, WorkersExecutor, load, log_folder, worker_command
from deviate.replay.protocol import Order, executor

INTERVAL_S = 0.5
KNOCK_S = 10.0
RESOURCE = "resource."
DEVICE_VARIABLES = (
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "TPU_VISIBLE_CHIPS",
    "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS", "ONEAPI_DEVICE_SELECTOR", "NEURON_RT_VISIBLE_CORES",
    "ASCEND_RT_VISIBLE_DEVICES", "HABANA_VISIBLE_MODULES",
)  # fmt: skip
"""Variables by which Ray limits a task to its own devices. Source: ray/_private/accelerators."""


@executor("ray")
def ray_executor(settings: Settings, *, late_s: float = LATE_S) -> WorkersExecutor:
    """The executor for `--executor ray`.

    Args:
        settings: their `options` are `address` of the cluster ("auto": the one that this machine belongs to), and what
            each run takes: `num_cpus` (1), `num_gpus` (0), `memory` in bytes, `resource.NAME` for resources of the
            cluster's own.

    Raises:
        InputError: ray is not installed, an option is unknown, or no cluster answers at the address.
    """
    return WorkersExecutor(RayBackend(settings.options), late_s=late_s)


class RayBackend:
    """Tasks of one connection to a cluster, which end with it."""

    capacity: int | None = None
    interval_s = INTERVAL_S

    def __init__(self, options: Sequence[tuple[str, str]]) -> None:
        self._ray = load("ray", "ray")
        values = dict(options)
        address = values.pop("address", "auto")
        resources = _resources(values)
        try:
            self._was_connected = self._ray.is_initialized()
            if not self._was_connected:
                _knock(address)
                self._ray.init(address=address, log_to_driver=False, logging_level="warning")
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(
                f"no Ray cluster answers at {address}: {error}",
                "start one with `ray start --head`, or name another with address=HOST:PORT",
            ) from error
        self._task = self._ray.remote(max_retries=0, **resources)(_carrier())
        self._references: dict[str, Any] = {}
        self._logs: dict[str, Path] = {}

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        """Start a task for each order; Ray queues them."""
        environment = {key: value for key, value in os.environ.items() if key not in DEVICE_VARIABLES}
        names: list[str] = []
        for order in orders:
            log = log_folder(order.experiment) / f"ray-{run_id(order.spec)}.log"
            try:
                reference = self._task.remote(
                    worker_command(order), environment, str(Path.cwd()), str(log), DEVICE_VARIABLES
                )
            except self._ray.exceptions.RayError as error:
                raise RunError(f"Ray accepts no tasks: {error}", "see `ray status`") from error
            names.append(reference.hex())
            self._references[names[-1]] = reference
            self._logs[names[-1]] = log
        return names

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        """Tasks that returned or failed; a lost node or a killed worker counts as a failure."""
        open_references = {self._references[job]: job for job in jobs if job in self._references}
        if not open_references:
            return {}
        ready, _ = self._ray.wait(list(open_references), num_returns=len(open_references), timeout=0)
        return {open_references[reference]: self._how(reference) for reference in ready}

    def cancel(self, job: str, *, at_once: bool) -> None:
        """Interrupt the task, which forwards it to its worker; or kill the process of the task."""
        if job in self._references:
            self._ray.cancel(self._references[job], force=at_once)

    def log(self, job: str) -> Path | None:
        return self._logs.get(job)

    def close(self) -> None:
        """Disconnect from the cluster, unless the calling program was connected to it before."""
        self._references.clear()
        if not self._was_connected:
            self._ray.shutdown()

    def _how(self, reference: object) -> str:
        try:
            return f"its worker ended with exit code {self._ray.get(reference)}"
        except self._ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines()
            return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _knock(address: str) -> None:
    """Raise an OSError if nothing listens at the address: Ray would retry for a minute, then end this process.

    Source: ray.init, address; ray/_private/utils.py, read_ray_address: the file that `ray start` leaves.
    """
    if address == "auto":
        address_file = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray/ray_current_cluster")  # noqa: S108 - as Ray has it
        address = os.environ.get("RAY_ADDRESS") or (address_file.read_text().strip() if address_file.is_file() else "")
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()


def _resources(options: Mapping[str, str]) -> dict[str, Any]:
    resources: dict[str, Any] = {"num_cpus": 1.0}
    custom: dict[str, float] = {}
    for key, text in options.items():
        try:
            if key.startswith(RESOURCE):
                custom[key.removeprefix(RESOURCE)] = float(text)
            elif key in {"num_cpus", "num_gpus", "memory"}:
                resources[key] = float(text)
            else:
                raise InputError(
                    f"--executor ray has no option {key!r}",
                    f"use address, num_cpus, num_gpus, memory or {RESOURCE}NAME",
                )
        except ValueError as error:
            raise InputError(f"{key}={text}: not a number", f"write it as {key}=1") from error
    return {**resources, **({"resources": custom} if custom else {})}


def _carrier() -> Callable[..., int]:
    """The function that Ray sends to the node, defined locally so that its code is sent by value."""

    def execute_orders(
        command: Sequence[str], environment: Mapping[str, str], cwd: str, log: str, device_variables: Sequence[str]
    ) -> int:
        """Run the worker with the submitter's variables and the devices assigned by Ray; returns its exit code.

        The worker is asked to end when the task is cancelled, and by the system (Linux) when the task's process dies.
        """
        import ctypes
        import os
        import signal
        import subprocess
        import sys
        import time

        libc = ctypes.CDLL(None) if sys.platform == "linux" else None
        parent = os.getpid()

        def die_with_parent() -> None:
            if libc is not None:
                libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
                if os.getppid() != parent:
                    os._exit(1)

        devices = {key: os.environ[key] for key in device_variables if key in os.environ}
        with open(log, "ab") as output:  # noqa: PTH123 - what travels is kept small
            worker = subprocess.Popen(
                command,
                cwd=cwd,
                env={**environment, **devices},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - the library is loaded before
                start_new_session=True,
            )
        try:
            while (code := worker.poll()) is None:
                time.sleep(0.1)  # Ray's interruption does not end a blocking wait
        except BaseException:
            worker.terminate()
            worker.wait()
            raise
        return code

    return execute_orders

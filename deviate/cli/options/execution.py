"""How runs are executed: devices, limits, failures, and executor."""

import os
from collections.abc import Sequence
from typing import Annotated, Literal, cast

from deviate import replay
from deviate.cli.options.groups import flag, option, option_group
from deviate.cli.options.values import choice, pair, seconds
from deviate.errors import InputError
from deviate.model import Settings

Jobs = Annotated[int | None, option("N", "Runs at a time. Default: one per two cores.", "--jobs", "-j", min=1)]
Gpus = Annotated[
    str | None, option("DEVICES", "Devices for the runs: auto, none, or numbers as 0,1. Default: as the script finds.")
]
Timeout = Annotated[str | None, option("TIME", "End a run after this time: 30s, 20m, 8h.")]
Budget = Annotated[
    str | None, option("TIME", "Time for all runs together: 8h. None is started that would not end in it.")
]


@option_group
class ExecutionFlags:
    """How runs are executed, as options."""

    jobs: Jobs = None
    gpus: Gpus = None
    per_gpu: int = flag("N", "Runs that share one GPU.", min=1, default=1)
    gpus_per_run: int = flag("N", "GPUs that one run gets, for torchrun and the like.", min=1, default=1)
    executor: str = flag("local|slurm|ray", "Where runs are carried out: local, slurm or ray.", default="local")
    option: list[str] | None = flag(
        "KEY=VALUE", "Setting of the executor: partition=gpu. May be repeated.", "--option", "-o"
    )
    timeout: Timeout = None
    stall_timeout: str | None = flag("TIME", "End a run that gives no value and no output for this time.")
    retries: int = flag("N", "How often a lost run is started anew. Failed training never is.", min=0, default=1)
    max_failures: int | None = flag("N", "Start no further run after this many failures.", min=1)
    ignore_failure: str | None = flag("CODES", "Exit codes that count as success: 1,143.")
    requeue: str = flag(
        "fresh|continue", "What a run that was lost begins with: fresh, or continue its files.", default="fresh"
    )
    keep: str = flag("all|best|none", "Work copies that stay: all, best (and worst), or none.", default="all")

    def settings(self) -> Settings:
        """Parse the options.

        Raises:
            InputError: a value is none, or asks for devices that are not there.
        """
        codes = self.ignore_failure
        try:
            ignored_codes = tuple(int(code) for code in codes.split(",")) if codes else ()
        except ValueError:
            raise InputError(f"--ignore-failure {codes} is no list of exit codes", "write 1 or 1,143") from None
        devices = replay.choose_gpus(self.gpus)
        options = tuple(pair(text, "--option", "KEY=VALUE") for text in self.option or ())
        if self.executor not in replay.EXECUTORS:
            choice(self.executor, "--executor", list(replay.EXECUTORS))
        if self.executor == "local":
            self._refuse_idle(has_options=bool(options), has_gpus=bool(devices))
        return Settings(
            executor=self.executor,
            options=options,
            jobs=self.jobs or default_jobs(devices, self.per_gpu, self.gpus_per_run),
            gpus=devices,
            per_gpu=self.per_gpu,
            gpus_per_run=self.gpus_per_run,
            timeout_s=seconds(self.timeout, "--timeout"),
            stall_timeout_s=seconds(self.stall_timeout, "--stall-timeout"),
            retries=self.retries,
            max_failures=self.max_failures,
            ignored_codes=ignored_codes,
            requeue=cast("Literal['fresh', 'continue']", choice(self.requeue, "--requeue", ("fresh", "continue"))),
            keep=cast("Literal['none', 'best', 'all']", choice(self.keep, "--keep", ("all", "best", "none"))),
        )

    def _refuse_idle(self, *, has_options: bool, has_gpus: bool) -> None:
        """Raise InputError for options without effect on this machine."""
        if has_options:
            raise InputError("--option is for another executor", "add --executor slurm or --executor ray")
        if not has_gpus and (self.per_gpu > 1 or self.gpus_per_run > 1):
            flag = "--per-gpu" if self.per_gpu > 1 else "--gpus-per-run"
            raise InputError(f"{flag} shares out GPUs, and none are given", "add --gpus auto, or --gpus 0,1")


def default_jobs(devices: Sequence[str] | None, per_gpu: int, gpus_per_run: int) -> int:
    """Default number of concurrent runs: as many as fit on the devices, else by the number of cores."""
    return max(1, len(devices) // gpus_per_run * per_gpu) if devices else replay.default_jobs()


def thread_limit(settings: Settings) -> int | None:
    """Threads per run if several share the machine, unless the user's shell sets a limit."""
    if settings.executor != "local" or "OMP_NUM_THREADS" in os.environ:
        return None
    return replay.threads_per_run(len(replay.slots(settings)))

"""Options on runs: how they are executed and launched, what they capture, which and how many are made."""

import dataclasses
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deviate.base.redaction import split_secrets
from deviate.cli.options.groups import in_command, in_machine, in_records, in_runs, in_variation
from deviate.cli.options.origins import is_from_variable, origins
from deviate.cli.options.values import choice, commands, pair, seconds
from deviate.errors import InputError
from deviate.model.plan import Settings, Variant
from deviate.project.command import default_python, with_interpreter
from deviate.replay.capture_options import DEFAULT_LIMIT, capture_pairs
from deviate.replay.experiments import Request, SampleSizeRule
from deviate.replay.variants import VARIANTS, choose_variants, vary_more

if TYPE_CHECKING:
    from deviate.project.config import CaptureConfig
    from deviate.project.prepare import PreparedScript

# How runs are executed: devices, limits, failures, and executor.

JOBS = in_machine(
    "N", "Runs at a time. Default: one per two cores, or as many as fit on --gpus.", "--jobs", "-j", min=1
)
GPUS = in_machine("DEVICES", "GPUs for the runs: auto, none, or numbers: 0,1. Default: all that the script sees.")
TIMEOUT = in_machine("TIME", "End a run after this time: 90s, 20m, 8h.")
BUDGET = in_runs("TIME", "Time for all runs together: 8h. No run starts that would not end within it.")


@dataclasses.dataclass(frozen=True, slots=True)
class ExecutionFlags:
    """How runs are executed, as options."""

    jobs: int | None = JOBS
    gpus: str | None = GPUS
    per_gpu: int = in_machine("N", "Runs that share a GPU.", min=1, default=1)
    gpus_per_run: int = in_machine("N", "GPUs of each run, as for torchrun.", min=1, default=1)
    executor: str = in_machine("local|slurm|ray", "Where runs are executed.", default="local")
    option: list[str] | None = in_machine(
        "KEY=VALUE", "Option of the executor: partition=gpu. May be repeated.", "--option", "-o"
    )
    timeout: str | None = TIMEOUT
    stall_timeout: str | None = in_machine("TIME", "End a run that reports and prints nothing for this time: 20m.")
    retries: int = in_machine(
        "N", "How often a lost run is restarted; runs whose training failed are not.", min=0, default=1
    )
    max_failures: int | None = in_machine("N", "Start no further run after N failures. Default: no limit.", min=1)
    ignore_failure: str | None = in_machine("CODES", "Exit codes of the script that count as success: 1,143.")
    requeue: str = in_machine(
        "fresh|continue", "Files of a restarted run: fresh, or those that the lost run left.", default="fresh"
    )
    keep: str = in_records(
        "all|best|none", "Work copies that are kept: all, those of the best and the worst run, or none.", default="all"
    )

    def settings(self) -> Settings:
        """Parse the options.

        Raises:
            InputError: a value is none, or asks for devices that are not there.
        """
        from deviate.replay.protocol import EXECUTORS
        from deviate.replay.slots import choose_gpus

        codes = self.ignore_failure
        try:
            ignored_codes = tuple(int(code) for code in codes.split(",")) if codes else ()
        except ValueError:
            raise InputError(f"--ignore-failure {codes} is no list of exit codes", "write 1 or 1,143") from None
        devices = choose_gpus(self.gpus, are_here=self.executor == "local")
        options = tuple(pair(text, "--option", "KEY=VALUE") for text in self.option or ())
        if self.executor == "local" and is_from_variable("option"):
            options = ()  # for the executor that other calls name
        if self.executor not in EXECUTORS:
            choice(self.executor, "--executor", list(EXECUTORS))
        if self.executor == "local":
            self._refuse_idle(options, devices)
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
            requeue=choice(self.requeue, "--requeue", ("fresh", "continue")),
            keep=choice(self.keep, "--keep", ("all", "best", "none")),
        )

    def _refuse_idle(self, options: Sequence[object], devices: Sequence[str] | None) -> None:
        """Raise InputError for options without effect on this machine."""
        if options:
            raise InputError("--option is for another executor", "add --executor slurm or --executor ray")
        if not devices and (self.per_gpu > 1 or self.gpus_per_run > 1):
            flag = "--per-gpu" if self.per_gpu > 1 else "--gpus-per-run"
            raise InputError(f"{flag} shares out GPUs, and none are given", "add --gpus auto, or --gpus 0,1")


def default_jobs(devices: Sequence[str] | None, per_gpu: int, gpus_per_run: int) -> int:
    """Default number of concurrent runs: as many as fit on the devices, else by the number of cores."""
    from deviate.replay.slots import default_jobs as jobs_of_machine

    return max(1, len(devices) // gpus_per_run * per_gpu) if devices else jobs_of_machine()


def thread_limit(settings: Settings) -> int | None:
    """Threads per run if several share the machine, unless the user's shell sets a limit."""
    from deviate.replay.slots import slots, threads_per_run

    if settings.executor != "local" or "OMP_NUM_THREADS" in os.environ:
        return None
    return threads_per_run(len(slots(settings)))


# How runs are launched: command, preceding and following commands, interpreter, container and variables.

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SCRIPT [-- ARGS]",
        help="Training script or notebook, then -- and its arguments; or -- and a whole command. "
        "Default: that of deviate.toml.",
    ),
]
PYTHON = in_command("PATH", "Interpreter of the script; several are compared. Default: python on PATH.")
ENV = in_command("KEY=VALUE", "Environment variable of every run. May be repeated.")


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchFlags:
    """How runs are launched, besides the command itself."""

    prepare: list[str] | None = in_command("COMMAND", "Command that runs once, before all runs. May be repeated.")
    then: list[str] | None = in_command(
        "COMMAND", "Command that runs after each training, in the same folder. May be repeated."
    )
    python: list[str] | None = PYTHON
    wrap: str | None = in_command(
        "COMMAND", 'Command that starts a container for each run: "apptainer exec --nv image.sif".'
    )
    env: list[str] | None = ENV

    def pythons(self) -> Sequence[str]:
        """The requested interpreters. Raises InputError for one that does not exist."""
        for path in self.python or ():
            if self.wrap is None and shutil.which(path) is None:
                raise InputError(
                    f"--python {path}: there is no such interpreter", "name one as python3.12, or by its path"
                )
        return self.python or ()

    def complete(self, request: Request) -> Request:
        """Complete a request with preparing and wrapping commands, and the thread limit that its settings leave.

        Raises:
            InputError: a text cannot be read.
        """
        python = default_python(has_container=self.wrap is not None)
        return dataclasses.replace(
            request,
            environment=variables(self.env),
            prepare=tuple(with_interpreter(words, python) for words in commands(self.prepare, "--prepare")),
            wrap=commands([self.wrap], "--wrap")[0] if self.wrap is not None else (),
            n_threads=thread_limit(request.settings),
            origins=request.origins or tuple(origins().items()),
        )

    def prepare_target(self, words: Sequence[str], folder: Path, python: str | None) -> "PreparedScript":
        """Analyse the script of a command, and apply the user's `deviate.toml`.

        Args:
            words: a script with its arguments, or a whole command; nothing for the one that `deviate.toml` names.
            python: one of the interpreters; None for that which would have run the script.

        Raises:
            InputError: the script or the file cannot be used, or nothing is left to record.
        """
        from deviate.project.prepare import find_target, prepare_script  # a check of recorded runs does without

        default = default_python(has_container=self.wrap is not None)
        then = commands(self.then, "--then")
        return prepare_script(find_target(words, folder, python, default=default, then=then))


def variables(texts: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """`--env` without secrets: these are passed to runs through the process environment, and are not recorded."""
    from deviate.replay.commands import SECRETS

    plain, secret = split_secrets([pair(text, "--env", "KEY=VALUE") for text in texts or ()])
    os.environ.update(secret)
    if secret:
        os.environ[SECRETS] = ",".join(dict(secret))
    return tuple(plain)


# What runs capture besides metrics.


@dataclasses.dataclass(frozen=True, slots=True)
class CaptureFlags:
    """What runs capture besides metrics, as options."""

    capture: str | None = in_records(
        "KINDS", "Outputs to record: predictions, weights, or predictions,weights. Default: none."
    )
    capture_every: int | None = in_records(
        "K", "With --capture: also every K steps of the main loop. Default: only at the end.", min=1
    )
    capture_limit: str | None = in_records(
        "SIZE", f"With --capture: limit for each run: 500MB. Default: {DEFAULT_LIMIT}."
    )
    tta: str | None = in_records("NAMES", "Record predictions of augmented test inputs too: flip,crop25.")

    def spec(self, saved: "CaptureConfig") -> tuple[tuple[str, str], ...]:
        """The capture as in `Spec.capture`; options have precedence over `deviate.toml`.

        Raises:
            InputError: it cannot be kept, or there is nothing to keep.
        """
        kinds = saved.keep or () if self.capture is None else _names(self.capture, "--capture")
        augmentations = saved.tta or () if self.tta is None else _names(self.tta, "--tta")
        if self.tta is None and self.capture is not None and "predictions" not in kinds:
            augmentations = ()  # the file requests augmented predictions, and this call requests none
        is_none = self.capture == "none"
        return capture_pairs(
            kinds,
            every=self.capture_every or (None if is_none else saved.every),
            limit=self.capture_limit or (None if is_none else saved.limit),
            augmentations=augmentations,
            flag="[capture] keep" if self.capture is None and saved.keep else "--capture",
        )


def _names(text: str, flag: str) -> Sequence[str]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError(f"{flag} is empty", f"name something, or leave {flag} away")
    return names


# Which runs are made: variants, and the number of each.

DEFAULT_RUNS = 5
DEFAULT_VARIANT = "algo+impl"
RUNS = in_runs("N", "Runs of each variant. Default: 5.", "--runs", "-r", min=1)
VARIANT_NAMES = in_variation(
    "NAMES",
    f"What varies: {', '.join(VARIANTS)}; combinations: init+shuffle; or those of deviate.toml. "
    "Several with commas. Default: algo+impl (seeds and kernels).",
)


@dataclasses.dataclass(frozen=True, slots=True)
class VariantFlags:
    """Which streams and factors vary between runs."""

    variants: str | None = VARIANT_NAMES
    warn_only: bool = in_variation(
        None, "Where kernels are held: warn of operations that cannot be deterministic, do not fail.", default=False
    )
    vary: str | None = in_variation(
        "NAMES", "What else varies: a stream such as split, or the draws of a line: train.py:7. Several with commas."
    )
    trackers: str = in_records(
        "offline|as-is",
        "Experiment trackers (wandb …) in the runs: offline, or as the script has them.",
        default="offline",
    )

    def choose(self, prepared: "PreparedScript") -> tuple[Variant, ...]:
        """The requested variants, else those of `deviate.toml`, else the default.

        Raises:
            InputError: there is none of that name.
        """
        if self.variants is not None and not any(name.strip() for name in self.variants.split(",")):
            raise InputError(f"--variants {self.variants!r} names no variant", f"write --variants {DEFAULT_VARIANT}")
        names = self.variants.split(",") if self.variants else prepared.config.variants or (DEFAULT_VARIANT,)
        variants = choose_variants(names, prepared.variants, is_warning_only=self.warn_only)
        if self.vary is not None:
            variants = tuple(vary_more(variant, _names(self.vary, "--vary")) for variant in variants)
        if choice(self.trackers, "--trackers", ("offline", "as-is")) == "as-is":
            return tuple(dataclasses.replace(variant, are_trackers_offline=False) for variant in variants)
        return variants


MOST_RUNS = 30
"""Where precision decides and the user names no limit."""


@dataclasses.dataclass(frozen=True, slots=True)
class SampleSizeFlags:
    """Flags that determine the number of runs: a target precision, or declared looks."""

    until: str | None = in_runs("TARGET", 'Add runs until the interval of the mean is this narrow: "test_acc ±0.5".')
    min_runs: int | None = in_runs("N", "With --until: runs before the first check. Default: 5.", min=2)
    max_runs: int | None = in_runs("N", "With --until: at most N runs. Default: 30.", min=2)
    looks: str | None = in_runs(
        "NUMBERS", 'Numbers of runs at which results are compared: "5,10,20"; or how many looks: "4".'
    )

    def declare(self, runs: int | None, confidence: float) -> SampleSizeRule:
        """The rule that the user declares before the first run.

        Raises:
            InputError: a target or looks that cannot be read, both of them, or limits that make no sense.
        """
        if self.until is None and (self.min_runs or self.max_runs):
            raise InputError("--min-runs and --max-runs are for --until", "name a target as well, or give --runs alone")
        if self.until is None and self.looks is None:
            return SampleSizeRule()
        if self.until is not None and self.looks is not None:
            raise InputError("--until and --looks exclude each other", "precision decides one, comparisons the other")
        # Half a second of scipy, which a plain run need not wait for.
        from deviate.stats.design.group_sequential import parse_looks
        from deviate.stats.design.precision import MIN_RUNS, parse_target

        if self.until is not None:
            first = self.min_runs or runs or MIN_RUNS
            last = self.max_runs or max(MOST_RUNS, first)
            if last < first:
                raise InputError(f"--max-runs {last} is below --min-runs {first}", "let them rise")
            return SampleSizeRule(precision=parse_target(self.until).text, least=first, most=last)
        plan = parse_looks(self.looks or "", runs, confidence=confidence)
        if runs is not None and runs != plan.numbers[-1]:
            raise InputError(
                f"--runs {runs} is not the last of --looks {self.looks}", "leave --runs away, or let them agree"
            )
        return SampleSizeRule(looks=plan.numbers, spending=plan.spending)


# The runs that a check makes of both sides with `--ref`.


@dataclasses.dataclass(frozen=True, slots=True)
class SideFlags:
    """Options for runs of both sides with --ref; None for defaults."""

    runs: int | None = RUNS
    variants: str | None = VARIANT_NAMES
    name: str | None = in_runs("NAME", "With --ref: name of the experiment of the working tree.")
    seed: int | None = in_runs("N", "With --ref: seed of the experiments. Default: 0.")
    python: str | None = in_command("PATH", "With --ref: interpreter of the script. Default: python on PATH.")
    env: list[str] | None = ENV
    jobs: int | None = JOBS
    gpus: str | None = GPUS
    timeout: str | None = TIMEOUT

    def first_flag(self) -> str:
        """The first flag that was used; empty if none was. A variable is for all calls, also for those without runs."""
        names = (field.name for field in dataclasses.fields(self) if getattr(self, field.name))
        return next((f"--{name}" for name in names if not is_from_variable(name)), "")

"""Arguments and options of verbs that run a script: texts into values, each refusal with what to write instead."""

import dataclasses
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast

import typer

from deviate import replay
from deviate.base import split_secrets
from deviate.errors import InputError
from deviate.model import Settings

DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)")
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SCRIPT [-- ARGS]",
        help="The training script and, after --, its arguments; or a whole command after --. "
        "Default: what deviate.toml names.",
    ),
]
Runs = Annotated[
    int | None, typer.Option("--runs", "-r", min=1, metavar="N", help="How many runs of each variant. Default: 5.")
]
Variants = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"What varies: {', '.join(replay.VARIANTS)}, a combination as init+shuffle, or one of deviate.toml; "
        "several with commas. Default: algo+impl.",
    ),
]
WarnOnly = Annotated[
    bool,
    typer.Option("--warn-only", help="Where kernels are held: list operations without a deterministic version."),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs at a time. Default: one per two cores.")
]
Gpus = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICES", help="Devices for the runs: auto, none, or numbers as 0,1. Default: as the script finds."
    ),
]
PerGpu = Annotated[int, typer.Option(min=1, metavar="N", help="Runs that share one GPU.")]
GpusPerRun = Annotated[int, typer.Option(min=1, metavar="N", help="GPUs that one run gets, for torchrun and the like.")]
Timeout = Annotated[str | None, typer.Option(metavar="TIME", help="End a run after this time: 30s, 20m, 8h.")]
StallTimeout = Annotated[
    str | None, typer.Option(metavar="TIME", help="End a run that gives no value and no output for this time.")
]
Retries = Annotated[
    int, typer.Option(min=0, metavar="N", help="How often a lost run is started anew. Failed training never is.")
]
MaxFailures = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Start no further run after this many failures.")
]
IgnoreFailure = Annotated[str | None, typer.Option(metavar="CODES", help="Exit codes that count as success: 1,143.")]
Requeue = Annotated[
    str,
    typer.Option(metavar="fresh|continue", help="What a run that was lost begins with: fresh, or continue its files."),
]
Keep = Annotated[
    str, typer.Option(metavar="all|best|none", help="Work copies that stay: all, best (and worst), or none.")
]
Executor = Annotated[
    str, typer.Option(metavar="local|slurm|ray", help="Where runs are carried out: local, slurm or ray.")
]
Option = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-o", metavar="KEY=VALUE", help="Setting of the executor: partition=gpu. May be repeated."
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Time for all runs together: 8h. None is started that would not end in it."),
]
Until = Annotated[
    str | None, typer.Option(metavar="TARGET", help='Add runs until an interval is that narrow: "test_acc ±0.5".')
]
MinRuns = Annotated[
    int | None, typer.Option(min=2, metavar="N", help="With --until: runs of the first look. Default: 5.")
]
MaxRuns = Annotated[int | None, typer.Option(min=2, metavar="N", help="With --until: most runs. Default: 30.")]
Looks = Annotated[
    str | None,
    typer.Option(metavar="NUMBERS", help='Numbers of runs at which you mean to compare: "5,10,20", or "4" of them.'),
]
Versus = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COMMAND", help='NAME=COMMAND, twice or more: run in pairs and compare. "base=python train.py"'
    ),
]
Prepare = Annotated[
    list[str] | None,
    typer.Option("--prepare", metavar="COMMAND", help="Command to run once before all runs. May be repeated."),
]
Then = Annotated[
    list[str] | None,
    typer.Option(metavar="COMMAND", help="Command after training, in the same files. May be repeated."),
]
Python = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="Interpreter for the script; several are compared. Default: python on PATH."),
]
Wrap = Annotated[
    str | None, typer.Option(metavar="COMMAND", help='Container for each command: "apptainer exec --nv image.sif".')
]
Env = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="Variable for every run: KEY=VALUE. May be repeated.")
]
Trackers = Annotated[
    str, typer.Option(metavar="offline|as-is", help="Experiment trackers in the runs: offline, or as-is.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse runs whose environments differ.")]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the user says of runs to be made; None for what is left to us."""

    runs: int | None
    variants: str | None
    name: str | None
    seed: int | None
    python: str | None
    env: Sequence[str] | None
    jobs: int | None
    gpus: str | None
    timeout: str | None

    def given(self) -> str:
        """The first flag that was given; empty where none was."""
        flags = (f"--{it.name}" for it in dataclasses.fields(self) if getattr(self, it.name))
        return next(flags, "")


def seconds(text: str | None, flag: str) -> float | None:
    """A duration in seconds; None for None.

    Raises:
        InputError: it is none, or zero.
    """
    if text is None:
        return None
    found = DURATION.fullmatch(text.strip().lower())
    value = float(found[1]) * SECONDS[found[2]] if found else 0.0
    if value <= 0:
        raise InputError(f"{flag} {text} is no time", f"write seconds, or a unit: {flag} 90s, {flag} 20m, {flag} 8h")
    return value


def choice(text: str, flag: str, options: Sequence[str]) -> str:
    """One of several words. Raises InputError for another one."""
    if text not in options:
        raise InputError(f"{flag} {text} is none of {', '.join(options)}", f"write it as {flag} {options[0]}")
    return text


def pair(text: str, flag: str, form: str) -> tuple[str, str]:
    """Two texts around the first equals sign. Raises InputError where there is none."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{flag} {text} is not of the form {form}", f"write it as {flag} {form}")
    return name, value


def interpreters(paths: Sequence[str] | None, *, has_container: bool) -> Sequence[str]:
    """Those of `--python`. Raises InputError for one that is not here; what is in a container cannot be seen."""
    for path in paths or ():
        if not has_container and shutil.which(path) is None:
            raise InputError(f"--python {path}: there is no such interpreter", "name one as python3.12, or by its path")
    return paths or ()


def commands(texts: Sequence[str] | None, flag: str) -> tuple[tuple[str, ...], ...]:
    """Commands as a shell would take them apart. Raises InputError for a quotation without end, or nothing."""
    found = []
    for text in texts or ():
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise InputError(f"{flag} {text!r}: {error}", "close the quotation") from error
        if not words:
            raise InputError(f"{flag} is empty", f'give a command: {flag} "python eval.py"')
        found.append(words)
    return tuple(found)


def variables(texts: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """`--env` without its secrets: those go to the runs through our own environment, and into no record."""
    plain, secret = split_secrets([pair(text, "--env", "KEY=VALUE") for text in texts or ()])
    os.environ.update(secret)
    if secret:
        os.environ[replay.SECRETS] = ",".join(dict(secret))
    return tuple(plain)


def default_jobs(devices: Sequence[str] | None, per_gpu: int, gpus_per_run: int) -> int:
    """Runs at a time where the user does not say: as many as there is room for on the devices, else by the cores."""
    return max(1, len(devices) // gpus_per_run * per_gpu) if devices else replay.default_jobs()


def _refuse_idle(*, has_options: bool, has_gpus: bool, per_gpu: int, gpus_per_run: int) -> None:
    """Raises InputError for what would do nothing on this machine."""
    if has_options:
        raise InputError("--option is for another executor", "add --executor slurm or --executor ray")
    if not has_gpus and (per_gpu > 1 or gpus_per_run > 1):
        flag = "--per-gpu" if per_gpu > 1 else "--gpus-per-run"
        raise InputError(f"{flag} shares out GPUs, and none are given", "add --gpus auto, or --gpus 0,1")


def settings(
    *,
    executor: str,
    option: Sequence[str] | None,
    jobs: int | None,
    gpus: str | None,
    per_gpu: int,
    gpus_per_run: int,
    timeout: str | None,
    stall_timeout: str | None,
    retries: int,
    max_failures: int | None,
    ignore_failure: str | None,
    requeue: str,
    keep: str,
) -> Settings:
    """How runs are to be carried out.

    Raises:
        InputError: a value is none, or asks for devices that are not there.
    """
    try:
        codes = tuple(int(code) for code in ignore_failure.split(",")) if ignore_failure else ()
    except ValueError:
        raise InputError(f"--ignore-failure {ignore_failure} is no list of exit codes", "write 1 or 1,143") from None
    devices = replay.choose_gpus(gpus)
    named = tuple(pair(text, "--option", "KEY=VALUE") for text in option or ())
    if executor not in replay.EXECUTORS:
        choice(executor, "--executor", list(replay.EXECUTORS))
    if executor == "local":
        _refuse_idle(has_options=bool(named), has_gpus=bool(devices), per_gpu=per_gpu, gpus_per_run=gpus_per_run)
    return Settings(
        executor=executor,
        options=named,
        jobs=jobs or default_jobs(devices, per_gpu, gpus_per_run),
        gpus=devices,
        per_gpu=per_gpu,
        gpus_per_run=gpus_per_run,
        timeout_s=seconds(timeout, "--timeout"),
        stall_timeout_s=seconds(stall_timeout, "--stall-timeout"),
        retries=retries,
        max_failures=max_failures,
        ignored_codes=codes,
        requeue=cast("Literal['fresh', 'continue']", choice(requeue, "--requeue", ("fresh", "continue"))),
        keep=cast("Literal['none', 'best', 'all']", choice(keep, "--keep", ("all", "best", "none"))),
    )

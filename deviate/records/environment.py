"""Environments of runs on disk: what a run was started in beside it, and what many share once per experiment.

<experiment>/environments/<digest>.json           interpreter, packages, machine, variables of the shell: a `Platform`
<experiment>/runs/<run id>/attempt-<k>/environment.json   what is the attempt's own, and the digest
"""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deviate.errors import RecordError
from deviate.records.files import read_record, reading, to_builtins, write_record
from deviate.records.schema import EnvironmentFile

DIGITS = 16
PACKAGE = "package "
"""What facts about packages begin with, among other facts."""
PACKAGES = "packages"
SHOWN_ONLY = ("git",)
"""Facts for people: the sources of an experiment are frozen, and have a hash."""
ALWAYS_TOLD = "CPU"
"""Who tells this fact tells all variables that are set."""
VARIABLE = "variable "
"""What facts about variables begin with; a variable that is not among the facts was not set."""
COMPARED = ("CPU", "cores", "GPU", "NVIDIA driver", "CUDA of the driver")
"""Facts about the machine that have to be the same."""
NOT_COMPARED = (
    "CUDA_DEVICE_ORDER", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING", "PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "TF_CPP_MIN_LOG_LEVEL", "TF_CONFIG", "TORCH_HOME",
    "KERAS_HOME", "TORCH_EXTENSIONS_DIR", "NCCL_SOCKET_IFNAME", "TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES",
)  # fmt: skip
NOT_COMPARED_ENDS = ("_VISIBLE_DEVICES", "_VISIBLE_CHIPS", "_CACHE_DIR", "_CACHE_PATH")
"""Variables that name a place, a host or a device, or have to do with output alone."""


@dataclass(frozen=True, slots=True)
class Platform:
    """What a process that starts runs with one interpreter finds once, for all of them.

    Attributes:
        interpreter: `path`, `version`, `implementation` and `build` (the whole version text), or `unknown`: why not.
        packages: name to version, as that interpreter finds them; None where it is unknown.
        machine: `CPU`, `cores` and `GPU` (kinds), `NVIDIA driver` are compared; `affinity`, `memory`, … are not.
        shell: variables that the shell had set and that matter to frameworks.
    """

    interpreter: Mapping[str, str]
    packages: Mapping[str, str] | None
    machine: Mapping[str, str]
    shell: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """What an attempt was started in, beyond its platform.

    Attributes:
        platform: digest of the platform.
        threads: variables that limit threads, as the command saw them, those of the spec left out.
        frameworks: what the guest told of frameworks, as far as it was at hand when the run ended.
        git: where the project stood when it was frozen, in words; empty where it is not in git.
        more: what is kept, never compared and not read back: hostname, command, seeds, variables, …
    """

    platform: str
    threads: Mapping[str, str]
    frameworks: Mapping[str, str]
    git: str
    more: Mapping[str, Any] = field(default_factory=dict, compare=False)


def environment_file(attempt: Path) -> Path:
    return attempt / "environment.json"


def platform_file(experiment: Path, digest: str) -> Path:
    return experiment / "environments" / f"{digest}.json"


def platform_digest(platform: Platform) -> str:
    """The first hexadecimal digits of the SHA-256 of the canonical JSON."""
    text = json.dumps(to_builtins(platform), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:DIGITS]


def write_platform(experiment: Path, platform: Platform) -> str:
    """Write it unless it is on record; gives its digest.

    Raises:
        RecordError: the disk does not take it.
    """
    digest = platform_digest(platform)
    path = platform_file(experiment, digest)
    if not path.exists():
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise RecordError(f"making {path.parent}: {error}", "check free space and permissions") from error
        write_record(path, "platform", platform)
    return digest


def read_platform(experiment: Path, digest: str) -> Platform:
    """Raises RecordError when the file is missing or damaged."""
    return _read_platform(platform_file(experiment, digest))


@functools.lru_cache(maxsize=64)  # the name says what is in it, and thousands of attempts name the same one
def _read_platform(path: Path) -> Platform:
    return read_record(path, "platform", Platform)


def write_environment(attempt: Path, environment: RunEnvironment) -> None:
    """Not waited for: a power cut may take it, and the run counts all the same."""
    fields = {one.name: getattr(environment, one.name) for one in dataclasses.fields(environment) if one.name != "more"}
    write_record(environment_file(attempt), "environment", {**fields, **environment.more}, is_durable=False)


def read_environment(attempt: Path) -> RunEnvironment | None:
    """What was written, without `more`; None where there is none, or none that can be read: runs count without."""
    path = environment_file(attempt)
    try:
        file = read_record(path, "environment", EnvironmentFile)
        with reading(path):
            return RunEnvironment(_digest_from(file.platform), file.threads, file.frameworks, file.git)
    except RecordError:
        return None


def _digest_from(text: str) -> str:
    """Raises ValueError for what would be another file's name."""
    if not text.isalnum():
        raise ValueError(f"{text!r} is no digest")
    return text


def platform_facts(platform: Platform, *, has_machine: bool = True) -> dict[str, str]:
    """What has to be the same in runs that are compared: no path, no size, no name of a host.

    Args:
        has_machine: also what belongs to the machine and its shell, not to the interpreter alone.
    """
    facts: dict[str, str] = {}
    if "unknown" not in platform.interpreter:
        facts["interpreter"] = platform.interpreter["build"]
    if platform.packages is not None:
        facts |= {f"{PACKAGE}{name}": version for name, version in platform.packages.items()}
    if has_machine:
        facts |= {name: platform.machine[name] for name in COMPARED if name in platform.machine}
        facts |= {f"{VARIABLE}{name}": value for name, value in platform.shell.items() if _is_compared(name)}
    return facts


def missing_facts(attempts: Iterable[Path]) -> list[str]:
    """Sentences on what is not told of the environments of attempts, because a file is damaged or missing."""
    sentences: dict[str, None] = {}
    for attempt in attempts:
        environment = read_environment(attempt)
        if environment is None:
            continue
        try:
            read_platform(attempt.parents[2], environment.platform)
        except RecordError as error:
            sentences[f"versions and hardware of runs are not shown: {error.message}"] = None
    return list(sentences)


def facts_of(attempt: Path) -> dict[str, str]:
    """Facts about the environment of an attempt for people and for comparison; packages are one fact."""
    environment = read_environment(attempt)
    if environment is None:
        return {}
    facts = {"git": environment.git} if environment.git else {}
    threads = {f"{VARIABLE}{name}": value for name, value in environment.threads.items()}
    try:
        platform = read_platform(attempt.parents[2], environment.platform)
    except RecordError:
        return {**facts, **threads}
    shared_facts = platform_facts(platform)
    facts |= {name: value for name, value in shared_facts.items() if not name.startswith(PACKAGE)}
    if platform.packages is not None:
        text = json.dumps(dict(platform.packages), sort_keys=True)
        facts[PACKAGES] = f"{len(platform.packages)}, digest {hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return facts | threads


def packages_of(attempt: Path) -> Mapping[str, str]:
    """The packages that an attempt ran with; empty where they are unknown."""
    environment = read_environment(attempt)
    try:
        return (read_platform(attempt.parents[2], environment.platform).packages or {}) if environment else {}
    except RecordError:
        return {}


def _is_compared(variable: str) -> bool:
    return variable not in NOT_COMPARED and not variable.endswith(NOT_COMPARED_ENDS)

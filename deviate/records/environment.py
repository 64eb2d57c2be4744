"""Environments of runs on disk: what a run was started in beside it, and what many share once per experiment.

<experiment>/environments/<digest>.json           interpreter, packages, machine, variables of the shell: a `Platform`
<experiment>/runs/<run id>/attempt-<k>/environment.json   what is the attempt's own, and the digest
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from deviate.base.texts import first_few
from deviate.errors import RecordError
from deviate.model.records import Run
from deviate.records.files import read_record, to_builtins, write_record, writing
from deviate.records.layout import attempts, runs_folder, spec_file
from deviate.records.runs import read_intact_result, read_spec

DIGITS = 16
PACKAGE = "package "
"""Prefix of facts about packages."""
PACKAGES = "packages"
SHOWN_ONLY = ("git",)
"""Facts that are shown and not compared: the sources of an experiment are frozen and have a hash."""
ALWAYS_TOLD = "CPU"
"""A record with this fact has all variables that were set."""
VARIABLE = "variable "
"""Prefix of facts about variables; a variable without a fact was not set."""
COMPARED = ("CPU", "cores", "GPU", "NVIDIA driver", "CUDA of the driver", "AMD driver")
"""Facts about the machine that must be equal."""
NOT_COMPARED = (
    "CUDA_DEVICE_ORDER", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING", "PYTHONPYCACHEPREFIX", "PYTHONUSERBASE", "TF_CPP_MIN_LOG_LEVEL", "TF_CONFIG", "TORCH_HOME",
    "KERAS_HOME", "TORCH_EXTENSIONS_DIR", "NCCL_SOCKET_IFNAME", "TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES",
)  # fmt: skip
NOT_COMPARED_ENDS = ("_VISIBLE_DEVICES", "_VISIBLE_CHIPS", "_CACHE_DIR", "_CACHE_PATH")
"""Endings of variables that are not compared: they name a place, a host or a device, or concern output only."""


@dataclass(frozen=True, slots=True)
class Platform:
    """What a process that starts runs with one interpreter finds once, for all of them.

    Attributes:
        interpreter: `path`, `version`, `implementation` and `build` (the whole version text), or `unknown`: why not.
        packages: name to version, as that interpreter finds them; None where it is unknown.
        machine: `CPU`, `cores` and `GPU` (kinds), drivers are compared; `affinity`, `memory`, … are not.
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
        with writing(f"making {path.parent}"):
            path.parent.mkdir(exist_ok=True)
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
    try:
        environment = read_record(environment_file(attempt), "environment", RunEnvironment)
    except RecordError:
        return None
    return environment if environment.platform.isalnum() else None  # else it would be another file's name


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
        try:
            _platform_of(attempt)
        except RecordError as error:
            sentences[f"versions and hardware of runs are not shown: {error.message}"] = None
    return list(sentences)


def _platform_of(attempt: Path) -> Platform | None:
    """Raises RecordError when the file is missing or damaged."""
    environment = read_environment(attempt)
    return None if environment is None else read_platform(attempt.parents[2], environment.platform)


def facts_of(attempt: Path) -> dict[str, str]:
    """Facts about the environment of an attempt for people and for comparison; packages are one fact."""
    environment = read_environment(attempt)
    if environment is None:
        return {}
    facts = {"git": environment.git} if environment.git else {}
    with contextlib.suppress(RecordError):
        platform = read_platform(attempt.parents[2], environment.platform)
        shared_facts = platform_facts(platform)
        facts |= {name: value for name, value in shared_facts.items() if not name.startswith(PACKAGE)}
        if platform.packages is not None:
            facts[PACKAGES] = _packages_digest(attempt.parents[2], environment.platform)
    return facts | {f"{VARIABLE}{name}": value for name, value in environment.threads.items()}


@functools.lru_cache(maxsize=64)
def _packages_digest(experiment: Path, platform: str) -> str:
    packages = dict(read_platform(experiment, platform).packages or {})
    text = json.dumps(packages, sort_keys=True)
    return f"{len(packages)}, digest {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def packages_of(attempt: Path) -> Mapping[str, str]:
    """The packages that an attempt ran with; empty where they are unknown."""
    with contextlib.suppress(RecordError):
        if platform := _platform_of(attempt):
            return platform.packages or {}
    return {}


def _is_compared(variable: str) -> bool:
    return variable not in NOT_COMPARED and not variable.endswith(NOT_COMPARED_ENDS)


# Compares the environments of runs: within a variant, across an experiment, and with the environment of now.
#
# Interpreter, packages, framework builds, driver, kind of device, flags and threads have to be equal; host names,
# paths, sizes and times may differ.

MOST_NAMED = 5
CURE = "run all replicates in one environment, under another --name"

Who = TypeVar("Who")
Levels = dict[str, list[Who]]
"""Each value of a fact, and the runs that have it."""


def differences(runs: Sequence[Run]) -> list[str]:
    """Warnings about environment facts that differ between runs of a variant; packages are combined into one warning.

    Facts that the variant itself changes from run to run, such as thread counts in `config`, are expected to differ. A
    run that did not record a fact, because it failed before, is not compared in it.
    """
    counted = sorted((run for run in runs if run.status not in {"lost", "cancelled"}), key=lambda run: run.replicate)
    facts = {run.replicate: run.environment for run in counted}
    packages = {run.replicate: packages_of(run.folder) for run in counted if PACKAGES in run.environment}
    texts = [*_differing_facts(facts, [run.controls for run in counted]), *_packages_phrase(packages)]
    return [f"the runs differ in {text}: {CURE}" for text in texts]


def environment_misfits(experiment: Path) -> tuple[str, ...]:
    """Environment facts that differ between finished runs, over all variants; `--strict` refuses to continue with any.

    Flags of frameworks are compared within a variant only, because variants set them. Empty when everything is equal.

    Raises:
        RecordError: a spec or a result is damaged.
    """
    variants: dict[str, dict[int, Mapping[str, str]]] = {}
    controls: dict[str, list[Mapping[str, str]]] = {}
    everywhere: dict[str, Mapping[str, str]] = {}
    packages: dict[str, Mapping[str, str]] = {}
    for run in sorted(runs_folder(experiment).glob("*/")):
        attempt = _counting_attempt(run)
        environment = read_environment(attempt) if attempt else None
        if attempt is None or environment is None:
            continue
        try:
            spec = read_spec(spec_file(run))
        except RecordError:  # the reader of the experiment names it
            continue
        name = f"{spec.variant} {spec.replicate}"
        variants.setdefault(spec.variant, {})[spec.replicate] = environment.frameworks
        controls.setdefault(spec.variant, []).append(dict(spec.controls))
        everywhere[name] = facts_of(attempt)
        if PACKAGES in everywhere[name]:
            packages[name] = packages_of(attempt)
    misfits = _differing_facts(everywhere, [levels for those in controls.values() for levels in those])
    misfits += _packages_phrase(packages)
    for variant, facts in variants.items():
        misfits += _differing_facts(dict(sorted(facts.items())), controls[variant], place=f" in {variant}")
    return tuple(misfits)


def environment_changed(experiment: Path, now: Platform, *, has_machine: bool = True) -> tuple[str, ...]:
    """Environment facts that would differ between runs added now and all recorded runs; empty when there are none.

    Args:
        has_machine: False where runs are carried out elsewhere: then only interpreter and packages are compared.
    """
    counting = filter(None, map(_counting_attempt, runs_folder(experiment).glob("*/")))
    digests = {environment.platform for environment in map(read_environment, counting) if environment}
    try:
        recorded = [
            platform_facts(read_platform(experiment, digest), has_machine=has_machine) for digest in sorted(digests)
        ]
    except RecordError:
        return ()
    facts = platform_facts(now, has_machine=has_machine)
    changes: dict[str, str] = {}
    for fact in sorted({*facts, *(fact for facts in recorded for fact in facts)}, key=str.casefold):
        before = list(dict.fromkeys(facts.get(fact, ABSENT) for facts in recorded if _tells(fact, facts)))
        if _tells(fact, facts) and before and facts.get(fact, ABSENT) not in before:
            changes[fact] = f"{fact.removeprefix(PACKAGE)} was {' or '.join(before)}, is {facts.get(fact, ABSENT)} now"
    of_packages = [text for fact, text in changes.items() if fact.startswith(PACKAGE)]
    texts = [text for fact, text in changes.items() if not fact.startswith(PACKAGE)]
    return (*texts, *_summarise_packages(of_packages))


ABSENT = "absent"


def _counting_attempt(run: Path) -> Path | None:
    """The latest attempt that ended and will not be repeated."""
    for attempt in reversed(attempts(run)):
        result = read_intact_result(attempt)
        if result is not None:
            return None if result.status in {"lost", "cancelled"} else attempt
    return None


def _differing_facts(
    facts: Mapping[Who, Mapping[str, str]], controls: Sequence[Mapping[str, str]], place: str = ""
) -> list[str]:
    """Each fact that differs between runs, with its values; those of a factor that is held at several levels may."""
    factors = {factor for levels in controls for factor in levels}
    declared = [factor for factor in factors if len({levels.get(factor) for levels in controls}) > 1]
    disagreements = _disagreements(facts, declared)
    return [f"{fact}{place} ({_levels_text(levels)})" for fact, levels in disagreements.items()]


def _tells(fact: str, facts: Mapping[str, str]) -> bool:
    """Whether an environment reports a fact, either with a value or by omitting it from a complete list."""
    if fact.startswith(VARIABLE):
        return ALWAYS_TOLD in facts
    if fact.startswith(PACKAGE):
        return any(name.startswith(PACKAGE) for name in facts)
    return fact in facts


def _disagreements(
    facts_of_runs: Mapping[Who, Mapping[str, str]], declared: Sequence[str] = ()
) -> dict[str, Levels[Who]]:
    """Facts whose recorded values differ between runs. Facts of a declared factor are allowed to differ."""
    distinct = list({frozenset(facts.items()): facts for facts in facts_of_runs.values()}.values())
    disagreements: dict[str, Levels[Who]] = {}
    for fact in sorted({fact for facts in distinct for fact in facts} - {*SHOWN_ONLY, PACKAGES}, key=str.casefold):
        if any(factor in fact.casefold() for factor in declared):
            continue
        if len({facts.get(fact, ABSENT) for facts in distinct if _tells(fact, facts)}) < 2:
            continue  # the usual case, told from the few environments that many runs share
        levels: Levels[Who] = {}
        for who, facts in facts_of_runs.items():
            if _tells(fact, facts):
                levels.setdefault(facts.get(fact, ABSENT), []).append(who)
        disagreements[fact] = levels
    return disagreements


def _packages_phrase(facts: Mapping[Who, Mapping[str, str]]) -> list[str]:
    """One phrase on packages whose version differs or that are missing in some runs; None if there are none."""
    named = {  # runs of one platform share the mapping of its packages
        id(packages): {f"{PACKAGE}{name}": version for name, version in packages.items()} for packages in facts.values()
    }
    if len(named) < 2:
        return []
    disagreements = _disagreements({who: named[id(packages)] for who, packages in facts.items()})
    return _summarise_packages(
        [f"{fact.removeprefix(PACKAGE)}: {_levels_text(levels)}" for fact, levels in disagreements.items()]
    )


def _summarise_packages(texts: Sequence[str]) -> list[str]:
    """One phrase with the number of packages and the first few of these texts; an empty list for none."""
    if not texts:
        return []
    more = [f"and {len(texts) - MOST_NAMED} more"] if len(texts) > MOST_NAMED else []
    return [f"{len(texts)} package{'s' * (len(texts) > 1)} ({'; '.join([*texts[:MOST_NAMED], *more])})"]


def _levels_text(levels: Levels[Who]) -> str:
    """`2.1 in replicate 0–4; 2.2 in replicate 5`, or in runs called by variant and replicate."""
    return "; ".join(f"{value} in {_name_runs(those)}" for value, those in levels.items())


def _name_runs(those: Sequence[Who]) -> str:
    numbers = [who for who in those if isinstance(who, int)]
    if not numbers:
        return first_few([str(who) for who in those], MOST_NAMED)
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    ranges = (f"{part[0]}–{part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts)
    return f"replicate {', '.join(ranges)}"

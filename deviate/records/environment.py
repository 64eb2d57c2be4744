"""Environments of runs on disk: what a run was started in beside it, and what many share once per experiment.

<experiment>/environments/<digest>.json           interpreter, packages, machine, variables of the shell: a `Platform`
<experiment>/runs/<run id>/attempt-<k>/environment.json   what is the attempt's own, and the digest
"""

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from deviate.base.digests import document_digest
from deviate.errors import RecordError, writing
from deviate.model.plan import Spec
from deviate.model.records import Run
from deviate.model.texts import count, first_few, ranges
from deviate.records.files import find_record, read_record, to_builtins, write_record
from deviate.records.layout import attempts, runs_folder, spec_file
from deviate.records.runs import read_intact_result, read_spec

DIGITS = 16
"""Hexadecimal digits of its digest that name a platform."""
PACKAGE = "package "
"""Prefix of facts about packages."""
PACKAGES = "packages"
"""The fact that stands for all packages, with their number and a digest; a record with it has all that were there."""
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
        variables: of the command, those that matter or that we set, without secrets; kept and never compared.
        deviate: version of the package.
    """

    platform: str
    threads: Mapping[str, str]
    frameworks: Mapping[str, str]
    git: str
    variables: Mapping[str, str] = field(default_factory=dict)
    deviate: str = ""


def environment_file(attempt: Path) -> Path:
    return attempt / "environment.json"


def platform_file(experiment: Path, digest: str) -> Path:
    return experiment / "environments" / f"{digest}.json"


def write_platform(experiment: Path, platform: Platform) -> str:
    """Write it unless it is on record; gives its digest.

    Raises:
        RecordError: the disk does not take it.
    """
    digest = document_digest(to_builtins(platform))[:DIGITS]
    path = platform_file(experiment, digest)
    if not path.exists():
        with writing(f"making {path.parent}"):
            path.parent.mkdir(exist_ok=True)
        write_record(path, platform)
    return digest


@functools.lru_cache(maxsize=64)  # the name says what is in it, and thousands of attempts name the same one
def read_platform(experiment: Path, digest: str) -> Platform:
    """Raises RecordError when the file is missing or damaged."""
    return read_record(platform_file(experiment, digest), Platform)


def write_environment(attempt: Path, environment: RunEnvironment) -> None:
    """Not waited for: a power cut may take it, and the run counts all the same."""
    write_record(environment_file(attempt), environment, is_durable=False)


def read_environment(attempt: Path) -> RunEnvironment | None:
    """What was written; None where there is none, or none that can be read: runs count without."""
    environment = find_record(environment_file(attempt), RunEnvironment)
    return environment if environment and environment.platform.isalnum() else None  # else it names another file


def platform_facts(platform: Platform) -> dict[str, str]:
    """What has to be the same in runs that are compared: no path, no size, no name of a host."""
    facts: dict[str, str] = {}
    if "unknown" not in platform.interpreter:
        facts["interpreter"] = platform.interpreter["build"]
    if platform.packages is not None:
        digest = document_digest({PACKAGES: dict(platform.packages)})
        facts[PACKAGES] = f"{len(platform.packages)}, digest {digest[:8]}"
    facts |= {name: platform.machine[name] for name in COMPARED if name in platform.machine}
    return facts | {f"{VARIABLE}{name}": value for name, value in platform.shell.items() if _is_compared(name)}


def _is_compared(variable: str) -> bool:
    return variable not in NOT_COMPARED and not variable.endswith(NOT_COMPARED_ENDS)


def _package_facts(platform: Platform) -> dict[str, str]:
    return {f"{PACKAGE}{name}": version for name, version in (platform.packages or {}).items()}


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
        facts |= platform_facts(read_platform(attempt.parents[2], environment.platform))
    return facts | {f"{VARIABLE}{name}": value for name, value in environment.threads.items()}


# Compares the environments of runs: within a variant, across an experiment, and with the environment of now.
#
# Interpreter, packages, framework builds, driver, kind of device, flags and threads have to be equal; host names,
# paths, sizes and times may differ.

MOST_NAMED = 5
CURE = "run all replicates in one environment, under another --name"
ABSENT = "absent"

T = TypeVar("T")
Facts = Mapping[str, str]
Named = tuple[str, int]
"""How a run is called in a sentence: by its variant or "replicate", and its number."""


def differences(runs: Sequence[Run]) -> list[str]:
    """Warnings about environment facts that differ between runs of a variant; packages are combined into one warning.

    Facts that the variant itself changes from run to run, such as thread counts in `config`, are expected to differ. A
    run that did not record a fact, because it failed before, is not compared in it.
    """
    counted = sorted((run for run in runs if run.status not in {"lost", "cancelled"}), key=lambda run: run.replicate)
    facts = [(("replicate", run.replicate), run.environment, run.folder) for run in counted]
    return [f"the runs differ in {text}; {CURE}" for text in _differing(facts, [run.controls for run in counted])]


def environment_misfits(experiment: Path) -> tuple[str, ...]:
    """Environment facts that differ between finished runs, over all variants; `--strict` refuses to continue with any.

    Flags of frameworks are compared within a variant only, because variants set them. Empty when everything is equal.
    """
    runs = list(_counted(experiment))
    everywhere = [((spec.variant, spec.replicate), facts_of(attempt), attempt) for spec, attempt, _ in runs]
    misfits = _differing(everywhere, [dict(spec.controls) for spec, _, _ in runs])
    for variant in dict.fromkeys(spec.variant for spec, _, _ in runs):
        those = [run for run in runs if run[0].variant == variant]
        flags = [((variant, spec.replicate), environment.frameworks, attempt) for spec, attempt, environment in those]
        misfits += _differing(flags, [dict(spec.controls) for spec, _, _ in those])
    return tuple(misfits)


def environment_changed(experiment: Path, now: Platform, *, has_machine: bool = True) -> tuple[str, ...]:
    """Environment facts that would differ between runs added now and all recorded runs; empty when there are none.

    Args:
        has_machine: False where runs are carried out elsewhere: then only interpreter and packages are compared.
    """
    digests = sorted({environment.platform for _, _, environment in _counted(experiment)})
    try:
        platforms = [*(read_platform(experiment, digest) for digest in digests), now]
    except RecordError:
        return ()
    if not has_machine:
        platforms = [dataclasses.replace(platform, machine={}, shell={}) for platform in platforms]
    facts = [({**platform_facts(platform), **_package_facts(platform)}, [platform]) for platform in platforms]
    changes: dict[str, str] = {}
    for fact, levels in _disagreements(facts):
        *before, last = levels
        if levels[last] == platforms[-1:]:
            changes[fact] = f"was {' or '.join(before)}, is {last} now"
    return tuple(_phrases(changes))


def _counted(experiment: Path) -> Iterator[tuple[Spec, Path, RunEnvironment]]:
    """Runs with an environment that ended and will not be repeated: spec, latest such attempt and its environment."""
    for run in sorted(runs_folder(experiment).glob("*/")):
        ended = ((attempt, read_intact_result(attempt)) for attempt in reversed(attempts(run)))
        attempt, result = next((pair for pair in ended if pair[1] is not None), (None, None))
        if attempt is None or result is None or result.status in {"lost", "cancelled"}:
            continue
        environment = read_environment(attempt)
        with contextlib.suppress(RecordError):  # the reader of the experiment names a damaged spec
            if environment is not None:
                yield read_spec(spec_file(run)), attempt, environment


def _differing(runs: Iterable[tuple[Named, Facts, Path]], controls: Sequence[Mapping[str, str]]) -> list[str]:
    """Each fact that differs between runs, with its values; those of a factor that is held at several levels may.

    Args:
        runs: names, facts and attempts. Runs of equal facts have equal packages, which are read once for all of them.
    """
    groups: dict[frozenset[tuple[str, str]], tuple[Facts, list[Named]]] = {}
    for name, facts, attempt in runs:
        key = frozenset(facts.items())
        if key not in groups:
            groups[key] = {**facts, **_packages_of(attempt, facts)}, []
        groups[key][1].append(name)
    factors = {factor for levels in controls for factor in levels}
    declared = [factor for factor in factors if len({levels.get(factor) for levels in controls}) > 1]
    texts: dict[str, str] = {}
    for fact, levels in _disagreements(list(groups.values())):
        if not any(factor in fact.casefold() for factor in declared):
            texts[fact] = f"({'; '.join(f'{value} in {_name_runs(those)}' for value, those in levels.items())})"
    return _phrases(texts)


def _packages_of(attempt: Path, facts: Facts) -> dict[str, str]:
    """Facts about the packages of an attempt, if its other facts tell that they are known."""
    with contextlib.suppress(RecordError):
        if PACKAGES in facts and (platform := _platform_of(attempt)):
            return _package_facts(platform)
    return {}


def _disagreements(groups: Sequence[tuple[Facts, list[T]]]) -> Iterator[tuple[str, dict[str, list[T]]]]:
    """Facts that differ between groups of equal facts: each of their values, and the members that have it."""
    names = {fact for facts, _ in groups for fact in facts} - {*SHOWN_ONLY, PACKAGES}
    for fact in sorted(names, key=str.casefold):
        teller = ALWAYS_TOLD if fact.startswith(VARIABLE) else PACKAGES if fact.startswith(PACKAGE) else fact
        levels: dict[str, list[T]] = {}
        for facts, members in groups:
            if teller in facts:  # else the environment does not tell whether it is absent
                levels.setdefault(facts.get(fact, ABSENT), []).extend(members)
        if len(levels) > 1:
            yield fact, levels


def _phrases(texts: Mapping[str, str]) -> list[str]:
    """Each fact with its text; packages as one phrase, with their number and the first few of them."""
    packages = [f"{fact.removeprefix(PACKAGE)} {text}" for fact, text in texts.items() if fact.startswith(PACKAGE)]
    others = [f"{fact} {text}" for fact, text in texts.items() if not fact.startswith(PACKAGE)]
    summary = f"{count(len(packages), 'package')}: {first_few(packages, MOST_NAMED)}"
    return [*others, summary] if packages else others


def _name_runs(those: Iterable[Named]) -> str:
    """`replicate 0–4, 7`, or runs of several variants one variant after the other."""
    numbers: dict[str, list[int]] = {}
    for name, number in those:
        numbers.setdefault(name, []).append(number)
    return ", ".join(f"{name} {first_few(ranges(numbers[name]), MOST_NAMED)}" for name in numbers)

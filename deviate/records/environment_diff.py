"""Compares the environments of runs: within a variant, across an experiment, and with the environment of now.

Interpreter, packages, framework builds, driver, kind of device, flags and threads have to be equal; host names, paths,
sizes and times may differ.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from deviate.base import first_few
from deviate.errors import RecordError
from deviate.model import Run
from deviate.records.attempts import read_intact_result
from deviate.records.environment import (
    ALWAYS_TOLD,
    PACKAGE,
    PACKAGES,
    SHOWN_ONLY,
    VARIABLE,
    Platform,
    facts_of,
    packages_of,
    platform_facts,
    read_environment,
    read_platform,
)
from deviate.records.layout import attempts, runs_folder, spec_file
from deviate.records.specs import read_spec

MOST_NAMED = 5
CURE = "run all in one environment, under another --name"

Who = TypeVar("Who")
Levels = dict[str, list[Who]]
"""What was found, and who found it."""


def differences(runs: Sequence[Run]) -> list[str]:
    """Warnings about environment facts that differ between runs of a variant; packages are combined into one warning.

    Facts that the variant itself changes from run to run, such as thread counts in `config`, are expected to differ. A
    run that did not record a fact, because it failed before, is not compared in it.
    """
    counted = sorted((run for run in runs if run.status not in {"lost", "cancelled"}), key=lambda run: run.replicate)
    declared = _declared_factors(run.controls for run in counted)
    disagreements = _disagreements({run.replicate: run.environment for run in counted}, declared)
    warnings = [f"the runs differ in {fact} ({_levels_text(levels)}): {CURE}" for fact, levels in disagreements.items()]
    packages = {run.replicate: packages_of(run.folder) for run in counted if PACKAGES in run.environment}
    return [*warnings, *(f"the runs differ in {text}: {CURE}" for text in _packages_phrase(packages))]


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
        facts = facts_of(attempt)
        variants.setdefault(spec.variant, {})[spec.replicate] = environment.frameworks
        controls.setdefault(spec.variant, []).append(dict(spec.controls))
        everywhere[f"{spec.variant} {spec.replicate}"] = facts
        if PACKAGES in facts:
            packages[f"{spec.variant} {spec.replicate}"] = packages_of(attempt)
    declared = _declared_factors(level for levels in controls.values() for level in levels)
    misfits = [f"{fact} ({_levels_text(levels)})" for fact, levels in _disagreements(everywhere, declared).items()]
    misfits += _packages_phrase(packages)
    for variant, facts_of_runs in variants.items():
        disagreements = _disagreements(dict(sorted(facts_of_runs.items())), _declared_factors(controls[variant]))
        misfits += [f"{fact} in {variant} ({_levels_text(levels)})" for fact, levels in disagreements.items()]
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
    if not recorded:
        return ()
    facts = platform_facts(now, has_machine=has_machine)
    changes: dict[str, str] = {}
    for fact in sorted({*facts, *(fact for facts in recorded for fact in facts)}, key=str.casefold):
        is_told = _tells(fact, facts)
        before = list(dict.fromkeys(facts.get(fact, ABSENT) for facts in recorded if _tells(fact, facts)))
        if is_told and before and facts.get(fact, ABSENT) not in before:
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


def _declared_factors(controls: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Factors that the experiment holds at several levels."""
    names = list(controls)
    factors = {factor for levels in names for factor in levels}
    return tuple(factor for factor in factors if len({levels.get(factor) for levels in names}) > 1)


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
    disagreements: dict[str, Levels[Who]] = {}
    for fact in sorted(
        {fact for facts in facts_of_runs.values() for fact in facts} - {*SHOWN_ONLY, PACKAGES}, key=str.casefold
    ):
        if any(factor in fact.casefold() for factor in declared):
            continue
        levels: Levels[Who] = {}
        for who, facts in facts_of_runs.items():
            if _tells(fact, facts):
                levels.setdefault(facts.get(fact, ABSENT), []).append(who)
        if len(levels) > 1:
            disagreements[fact] = levels
    return disagreements


def _packages_phrase(facts: Mapping[Who, Mapping[str, str]]) -> list[str]:
    """One phrase on packages whose version differs or that are missing in some runs; None if there are none."""
    everywhere = {
        who: {f"{PACKAGE}{name}": version for name, version in packages.items()} for who, packages in facts.items()
    }
    disagreements = _disagreements(everywhere)
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

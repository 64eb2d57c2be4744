"""Properties of the machine, and variables of the user, that interfere with controls."""

from collections.abc import Iterator, Mapping, Sequence

from deviate.doctor.children import ChildFacts
from deviate.model.diagnosis import Concern, Framework, Machine
from deviate.sources.variables import LIMITING, variables_that_matter


def hazards(facts: ChildFacts, machine: Machine, frameworks: Sequence[Framework]) -> tuple[Concern, ...]:
    """All hazards, most urgent first.

    Args:
        facts: of the interpreter.
    """
    variables = {name: str(value) for name, value in facts.table("variables").items()}
    return (
        *_guest(facts),
        *_accelerators(machine, frameworks, variables),
        *_threads(machine, frameworks),
        *(Concern(*words) for words in variables_that_matter(variables)),
    )


def _guest(facts: ChildFacts) -> Iterator[Concern]:
    if not facts.is_true("loads_sitecustomize"):
        flags = facts.texts("flags")
        yield Concern(
            "sitecustomize is not loaded from PYTHONPATH",
            f"the interpreter runs with {', '.join(flags)}"
            if flags
            else "the interpreter does not search PYTHONPATH for it",
            "start Python without -I, -S, -E and env -i; in a container, pass PYTHONPATH",
        )


def _accelerators(machine: Machine, frameworks: Sequence[Framework], variables: Mapping[str, str]) -> Iterator[Concern]:
    hidden = [name for name in LIMITING.split() if name in variables]
    has_xla = any(framework.name == "torch_xla" and framework.state == "works" for framework in frameworks)
    for framework in frameworks:
        if framework.name == "torch" and has_xla and machine.accelerators[:1] and "TPU" in machine.accelerators[0]:
            continue
        sees_none = framework.name in {"torch", "tensorflow", "jax"} and len(framework.devices) == 1
        if machine.accelerators and sees_none and framework.state == "works" and not hidden:
            yield Concern(
                f"{framework.name} can use the CPU only",
                f"the machine has {machine.accelerators[0]}; the build of {framework.name} is {framework.build}",
                f"install a build of {framework.name} for the device, unless the script should run on the CPU",
            )


def _threads(machine: Machine, frameworks: Sequence[Framework]) -> Iterator[Concern]:
    allowed, cpus = machine.n_cpus_allowed, machine.n_cpus
    if allowed and cpus and allowed < cpus:
        yield Concern(
            f"{allowed} of {cpus} CPUs are allowed",
            "libraries choose the number of threads by allowed or by existing CPUs, and it changes the last bits",
            f"use one number in all compared experiments: export OMP_NUM_THREADS={allowed}",
        )
    usable = min((limit for limit in (allowed, machine.quota) if limit), default=None)
    for framework in frameworks:
        threads = _first_number(framework.threads)
        if usable and threads and threads > usable:
            yield Concern(
                f"{framework.name} uses {threads} threads on {usable:g} CPUs",
                "runs are slower; a different number of threads changes the last bits",
                f"export OMP_NUM_THREADS={max(1, int(usable))}",
            )


def _first_number(text: str) -> int | None:
    first = text.partition(",")[0].split()[-1:]
    return int(first[0]) if first and first[0].isdecimal() else None

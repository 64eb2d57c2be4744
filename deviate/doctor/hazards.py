"""Properties of the machine, and variables of the user, that interfere with controls."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from deviate.doctor.children import Facts
from deviate.model import Concern, Framework, Machine

ON = frozenset({"1", "true", "yes", "on"})
CODE_PATHS = ("MKL_CBWR", "OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA")
FORCED_DETERMINISM = ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC")
TF32_OVERRIDES = ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")
AUTOTUNE = "TORCHINDUCTOR_MAX_AUTOTUNE"
RECORDED = ("JAX_DEFAULT_MATMUL_PRECISION", "JAX_ENABLE_X64", "JAX_DEFAULT_PRNG_IMPL", "JAX_THREEFRY_PARTITIONABLE")
UNDONE_IN_XLA = ("xla_gpu_deterministic_ops=false", "xla_gpu_exclude_nondeterministic_ops=false")


def hazards(facts: Facts, machine: Machine, frameworks: Sequence[Framework]) -> tuple[Concern, ...]:
    """All hazards, in the order in which they should be fixed.

    Args:
        facts: those of the interpreter.
    """
    variables = {name: str(value) for name, value in facts.table("variables").items()}
    return (
        *_guest(facts),
        *_accelerators(machine, frameworks, variables),
        *_threads(machine, frameworks, variables),
        *_undoing(variables),
        *_remaining(variables),
    )


def _guest(facts: Facts) -> Iterator[Concern]:
    if not facts.is_true("loads_sitecustomize"):
        flags = facts.texts("flags")
        yield Concern(
            "sitecustomize is not loaded from PYTHONPATH",
            f"the interpreter runs with {', '.join(flags)}" if flags else "the interpreter does not look for it there",
            "start Python without -I, -S, -E and env -i; in a container, pass PYTHONPATH on",
        )


def _accelerators(machine: Machine, frameworks: Sequence[Framework], variables: Mapping[str, str]) -> Iterator[Concern]:
    hidden = [name for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES") if name in variables]
    for name in hidden:
        yield Concern(f"{name}={variables[name]}", "frameworks see these devices only")
    for framework in frameworks:
        sees_none = framework.name in {"torch", "tensorflow", "jax"} and len(framework.devices) == 1
        if machine.accelerators and sees_none and framework.state == "works" and not hidden:
            yield Concern(
                f"{framework.name} sees no device but the CPU",
                f"the machine has {machine.accelerators[0]}, and this is the build: {framework.build}",
                f"install a build of {framework.name} for it, unless the script is to run on the CPU",
            )


def _threads(machine: Machine, frameworks: Sequence[Framework], variables: Mapping[str, str]) -> Iterator[Concern]:
    allowed, cpus = machine.n_cpus_allowed, machine.n_cpus
    if allowed and cpus and allowed < cpus:
        yield Concern(
            f"{allowed} of {cpus} CPUs are allowed",
            "libraries start threads by what they are allowed or by what there is, and their number changes bits",
            f"fix it for all experiments that are compared: export OMP_NUM_THREADS={allowed}",
        )
    usable = min((limit for limit in (allowed, machine.quota) if limit), default=None)
    for framework in frameworks:
        threads = _first_number(framework.threads)
        if usable and threads and threads > usable:
            yield Concern(
                f"{framework.name} works with {threads} threads on {usable:g} CPUs",
                "runs get slow; the same script has other bits where fewer threads are started",
                f"export OMP_NUM_THREADS={max(1, int(usable))}",
            )
    for name in ("OMP_DYNAMIC", "OMP_SCHEDULE"):
        value = variables.get(name, "").lower()
        if value in ON or value.startswith(("dynamic", "guided")):
            yield Concern(
                f"{name}={variables[name]}", "the share of each thread may change from run to run", f"unset {name}"
            )


def _undoing(variables: Mapping[str, str]) -> Iterator[Concern]:
    """Variables that variants cannot override, or only in part."""
    enabled_names = {name for name, value in variables.items() if value.lower() in ON}
    free = "deviate takes it away where a variant leaves kernels free; in as-is it stays"
    held = "deviate sets its own where kernels are held and takes it away where they are free; in as-is it stays"
    tf32 = "decides on TF32 for every program, where precision is left free too"
    autotune = "compiled code chooses kernels by time, which differs between runs"
    for name, is_effective, why, advice in (
        *((name, name in enabled_names, free, "") for name in FORCED_DETERMINISM),
        ("CUBLAS_WORKSPACE_CONFIG", "CUBLAS_WORKSPACE_CONFIG" in variables, held, ""),
        *((name, name in variables, tf32, f"unset {name}, and choose in the script") for name in TF32_OVERRIDES),
        (AUTOTUNE, AUTOTUNE in enabled_names, autotune, f"unset {AUTOTUNE}"),
    ):
        if is_effective:
            yield Concern(f"{name}={variables[name]}", why, advice)
    flags = variables.get("XLA_FLAGS")
    if flags is not None:
        undone = [flag for flag in UNDONE_IN_XLA if flag in flags]
        yield Concern(
            f"XLA_FLAGS={shlex.quote(flags)}",
            f"{', '.join(undone)} takes back what holds the kernels" if undone
            else "stays in all variants; where a GPU is there deviate adds its own flags at the end",
            "unset XLA_FLAGS" if undone else "",
        )  # fmt: skip


def _remaining(variables: Mapping[str, str]) -> Iterator[Concern]:
    """Variables that are harmless unless they are changed."""
    effects = {"PYTHONHASHSEED": "holds in as-is; every other variant sets its own"}
    effects |= dict.fromkeys(
        CODE_PATHS, "chooses the code for the processor, and with it the bits; stays in all variants"
    )
    effects |= {"TF_ENABLE_ONEDNN_OPTS": "changes the bits of TensorFlow; stays in all variants but config"}
    effects |= dict.fromkeys(RECORDED, "changes what JAX computes; deviate neither sets nor clears it")
    for name, why in effects.items():
        if name in variables:
            yield Concern(f"{name}={variables[name]}", why, "leave it the same in all experiments that are compared")


def _first_number(text: str) -> int | None:
    first = text.partition(",")[0].split()[-1:]
    return int(first[0]) if first and first[0].isdecimal() else None

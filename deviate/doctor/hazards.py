"""Properties of the machine, and variables of the user, that interfere with controls."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from deviate.doctor.children import Facts
from deviate.model.diagnosis import Concern, Framework, Machine

LIMITING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")
ON = frozenset({"1", "true", "yes", "on"})
CODE_PATHS = ("MKL_CBWR", "OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA")
FORCED_DETERMINISM = ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC")
TF32_OVERRIDES = ("NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")
AUTOTUNE = ("TORCHINDUCTOR_MAX_AUTOTUNE", "PYTORCH_TUNABLEOP_ENABLED")
RECORDED = ("JAX_DEFAULT_MATMUL_PRECISION", "JAX_ENABLE_X64", "JAX_DEFAULT_PRNG_IMPL", "JAX_THREEFRY_PARTITIONABLE")
UNDONE_IN_XLA = ("xla_gpu_deterministic_ops=false", "xla_gpu_exclude_nondeterministic_ops=false")


def hazards(facts: Facts, machine: Machine, frameworks: Sequence[Framework]) -> tuple[Concern, ...]:
    """All hazards, most urgent first.

    Args:
        facts: of the interpreter.
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
            f"the interpreter runs with {', '.join(flags)}"
            if flags
            else "the interpreter does not search PYTHONPATH for it",
            "start Python without -I, -S, -E and env -i; in a container, pass PYTHONPATH",
        )


def _accelerators(machine: Machine, frameworks: Sequence[Framework], variables: Mapping[str, str]) -> Iterator[Concern]:
    hidden = [name for name in LIMITING if name in variables]
    for name in hidden:
        yield Concern(f"{name}={variables[name]}", "only these devices are visible to frameworks")
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


def _threads(machine: Machine, frameworks: Sequence[Framework], variables: Mapping[str, str]) -> Iterator[Concern]:
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
    for name in ("OMP_DYNAMIC", "OMP_SCHEDULE"):
        value = variables.get(name, "").lower()
        if value in ON or value.startswith(("dynamic", "guided")):
            yield Concern(
                f"{name}={variables[name]}", "the work of each thread may change between runs", f"unset {name}"
            )


def _undoing(variables: Mapping[str, str]) -> Iterator[Concern]:
    """Variables that variants cannot override, or only in part."""
    enabled_names = {name for name, value in variables.items() if value.lower() in ON}
    free = "deviate removes it in variants with free kernels; unchanged in as-is"
    held = "deviate sets its own value if kernels are held and removes it if they are free; unchanged in as-is"
    tf32 = "it sets TF32 for every program, also in variants with free precision"
    autotune = "kernels are chosen by measured time; deviate removes it in variants that hold autotuning"
    for name, is_effective, why, advice in (
        *((name, name in enabled_names, free, "") for name in FORCED_DETERMINISM),
        ("CUBLAS_WORKSPACE_CONFIG", "CUBLAS_WORKSPACE_CONFIG" in variables, held, ""),
        *((name, name in variables, tf32, f"unset {name}, and set TF32 in the script") for name in TF32_OVERRIDES),
        *((name, name in enabled_names, autotune, "") for name in AUTOTUNE),
    ):
        if is_effective:
            yield Concern(f"{name}={variables[name]}", why, advice)
    flags = variables.get("XLA_FLAGS")
    if flags is not None:
        undone = [flag for flag in UNDONE_IN_XLA if flag in flags]
        yield Concern(
            f"XLA_FLAGS={shlex.quote(flags)}",
            f"{', '.join(undone)} disables deterministic kernels" if undone
            else "unchanged in all variants; on a GPU deviate appends its own flags",
            "unset XLA_FLAGS" if undone else "",
        )  # fmt: skip


def _remaining(variables: Mapping[str, str]) -> Iterator[Concern]:
    """Variables that are harmless unless they are changed."""
    effects = {"PYTHONHASHSEED": "applies to as-is; every other variant sets its own value"}
    effects |= dict.fromkeys(
        CODE_PATHS, "selects the code path for the processor, which changes the last bits; unchanged in all variants"
    )
    effects |= {"TF_ENABLE_ONEDNN_OPTS": "changes the last bits of TensorFlow; unchanged in all variants except config"}
    effects |= dict.fromkeys(RECORDED, "changes computations of JAX; deviate neither sets nor clears it")
    for name, why in effects.items():
        if name in variables:
            yield Concern(f"{name}={variables[name]}", why, "use the same value in all compared experiments")


def _first_number(text: str) -> int | None:
    first = text.partition(",")[0].split()[-1:]
    return int(first[0]) if first and first[0].isdecimal() else None

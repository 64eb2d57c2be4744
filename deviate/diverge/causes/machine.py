"""Causes in differences of environments: machine, libraries, configuration."""

import dataclasses
import functools
from collections.abc import Iterable

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, cause
from deviate.diverge.causes.observed import variable_of
from deviate.diverge.causes.operations import CONVOLUTION, MATRIX, is_one_of
from deviate.diverge.findings import Certainty, Difference, InputDifference
from deviate.records.environment import VARIABLE

THREADS = (
    "torch threads", *(
        f"{VARIABLE}{name}" for name in (
            "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS",
            "TF_NUM_INTEROP_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
        )
    ),
)  # fmt: skip
PATHS = (
    "CPU", "torch oneDNN", *(
        f"{VARIABLE}{name}" for name in (
            "TF_ENABLE_ONEDNN_OPTS", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_CBWR", "MKL_DEBUG_CPU_TYPE",
            "ATEN_CPU_CAPABILITY", "OPENBLAS_CORETYPE", "XLA_FLAGS",
        )
    ),
)  # fmt: skip
PRECISION = (
    "torch TF32 in cuDNN", "torch TF32 in matmul", "torch float32 matmul precision", "variable NVIDIA_TF32_OVERRIDE",
    "TensorFlow TF32", "jax_default_matmul_precision",
)  # fmt: skip
DRIVERS = frozenset({"NVIDIA driver", "CUDA of the driver", "AMD driver"})
DEVICES = ("GPU", *sorted(DRIVERS))
SOFTWARE = ("interpreter", "packages", "torch", "torch build", "tensorflow", "keras", "jax", "jaxlib", "flax", "numpy")
BESIDE = frozenset({"interpreter", "packages"})
"""Software that computes no numbers, or that may be any package."""
OF_TORCH = frozenset({"torch", "torch build"})
"""Software that contains the operations of PyTorch."""
NETWORKS = frozenset({"torch", "tensorflow", "keras", "jax"})
"""Frameworks that compute networks themselves rather than with NumPy."""
SWITCHES = ("torch deterministic algorithms", "torch cuDNN deterministic", "torch cuDNN benchmark")
COMPUTED = ("forward", "loss", "backward", "update", "initial", "metric")
"""Phases in which rounding can differ first; batches and generators are copied, not computed."""


def _differing(
    difference: Difference,
    evidence: Evidence,
    names: Iterable[str],
    of_what: str,
    beside: frozenset[str] = frozenset(),
) -> CauseMatch | None:
    """A match by facts with these names that differ between the runs.

    Args:
        beside: of these names, those that do not make a cause likely by themselves.
    """
    differing = evidence.differing(*names)
    if not differing:
        return None
    first, second = evidence.facts
    facts = "; ".join(
        f"{fact.removeprefix(VARIABLE)}: {_value(first.get(fact))} and {_value(second.get(fact))}"
        for fact in differing[:3]
    )
    is_likely = _is_computed(difference, evidence) and not beside.issuperset(differing)
    return CauseMatch(
        "likely" if is_likely else "possible", f"{of_what} {facts}", is_circumstance=True, standing="observed"
    )


def _is_computed(difference: Difference, evidence: Evidence) -> bool:
    """Whether the first difference was computed from equal numbers, as far as known.

    Initial weights are drawn, and a value alone does not show that the inputs were equal: draws are only ruled out if
    deviate sets the seeds.
    """
    if difference.phase not in COMPUTED or difference.only_in is not None:
        return False
    is_drawn = difference.phase in ("initial", "metric") or difference.rung == "metrics"
    return evidence.is_touched or not is_drawn


def _value(value: str | None) -> str:
    text = "not set" if value is None else " ".join(value.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _with_variable(item: InputDifference) -> str:
    return "".join(f"{name}={value} python train.py" for name, value in variable_of(item))


MACHINE: list[KnownCause] = []
machine_cause = functools.partial(cause, MACHINE, "machine")


@machine_cause("other-seeds")
def other_seeds(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Runs with different seeds.

    Two variants, or two values of --seed, have different seeds, or one of them has none. Such runs need not be equal.

    Signs: deviate set different seeds in the two runs, or seeds in one of them, for streams that their variant does not
        vary
    Cure: compare two runs of one variant and one --seed
    Source: variants.md
    """
    # Draws precede all computations: if they differ, other causes cannot be recognised.
    libraries = evidence.reseeded
    if not libraries:
        return None
    why = f"{evidence.runs[0]} and {evidence.runs[1]} have different seeds for {', '.join(libraries)}"
    certainty: Certainty = "certain" if difference.phase in ("initial", "random", "order") else "likely"
    return CauseMatch(certainty, why, standing="upstream")


@machine_cause("devices")
def devices(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Different devices.

    Different processors add in different orders and use different kernels. No library promises bitwise equal results
    across devices.

    Signs: the runs used two kinds of devices, or two models of GPU; different drivers alone are at most a possible
        cause
    Cure: compare with a tolerance (--ulps 16) instead of bitwise
    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html,
        https://docs.nvidia.com/deeplearning/cudnn/latest/developer/misc.html
    """
    first, second = evidence.devices
    if first and second and first != second:
        is_certain = _is_computed(difference, evidence) and not evidence.has_free_kernels
        return CauseMatch(
            "certain" if is_certain else "likely" if difference.phase in COMPUTED else "possible",
            f"{evidence.runs[0]} used {first}, {evidence.runs[1]} used {second}",
            is_circumstance=True,
            standing="observed",
        )
    return _differing(difference, evidence, DEVICES, "the devices differ:", DRIVERS)


@machine_cause("software")
def software(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Different versions of the interpreter or of libraries.

    Kernels, their selection, and the numbers drawn from a seed may change with every release and every build.

    Signs: the version or build of the library that computed the first difference is not the same in both runs
    Cure: install the same versions and builds: pin them, or use one container image
    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html
    """
    # Different library versions are a likely cause if the library computed the difference.
    beside = BESIDE
    if difference.kind == "operation":
        beside = frozenset(SOFTWARE) - OF_TORCH
    elif evidence.frameworks & NETWORKS:
        beside |= {"numpy"}
    return _differing(difference, evidence, SOFTWARE, "the software differs:", beside)


@machine_cause("code-paths")
def code_paths(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A different processor, with different code of oneDNN, MKL or OpenBLAS.

    Libraries choose code by the available vector instructions, and each code path adds in a different order.

    Signs: the processor model, or a variable that selects the code path, is not the same in both runs
    Cure: select a code path that both processors support; it may be slower
    Code: MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 python train.py
    Source: https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/2026-0/reproducibility-conditions.html
    """
    return _differing(difference, evidence, PATHS, "the code path depends on:")


@machine_cause("threads")
def threads(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A different number of threads.

    Work is split by the number of threads, and sums of different parts round differently.

    Signs: the number of threads, or a variable that sets it, is not the same in both runs
    Cure: set the number of threads
    Code: OMP_NUM_THREADS=2 MKL_NUM_THREADS=2 python train.py
    Source: https://www.intel.com/content/www/us/en/docs/onemkl/developer-reference-c/2026-0/reproducibility-conditions.html
    """
    return _differing(difference, evidence, THREADS, "the number of threads differs:")


@machine_cause("environment", sources=("environment",), code_for=_with_variable)
def environment(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """An environment variable with another value.

    The script reads a variable that the shell, the scheduler or a launcher sets to another value for each run.

    Signs: a variable that the script reads differs before the first difference
    Cure: set it to the same value for all runs (`--env NAME=VALUE`), or pass the value as an argument of the script
    Source: https://docs.python.org/3/library/os.html#os.environ
    """
    return None


@machine_cause("precision")
def precision(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Reduced precision (TF32) in one run only.

    TF32 has ten bits of fraction: matrix products and convolutions differ from the third digit on.

    Signs: precision settings are not the same in both runs
    Cure: set full precision in both
    Code: torch.set_float32_matmul_precision('highest'); torch.backends.cudnn.allow_tf32 = False
    Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#tensorfloat-32-tf32-on-ampere-and-later-devices
    """
    finding = _differing(difference, evidence, PRECISION, "the precision differs:")
    if finding is None or difference.kind != "operation" or is_one_of(difference.name, f"{MATRIX}|{CONVOLUTION}"):
        return finding
    return dataclasses.replace(finding, certainty="possible")


@machine_cause("switches")
def switches(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Determinism is requested in one run only.

    Deterministic kernels round differently from the kernels that they replace.

    Signs: determinism switches are not the same in both runs
    Cure: set the same switches in both
    Code: torch.use_deterministic_algorithms(True)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    """
    return _differing(difference, evidence, SWITCHES, "determinism switches differ:")

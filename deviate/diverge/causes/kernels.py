"""Causes in kernels: a different order of additions, or a different kernel, each time."""

import functools
import re

from deviate.diverge.causes import (
    ITSELF,
    CauseMatch,
    Evidence,
    KnownCause,
    cause,
    format_places,
    hazard_places,
    hazards_named,
    here,
    is_at,
)
from deviate.diverge.causes.operations import COLLECTIVE, CONVOLUTION, FAMILIES, MATRIX, Family, base_name, is_one_of
from deviate.diverge.findings import Certainty, Difference, Place

NUMBERS = ("forward", "loss", "backward", "update", "initial")
"""Phases in which results differ although inputs are equal."""
PHRASE = re.compile(r"(?P<what>.+?)(?: \((?P<file>[^()]+):(?P<line>\d+)\))?")


def family_cause(family: Family) -> KnownCause:
    """The known cause for a family of operations."""

    def detect(difference: Difference, evidence: Evidence) -> CauseMatch | None:
        if difference.kind == "operation":
            return _operation_seen(family, difference, evidence)
        return _hazard_seen(family, difference, evidence)

    where = "on every device" if "cpu" in family.devices else "on a GPU"
    return KnownCause(
        id=family.id,
        title=family.title,
        group="kernels",
        reason=family.reason,
        signs=f"the first operation that differs is one of these, {where}, and kernels are not held; or the phase "
        "matches, and the source contains such an operation",
        cure=family.cure,
        code=family.code,
        source=family.source,
        detect=detect,
    )


def _operation_seen(family: Family, difference: Difference, evidence: Evidence) -> CauseMatch | None:
    if difference.only_in is not None or not is_one_of(difference.name, family.names):
        return None
    device = device_of(difference, evidence)
    warned = any(base_name(difference.name) in phrase for phrase in evidence.operations)
    if (device and device not in family.devices) or not (evidence.has_free_kernels or warned):
        return None
    if family.id == "index-put" and device == "cpu" and is_serial(evidence):
        return None
    why = f"{difference.name} is the first operation with different outputs, and its inputs are equal"
    if not device:
        why += "; its device is unknown"
    is_likely = bool(device) and device not in family.merely_possible_on
    return CauseMatch(
        "likely" if is_likely else "possible", why, here(difference), standing="upstream", position=ITSELF
    )


def _hazard_seen(family: Family, difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Evidence from the source, if operations were not compared."""
    device = device_of(difference, evidence)
    if difference.phase not in NUMBERS[:-1] or not evidence.has_free_kernels:
        return None
    if difference.only_in is not None or (device and device not in family.devices):
        return None
    if device == "cpu" and family.id == "index-put":
        return _indexing_seen(difference, evidence)
    places = hazard_places(evidence, *family.hazards)
    if not places:
        return None
    certainty: Certainty = "likely" if device and is_at(difference, places) else "possible"
    return CauseMatch(
        certainty, f"the source contains it{format_places(places)}", places, "operations were not compared"
    )


def _indexing_seen(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """On a CPU, only gradients of indexing are known to be nondeterministic."""
    if difference.phase != "backward" or "torch" not in evidence.frameworks or is_serial(evidence):
        return None
    hazards = [hazard for hazard in hazards_named(evidence, "gather") if "CPU" in hazard.message]
    places = tuple(Place(hazard.file, hazard.line, hazard.code) for hazard in hazards)
    why = f"on a CPU only gradients of indexing are known to be nondeterministic{format_places(places)}"
    return CauseMatch("likely" if places else "possible", why, places, "everything before the backward pass is equal")


def is_serial(evidence: Evidence) -> bool:
    """Whether PyTorch used a single thread, which fixes the order of additions."""
    return evidence.fact("torch threads") == ("1", "1")


def device_of(difference: Difference, evidence: Evidence) -> str:
    """Device of the difference; empty if unknown."""
    device = str(difference.more.get("device", "")).partition(":")[0]
    return device or evidence.device


KERNELS = [family_cause(family) for family in FAMILIES]
kernel_cause = functools.partial(cause, KERNELS, "kernels")


@kernel_cause("no-version", phases=NUMBERS)
def no_version(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """An operation without a deterministic version.

    If deterministic kernels are requested with `warn_only`, operations without one run unchanged.

    Signs: the run warned of it (`--warn-only`, `warn_only=True`)
    Cure: use another operation, or compute this one on the CPU
    Source: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    """
    if not evidence.operations:
        return None
    matches = [match for phrase in evidence.operations if (match := PHRASE.fullmatch(phrase))]
    places = tuple(Place(match["file"], int(match["line"])) for match in matches if match["file"])
    names = ", ".join(dict.fromkeys(match["what"] for match in matches))
    is_alone = difference.kind == "operation" and any(base_name(difference.name) in match["what"] for match in matches)
    return CauseMatch(
        "likely" if is_alone else "possible",
        f"{names} ran without a deterministic version{format_places(places)}",
        places,
        standing="upstream" if is_alone else "observed",
    )


@kernel_cause("autotuning", phases=NUMBERS)
def autotuning(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """CuDNN chose a different kernel for a convolution.

    `cudnn.benchmark` and self-tuning compilers choose the kernel that is fastest at that moment; different kernels
    round differently.

    Signs: a convolution differs first while `cudnn.benchmark` is on; or the source enables it
    Cure: disable the search
    Code: torch.backends.cudnn.benchmark = False
    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html
    """
    if evidence.is_held("autotune") or device_of(difference, evidence) == "cpu":
        return None
    tuned = evidence.fact("torch cuDNN benchmark")
    places = hazard_places(evidence, "autotuning")
    if "on" not in tuned and not places:
        return None
    is_convolution = difference.kind == "operation" and is_one_of(difference.name, f"{CONVOLUTION}|.*conv.*backward")
    why = "cudnn.benchmark is on" if "on" in tuned else f"the source enables it{format_places(places)}"
    is_likely = is_convolution and "on" in tuned and bool(device_of(difference, evidence))
    return CauseMatch("likely" if is_likely else "possible", why, places)


@kernel_cause("histogram-threads", phases=("loss", "backward", "update"))
def histogram_threads(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Several threads of LightGBM or HistGradientBoosting add in varying order.

    Sums of gradients in histograms, and so the trees, round differently with equal data; so do metrics that LightGBM
    evaluates in training. LightGBM also measures in each run whether to build histograms by column or by row.

    Signs: a tree or an evaluation of LightGBM, or a tree or gradient of HistGradientBoosting differs first, after equal
        data
    Cure: train with one thread; LightGBM also has deterministic histograms, if their layout is fixed
    Code: lgb.train({"deterministic": True, "force_row_wise": True, **params}, data)
    Source: https://lightgbm.readthedocs.io/en/stable/Parameters.html#deterministic,
        https://scikit-learn.org/stable/computing/parallelism.html
    """
    if difference.only_in is not None or difference.rung == "metrics":
        return None
    is_evaluation = difference.kind == "loss" and difference.name != "loss"
    is_tree = difference.kind == "update" and difference.name.startswith("tree")
    is_held = is_tree and evidence.is_held("kernels") and evidence.is_held("autotune")
    is_lightgbm = any(evidence.fact("lightgbm")) and (is_tree or is_evaluation) and not is_held
    if not is_lightgbm and not difference.name.startswith("HistGradientBoosting"):
        return None
    is_alone = not is_lightgbm or not evidence.frameworks & {"xgboost", "catboost"}
    why = f"{difference.name} is the first record that differs, after equal data"
    return CauseMatch("likely" if is_alone else "possible", why, here(difference))


@kernel_cause("collectives")
def collectives(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Gradients of several processes are added in varying order.

    NCCL chooses algorithm, protocol and channels by size and topology, and each choice adds in a different order. With
    the same choice the result is the same on all ranks and usually in each run, except if switches add (NVLS, on
    NVLink).

    Signs: a collective operation differs first, or a gradient in a run of several processes
    Cure: fix the algorithm; keep the same ranks on the same devices
    Code: NCCL_ALGO=Ring NCCL_PROTO=Simple torchrun train.py
    Source: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html,
        https://github.com/NVIDIA/nccl/issues/1055, https://github.com/NVIDIA/nccl/issues/1497
    """
    if evidence.n_ranks < 2:
        return None
    if difference.kind == "operation":
        if not difference.name.startswith(("c10d", "_c10d")) or not is_one_of(difference.name, COLLECTIVE):
            return None
        why = f"{difference.name} is the first operation with different outputs, on rank {difference.rank}"
        # NCCL chooses the order of additions; other backends are not known to.
        is_nccl = device_of(difference, evidence) == "cuda"
        return CauseMatch(
            "likely" if is_nccl else "possible", why, here(difference), standing="upstream", position=ITSELF
        )
    if difference.kind != "gradient" or difference.phase != "backward":
        return None
    return CauseMatch("possible", f"{evidence.n_ranks} processes add their gradients, and a gradient differs first")


@kernel_cause("cublas-workspace")
def cublas_workspace(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """CuBLAS with several streams.

    With several streams, cuBLAS chooses among workspaces, and with them among kernels.

    Signs: a matrix product differs first on a GPU, and CUBLAS_WORKSPACE_CONFIG is not set
    Cure: set the variable before the process starts
    Code: CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py
    Source: https://docs.nvidia.com/cuda/cublas/index.html#results-reproducibility
    """
    if difference.kind != "operation" or not is_one_of(difference.name, MATRIX):
        return None
    if device_of(difference, evidence) not in {"cuda", ""} or evidence.is_held("kernels"):
        return None
    if any(evidence.fact("variable CUBLAS_WORKSPACE_CONFIG")) or any(evidence.fact("cuBLAS workspace")):
        return None
    return CauseMatch(
        "possible",
        f"{difference.name} is the first operation with different outputs, and CUBLAS_WORKSPACE_CONFIG is not set",
        here(difference),
    )


@kernel_cause("tensorflow-kernels", phases=NUMBERS[:-1])
def tensorflow_kernels(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Nondeterministic kernels of TensorFlow.

    On a GPU many gradients of TensorFlow use atomic additions: gather and embeddings, segment sums, resizing, softmax
    losses, convolutions. TensorFlow does not report the operation.

    Signs: TensorFlow did not run on a CPU, the forward or backward pass differs first, and kernels are not held
    Cure: request deterministic operations from TensorFlow, and seed it
    Code: tf.keras.utils.set_random_seed(1); tf.config.experimental.enable_op_determinism()
    Source: https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_op_determinism,
        https://github.com/tensorflow/community/pull/370
    """
    if not evidence.frameworks & {"tensorflow", "keras"} or "torch" in evidence.frameworks:
        return None
    if evidence.is_held("kernels") or evidence.device == "cpu":
        return None
    places = hazard_places(evidence, "softmax-loss", "resize", "pooling", "convolution", "scatter", "graph-session")
    return CauseMatch("possible", f"kernels of TensorFlow are not held{format_places(places)}", places)


@kernel_cause("xla-kernels", phases=NUMBERS[:-1])
def xla_kernels(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """Nondeterministic kernels of XLA.

    On a GPU XLA scatters with atomic additions and chooses kernels by timing. The flag for deterministic operations has
    known defects: it is reported to write wrong numbers in `x.at[i].set(y)` if an index is 0 (jaxlib 0.5.3; fixed in
    XLA in September 2025), to fail with 64-bit types, and to make scatter much slower.

    Signs: JAX did not run on a CPU, and kernels are not held
    Cure: request deterministic operations from XLA, and check that results change by rounding only
    Code: XLA_FLAGS=--xla_gpu_deterministic_ops=true python train.py
    Source: https://github.com/google/jax/discussions/10674, https://github.com/openxla/xla/pull/12520,
        https://github.com/jax-ml/jax/issues/27796, https://github.com/jax-ml/jax/issues/27324,
        https://github.com/jax-ml/jax/issues/17844, https://github.com/openxla/xla/pull/31063
    """
    if "jax" not in evidence.frameworks or evidence.is_held("kernels") or evidence.device == "cpu":
        return None
    places = hazard_places(evidence, "scatter", "convolution")
    return CauseMatch("possible", f"kernels of XLA are not held{format_places(places)}", places)


@kernel_cause("free-kernels")
def free_kernels(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A GPU kernel that may be nondeterministic.

    No list of nondeterministic operations is complete, least of all for other libraries.

    Signs: an operation that is in no list differs first on a GPU, and kernels are not held
    Cure: hold kernels, and check whether the runs are equal:
        https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    Code: torch.use_deterministic_algorithms(True)
    Source: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    """
    if difference.kind != "operation" or device_of(difference, evidence) in {"cpu", ""}:
        return None
    if difference.only_in is not None or not evidence.has_free_kernels:
        return None
    return CauseMatch(
        "possible",
        f"{difference.name} ran on a GPU while kernels were free; it is in no list of nondeterministic operations",
        here(difference),
    )


@kernel_cause("gpu-streams")
def gpu_streams(difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """A race between GPU streams, or a kernel that no switch affects.

    A kernel reads memory that another stream is still writing; or it belongs to a library that ignores PyTorch's
    switches (custom CUDA or Triton kernels).

    Signs: an operation differs first on a GPU although kernels are held
    Cure: synchronise the streams; check whether serial launches remove the difference
    Code: CUDA_LAUNCH_BLOCKING=1 python train.py
    Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-streams
    """
    if difference.kind != "operation" or device_of(difference, evidence) in {"cpu", ""} or difference.only_in:
        return None
    if evidence.has_free_kernels:
        return None
    return CauseMatch("possible", f"{difference.name} ran on a GPU with deterministic kernels, and still differs")

"""Expands a plan: variants and numbers of runs become specs. Deterministic, so more runs only add specs."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from deviate.errors import InputError
from deviate.model.plan import Spec, Variant
from deviate.records.plans import Plan
from deviate.replay.trackers import OFFLINE
from deviate.replay.variants import HASH, HELD, STREAMS, levels_of, seed_set

THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
)  # fmt: skip
"""Variables that set the number of threads of a library. Source: the reference pages of OpenMP, MKL, OpenBLAS;
tensorflow/core/common_runtime/process_util.cc."""


def specs_of(plan: Plan) -> list[Spec]:
    """Every run of a plan, variant by variant; none of what was imported."""
    return [
        spec_of(plan, variant.definition, replicate)
        for variant in plan.variants
        if variant.definition is not None
        for replicate in range(variant.n_runs)
    ]


def spec_of(experiment: Plan, variant: Variant, replicate: int) -> Spec:
    """The spec of one run.

    A limit of threads is for each run, so that several on one machine do not starve each other; variants that touch
    nothing have none. What the user sets for every run goes before what we set.

    Raises:
        InputError: there is no command.
    """
    if not experiment.command:
        raise InputError("there is no command to run", "name a script, or a command after --")
    shared = dict(OFFLINE) if variant.are_trackers_offline else {}
    if experiment.n_threads and (variant.varied or variant.held):
        shared |= dict.fromkeys(THREADS, str(experiment.n_threads))
    seeds = seed_set(variant, experiment.seed, replicate)
    controls = levels_of(variant, experiment.seed, replicate)
    environment = shared | _process_variables(dict(seeds), dict(controls)) | dict(experiment.environment)
    return Spec(
        sources_hash=experiment.sources_hash,
        command=experiment.command,
        cwd=str(PurePosixPath(experiment.cwd)),
        variant=variant.name,
        replicate=replicate,
        seeds=seeds,
        environment=tuple(sorted(environment.items())),
        controls=controls,
        then=experiment.then,
        wrap=experiment.wrap,
        capture=experiment.capture,
        streams=experiment.streams or 1,
        scores=experiment.scores or 1,
        varied=tuple(stream for stream in variant.varied if stream in STREAMS),
        weights=None if replicate == 0 and experiment.weights else experiment.weights,
    )


def _process_variables(seeds: Mapping[str, int], controls: Mapping[str, str]) -> dict[str, str]:
    """Variables that must be set before Python starts or a library is loaded; the guest does everything else.

    Source: PYTHONHASHSEED, the Python reference; CUBLAS_WORKSPACE_CONFIG, cuBLAS, Results reproducibility;
    NVIDIA_TF32_OVERRIDE, cuBLAS, Floating Point Emulation and TF32; TF_ENABLE_ONEDNN_OPTS, TensorFlow release 2.9.
    """
    variables: dict[str, str] = {}
    if HASH in seeds or HASH in controls:
        variables["PYTHONHASHSEED"] = str(seeds.get(HASH, controls.get(HASH)))
    if controls.get("kernels") == HELD["kernels"]:
        variables["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if controls.get("precision") == HELD["precision"]:
        variables["NVIDIA_TF32_OVERRIDE"] = "0"
    if "threads" in controls:
        variables |= dict.fromkeys(THREADS, controls["threads"])
    if "onednn" in controls:
        variables["TF_ENABLE_ONEDNN_OPTS"] = "1" if controls["onednn"] == "on" else "0"
    return variables

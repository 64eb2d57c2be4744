"""Expands a plan: variants and numbers of runs become specs. Deterministic, so more runs only add specs."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from deviate.errors import InputError
from deviate.model import Snapshot, Spec, Variant
from deviate.replay.trackers import OFFLINE
from deviate.replay.variants import HASH, HELD, STREAMS, levels_of, seed_set

THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS",
)  # fmt: skip
"""Variables that set how many threads a library computes with. Source: the reference pages of OpenMP, MKL, OpenBLAS;
tensorflow/core/common_runtime/process_util.cc."""


def plan(
    snapshot: Snapshot,
    *,
    command: Sequence[str],
    cwd: str,
    variant: Variant,
    runs: int,
    seed: int,
    environment: Sequence[tuple[str, str]] = (),
    then: Sequence[Sequence[str]] = (),
    wrap: Sequence[str] = (),
    n_threads: int | None = None,
    capture: Sequence[tuple[str, str]] = (),
    streams: int = 1,
    scores: int = 1,
) -> tuple[Spec, ...]:
    """One spec per replicate, in order.

    Args:
        cwd: working folder of the command, relative to the project root.
        seed: the experiment seed.
        environment: variables that the user sets for every run; they go before ours.
        then: commands that follow in the same work copy.
        wrap: the beginning of a command that starts a container.
        n_threads: limit for each run, so that several on one machine do not starve each other; None for no limit, as
            in variants that touch nothing.
        capture: what each run keeps beside its metrics, as in `Spec.capture`.
        streams, scores: those of the experiment that the runs belong to.

    Raises:
        InputError: there is no command, or the number of runs is below 1.
    """
    if not command:
        raise InputError("there is no command to run", "name a script, or a command after --")
    if runs < 1:
        raise InputError(f"{runs} runs cannot be run", "ask for at least one: --runs 5")
    offline = OFFLINE if variant.are_trackers_offline else {}
    specs: list[Spec] = []
    for replicate in range(runs):
        seeds, controls = seed_set(variant, seed, replicate), levels_of(variant, seed, replicate)
        limit = dict.fromkeys(THREADS, str(n_threads)) if n_threads and (variant.varied or variant.held) else {}
        ours = {**offline, **limit, **_process_variables(dict(seeds), dict(controls))}
        specs.append(
            Spec(
                sources_hash=snapshot.sources_hash,
                command=tuple(command),
                cwd=str(PurePosixPath(cwd)),
                variant=variant.name,
                replicate=replicate,
                seeds=seeds,
                environment=tuple(sorted({**ours, **dict(environment)}.items())),
                controls=controls,
                then=tuple(tuple(words) for words in then),
                wrap=tuple(wrap),
                capture=tuple(capture),
                streams=streams,
                scores=scores,
                varied=tuple(stream for stream in variant.varied if stream in STREAMS),
            )
        )
    return tuple(specs)


def _process_variables(seeds: Mapping[str, int], controls: Mapping[str, str]) -> dict[str, str]:
    """Variables that must be set before Python starts or a library is loaded; the guest does everything else.

    Source: PYTHONHASHSEED, the Python reference; CUBLAS_WORKSPACE_CONFIG, cuBLAS, Results reproducibility;
    NVIDIA_TF32_OVERRIDE, cuBLAS, Floating Point Emulation and TF32; TF_ENABLE_ONEDNN_OPTS, TensorFlow release 2.9.
    """
    variables: dict[str, str] = {}
    if HASH in seeds:
        variables["PYTHONHASHSEED"] = str(seeds[HASH])
    if controls.get("kernels") == HELD["kernels"]:
        variables["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    if controls.get("precision") == HELD["precision"]:
        variables["NVIDIA_TF32_OVERRIDE"] = "0"
    if "threads" in controls:
        variables |= dict.fromkeys(THREADS, controls["threads"])
    if "onednn" in controls:
        variables["TF_ENABLE_ONEDNN_OPTS"] = "1" if controls["onednn"] == "on" else "0"
    return variables

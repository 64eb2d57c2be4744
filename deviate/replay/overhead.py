"""The cost of determinism: runs in two modes, and profiled runs of both, are converted to findings."""

import contextlib
from collections.abc import Iterator, Sequence

from deviate.errors import InputError, RecordError
from deviate.model.cost import CostFindings, Pace, Profile
from deviate.model.plan import Variant
from deviate.model.records import Experiment, Run
from deviate.records.events import pace_of, profile_of
from deviate.records.layout import snapshot_folder
from deviate.records.snapshot import read_manifest

MOST_STEPS = 100
"""Maximum number of main-loop steps in a window. Source: Zhuang et al. (2022) profile 100 steps."""
MOST_SKIPPED = 10
"""Maximum number of warm-up steps before the window."""
PROFILERS = ("torch", "tensorflow")
"""Frameworks whose profilers the guest supports, by their names in the environment facts of a run."""
SUFFIX = "-profile"
FACTS = ("CPU", "cores", "GPU", "GPUs", "driver", "torch", "tensorflow", "python")
"""Environment facts that affect times."""


def modes_of(variants: Sequence[Variant]) -> tuple[Variant, Variant]:
    """Determine which of two variants has free kernels, and which has held ones.

    Raises:
        InputError: they are not one of each.
    """
    free = [variant for variant in variants if "kernels" in variant.varied]
    holding = [variant for variant in variants if "kernels" in variant.held]
    if len(variants) != 2 or len(free) != 1 or len(holding) != 1:
        names = ", ".join(variant.name for variant in variants)
        raise InputError(
            f"--variants {names}: the cost of determinism needs a variant with free kernels and one that holds them",
            "write it as --variants impl,control, or --variants algo+impl,algo",
        )
    return free[0], holding[0]


def profiled_name(name: str) -> str:
    """Name of the experiment with profiled runs that belongs to one with timed runs."""
    return name + SUFFIX


def window_for(timed: Sequence[Experiment]) -> str:
    """The window of main-loop steps to profile, as in `Spec.capture`; empty if no timed run had steps.

    A tenth of the steps, ten at most, warm up; a hundred at most are profiled.
    """
    runs = _all(timed)
    n_steps = max((pace.n_steps for pace in _paces(runs).values()), default=0)
    if n_steps < 2:
        return (
            "0:1"
            if any(step is not None for run in runs for series in run.series.values() for step in series.steps)
            else ""
        )
    start = max(1, min(MOST_SKIPPED, n_steps // 10))
    return f"{start}:{min(n_steps, start + MOST_STEPS)}"


def why_no_profiler(timed: Sequence[Experiment]) -> str:
    """Why these runs cannot be profiled; empty if they can."""
    completed = [run for run in _all(timed) if run.status == "completed"]
    if not completed:
        return "no run completed"
    if not any(framework in completed[0].environment for framework in PROFILERS):
        return "the script uses no framework with a profiler that deviate supports (PyTorch, TensorFlow)"
    return ""


def find_cost(
    timed: Sequence[Experiment],
    profiled: Sequence[Experiment],
    modes: tuple[Variant, Variant],
    *,
    no_profile: str,
    confidence: float,
) -> CostFindings:
    """The findings of recorded runs.

    Args:
        timed, profiled: the variants of either experiment; none of the second where no run was profiled.
        no_profile: why none was.

    Raises:
        RecordError: the snapshot of the runs is damaged.
    """
    from deviate.replay.cost import cost  # half a second of scipy

    free_experiment, held_experiment = _sides(timed, modes)
    sides = _sides(profiled, modes) if profiled else None
    profiles = dict(_profiles([*sides[0].runs, *sides[1].runs])) if sides else {}
    if sides and not profiles:
        no_profile = _why_nothing_seen(sides)
    return cost(
        free_experiment,
        held_experiment,
        paces=_paces([*free_experiment.runs, *held_experiment.runs]),
        profiled=sides,
        profiles=profiles,
        no_profile=no_profile,
        confidence=confidence,
        facts=tuple(_facts(free_experiment)),
    )


def _why_nothing_seen(profiled: tuple[Experiment, Experiment]) -> str:
    reasons = [str(missing) for side in profiled for run in side.runs for missing in run.not_captured]
    return reasons[0] if reasons else "the profiled runs have no profile, because they entered no main loop"


def _sides(experiments: Sequence[Experiment], modes: tuple[Variant, Variant]) -> tuple[Experiment, Experiment]:
    by_variant = {experiment.variant: experiment for experiment in experiments}
    free, held = modes
    return by_variant[free.name], by_variant[held.name]


def _all(experiments: Sequence[Experiment]) -> list[Run]:
    return [run for experiment in experiments for run in experiment.runs]


def _paces(runs: Sequence[Run]) -> dict[str, Pace]:
    paces = ((run.id, pace_of(run.folder, _main_loop(run))) for run in runs if run.status == "completed")
    return {run_id: pace for run_id, pace in paces if pace is not None}


def _main_loop(run: Run) -> int | None:
    """Id of the main loop in the snapshot of the run."""
    return read_manifest(snapshot_folder(run.folder.parents[2])).main_loop


def _profiles(runs: Sequence[Run]) -> Iterator[tuple[str, Profile]]:
    for run in runs:
        with contextlib.suppress(RecordError):  # a run with a damaged profile counts as one without
            seen = profile_of(run) if run.status == "completed" else None
            if seen is not None:
                yield run.id, seen


def _facts(experiment: Experiment) -> Iterator[tuple[str, str]]:
    run = next((candidate for candidate in experiment.runs if candidate.status == "completed"), None)
    if run is None:
        return
    yield from ((name, run.environment[name]) for name in FACTS if name in run.environment)
    yield "threads of each run", str(experiment.n_threads or "not limited")
    if run.device:
        yield "device", run.device

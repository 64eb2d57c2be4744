"""Captured outputs and weights of an experiment as arrays: aligned evaluation sets, and weights by layer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from deviate.errors import RecordError
from deviate.model.records import Artifact, Captured, CapturedSet, CapturedWeights, Experiment, NotCaptured, Run
from deviate.model.texts import first_few
from deviate.records.stored_arrays import names_in, reading_arrays
from deviate.stability.captures.sets import AlignedSet, build, runs_text
from deviate.stability.captures.stored import Stored, StoredWeights, combine_shards

ALL_BYTES = 1 << 32
"""Memory limit for the last evaluations of all sets; beyond it only the predicted classes are read."""
STEP_BYTES = 1 << 30
"""Memory limit for the sets of all steps; beyond it evenly spaced steps are read."""


Moments = dict[int | None, dict[int, list[Artifact]]]
"""Files of one set by step of the main loop (None for the last evaluation) and replicate."""


def captured_of(experiment: Experiment) -> Captured:
    """Outputs and weights that the completed runs of an experiment captured, as arrays; empty if there are none.

    Damaged or missing files, and sets that cannot be aligned, are reported as reasons; they do not raise.
    """
    runs = [run for run in experiment.runs if run.status == "completed"]
    reasons: list[str] = []
    sets: list[CapturedSet] = []
    by_step: list[CapturedSet] = []
    for name, moments in _sets_of(runs, reasons).items():
        final = _drop_earlier_files(name, moments[None], runs)
        if not final:
            reasons.append(f"Set {name} is left out: its last evaluation was not captured, only earlier ones.")
            continue
        last = _open_files(final, reasons)
        if not last:
            continue
        remaining_bytes = ALL_BYTES - sum(one.outputs.nbytes for one in sets if one.outputs is not None)
        try:
            frame = build(name, None, last, n_runs=len(runs), reference=None, max_bytes=remaining_bytes)
        except RecordError as error:
            reasons.append(f"Set {name} is left out: {error.message}.")
            continue
        sets.append(frame.captured_set)
        by_step += _steps(name, moments, frame, reasons)
    weights, weight_steps = weights_at(runs, reasons)
    reasons += _list_refusals(experiment.runs)
    return Captured(tuple(sets), tuple(by_step), weights, weight_steps, tuple(dict.fromkeys(reasons)))


def _drop_earlier_files(
    name: str, files: Mapping[int, list[Artifact]], runs: Sequence[Run]
) -> dict[int, list[Artifact]]:
    """Files of the last evaluation, except of runs that ran out of space: their files are from an earlier one."""
    full = {
        run.replicate
        for run in runs
        if any((failure.kind, failure.name) == ("predictions", name) for failure in run.not_captured)
    }
    return {replicate: shards for replicate, shards in files.items() if replicate not in full}


def _list_refusals(runs: Sequence[Run]) -> list[str]:
    """Sentences on what the guest could not capture, with the affected runs."""
    replicates_by_failure: dict[NotCaptured, list[int]] = {}
    for run in runs:
        for failure in run.not_captured:
            replicates_by_failure.setdefault(failure, []).append(run.replicate)
    return [
        f"Not captured in {runs_text(replicates)}: {failure}." for failure, replicates in replicates_by_failure.items()
    ]


def _sets_of(runs: Sequence[Run], reasons: list[str]) -> dict[str, Moments]:
    """Evaluation sets by name, with the files that exist, in the order of the first run that has them."""
    sets: dict[str, Moments] = {}
    with_missing_files: set[int] = set()
    for run in runs:
        for name, moments in _moments(run).items():
            for step, shards in moments.items():
                if all(shard.path.is_file() for shard in shards):
                    sets.setdefault(name, {}).setdefault(step, {})[run.replicate] = shards
                else:
                    with_missing_files.add(run.replicate)
    if with_missing_files:
        reasons.append(f"Files with captured outputs of {runs_text(sorted(with_missing_files))} are missing.")
    return {name: moments for name, moments in sets.items() if None in moments}


def _open_files(files: Mapping[int, list[Artifact]], reasons: list[str]) -> dict[int, Stored]:
    """The readable files of one point in time."""
    opened = {}
    for replicate, shards in files.items():
        try:
            opened[replicate] = combine_shards(shards)
        except RecordError as error:
            reasons.append(f"Run {replicate}: {error.message}.")
    return opened


def _moments(run: Run) -> dict[str, dict[int | None, list[Artifact]]]:
    """Files of a run by set and step; the last files of its first rank are also listed under None."""
    files: dict[str, dict[int | None, list[Artifact]]] = {}
    last: dict[str, int | None] = {}
    first: dict[str, int] = {}
    for artifact in run.artifacts:
        if artifact.kind == "predictions":
            files.setdefault(artifact.name, {}).setdefault(artifact.step, []).append(artifact)
            if (artifact.rank or 0) <= first.setdefault(artifact.name, artifact.rank or 0):
                first[artifact.name], last[artifact.name] = artifact.rank or 0, artifact.step
    return {
        name: {
            **{step: _shards(artifacts) for step, artifacts in by_step.items() if step is not None},
            None: _shards(by_step[last[name]]),
        }
        for name, by_step in files.items()
    }


def _shards(files: Sequence[Artifact]) -> list[Artifact]:
    """The last file of a set, together with the files of other ranks from the same point in time."""
    last = files[-1]
    if last.rank is None:
        return [last]
    by_rank = {
        artifact.rank: artifact
        for artifact in files
        if artifact.rank is not None and artifact.path.parent == last.path.parent
    }
    return [by_rank[rank] for rank in sorted(by_rank)]


def _steps(name: str, moments: Moments, frame: AlignedSet, reasons: list[str]) -> list[CapturedSet]:
    """The set at each step that all runs captured, with examples in the order of the last evaluation."""
    replicates = frame.captured_set.replicates
    all_steps = [step for step in moments if step is not None]
    steps = sorted(step for step in all_steps if all(replicate in moments[step] for replicate in replicates))
    n_most_steps = max(sum(replicate in moments[step] for step in all_steps) for replicate in replicates)
    if len(steps) < len(all_steps) and n_most_steps > 1:  # with one each, runs of other lengths have but their last one
        reasons.append(
            f"Set {name}: {len(all_steps) - len(steps)} of {len(all_steps)} steps are not in all runs and are left out."
        )
    if len(steps) == 1 and all(moments[steps[0]][replicate] == moments[None][replicate] for replicate in replicates):
        return []  # nothing but the last evaluation itself
    most = max(2, STEP_BYTES // max(1, frame.n_bytes))
    if len(steps) > most:
        chosen = sorted({round(index * (len(steps) - 1) / (most - 1)) for index in range(most)})
        reasons.append(f"Set {name}: {len(chosen)} of {len(steps)} steps are read, evenly spaced, to save memory.")
        steps = [steps[index] for index in chosen]
    sets = []
    for step in steps:
        files = _open_files({replicate: moments[step][replicate] for replicate in replicates}, reasons)
        if len(files) < len(replicates):
            continue
        try:
            sets.append(build(name, step, files, n_runs=len(replicates), reference=frame).captured_set)
        except RecordError as error:
            reasons.append(f"Set {name} at step {step} is left out: {error.message}.")
    return sets


# Captured weights: the files of all runs at one step, with the layers that all of them have.

BUFFERS = frozenset({
    "running_mean", "running_var", "num_batches_tracked", "moving_mean", "moving_variance", "batch_stats",
})  # fmt: skip
"""Parts of names of values that are stored with the weights and are not trained. Source: torch.nn.BatchNorm, keras
BatchNormalization, flax.linen.BatchNorm."""


def weights_at(runs: Sequence[Run], reasons: list[str]) -> tuple[CapturedWeights | None, tuple[CapturedWeights, ...]]:
    """Weights at the end, and after steps of the main loop that all runs have; reasons are added to what is given."""
    by_replicate = {run.replicate: _files_of_first_rank(run) for run in runs}
    by_replicate = {replicate: files for replicate, files in by_replicate.items() if files}
    if not by_replicate:
        return None, ()
    present = {replicate: [file for file in files if file.path.is_file()] for replicate, files in by_replicate.items()}
    if any(len(present[replicate]) < len(files) for replicate, files in by_replicate.items()):
        reasons.append("Some files with captured weights are missing.")
    by_replicate = {replicate: files for replicate, files in present.items() if files}
    if not by_replicate:
        return None, ()
    if missing := [run.replicate for run in runs if run.replicate not in by_replicate]:
        reasons.append(f"Runs without weights: {', '.join(map(str, missing))}.")
    final = _beside({replicate: files[-1] for replicate, files in by_replicate.items()}, None, reasons)
    by_step = {
        replicate: {file.step: file for file in files if file.step is not None}
        for replicate, files in by_replicate.items()
    }
    steps = sorted(set.intersection(*(set(files) for files in by_step.values())))
    n_steps = len(set().union(*by_step.values()))
    if len(steps) < n_steps and any(len(files) > 1 for files in by_step.values()):
        reasons.append(f"Weights: {n_steps - len(steps)} of {n_steps} steps are not in all runs and are left out.")
    beside = (
        _beside({replicate: files[step] for replicate, files in by_step.items()}, step, reasons) for step in steps
    )
    return final, tuple(weights for weights in beside if weights is not None)


def _files_of_first_rank(run: Run) -> list[Artifact]:
    """Files of weights in order of time; ranks hold the same, so the lowest one tells of all.

    Weights that have not changed since the main loop ended are not kept once more at exit.
    """
    files = [artifact for artifact in run.artifacts if artifact.kind == "weights"]
    lowest = min((file.rank for file in files if file.rank is not None), default=None)
    return [file for file in files if file.rank in {None, lowest}]


def _beside(files: dict[int, Artifact], step: int | None, reasons: list[str]) -> CapturedWeights | None:
    """The weights of all runs at one moment, with the layers that all have in one shape."""
    shapes: dict[int, dict[str, tuple[int, ...]]] = {}
    for replicate, file in files.items():
        try:
            shapes[replicate] = _shapes(file.path)
        except RecordError as error:
            reasons.append(f"Run {replicate}: {error.message}.")
    if not shapes:
        return None
    first = next(iter(shapes.values()))
    names = [name for name, shape in first.items() if all(layers.get(name) == shape for layers in shapes.values())]
    left_out = sorted(set().union(*shapes.values()) - set(names))
    if left_out:
        reasons.append(f"Weights that are not in all runs, or differ in shape, are left out: {first_few(left_out, 3)}.")
    if not names:
        return None
    return CapturedWeights(step, tuple(shapes), StoredWeights([files[replicate].path for replicate in shapes], names))


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Trained weights of a file, by name. Raises RecordError."""
    names = names_in(path)
    with reading_arrays(path), np.load(path, allow_pickle=False) as file:
        arrays = ((name, file[name]) for name in names if BUFFERS.isdisjoint(name.replace("/", ".").split(".")))
        return {name: array.shape for name, array in arrays if np.issubdtype(array.dtype, np.floating)}

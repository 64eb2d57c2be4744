"""Weights that runs kept: the files of one moment beside each other, with the layers that all of them have."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deviate.base import first_few
from deviate.errors import RecordError
from deviate.model import Artifact, CapturedWeights, Run
from deviate.records import names_in, reading_arrays
from deviate.stability.captures.stored import Layers

BUFFERS = frozenset({
    "running_mean", "running_var", "num_batches_tracked", "moving_mean", "moving_variance", "batch_stats",
})  # fmt: skip
"""Parts of names of what is kept with the weights and is not trained. Source: torch.nn.BatchNorm, keras
BatchNormalization, flax.linen.BatchNorm."""


def weights_at(runs: Sequence[Run], reasons: list[str]) -> tuple[CapturedWeights | None, tuple[CapturedWeights, ...]]:
    """Weights at the end, and after steps of the main loop that all runs have; reasons are added to what is given."""
    by_replicate = {run.replicate: _files_of_first_rank(run) for run in runs}
    by_replicate = {replicate: files for replicate, files in by_replicate.items() if files}
    if not by_replicate:
        return None, ()
    present = {replicate: [file for file in files if file.path.is_file()] for replicate, files in by_replicate.items()}
    if any(len(present[replicate]) < len(files) for replicate, files in by_replicate.items()):
        reasons.append("Files with captured weights are not there any more, at least some of them.")
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
        reasons.append(f"Weights: {n_steps - len(steps)} of {n_steps} steps are not in all runs, and left out.")
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
        reasons.append(f"Weights that not all runs have in one shape are left out: {first_few(left_out, 3)}.")
    if not names:
        return None
    return CapturedWeights(step, tuple(shapes), Layers([files[replicate].path for replicate in shapes], names))


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Trained weights of a file, by name. Raises RecordError."""
    names = names_in(path)
    with reading_arrays(path), np.load(path, allow_pickle=False) as file:
        arrays = ((name, file[name]) for name in names if BUFFERS.isdisjoint(name.replace("/", ".").split(".")))
        return {name: array.shape for name, array in arrays if np.issubdtype(array.dtype, np.floating)}

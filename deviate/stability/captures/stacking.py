"""Stacks the outputs of several runs in one array, reading one run at a time, and computes predicted classes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from deviate.errors import RecordError
from deviate.model import OutputKind
from deviate.stability.captures.outputs import Array, Form, common_kind, is_bounded, is_whole, score_kind
from deviate.stability.captures.stored import OUTPUTS, Stored

MOST_BYTES = 1 << 31
"""What the outputs of a set may take in memory; of more the predicted classes alone are read."""

Order = npt.NDArray[np.intp] | None
"""Rows of a run in the order in which they are taken; None for as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """As in `CapturedSet`: (R, N, C) or (R, N) outputs, (R, N) labels."""

    outputs: npt.NDArray[np.floating[Any]] | None
    labels: npt.NDArray[np.integer[Any]] | None
    kind: OutputKind
    notes: tuple[str, ...]


def stack(
    files: Sequence[Stored],
    replicates: Sequence[int],
    orders: Sequence[Order],
    form: Form,
    n_examples: int,
    max_bytes: int = MOST_BYTES,
) -> Stacked | str:
    """Stack the outputs of all runs, or return why their shapes do not match; `max_bytes` limits the memory."""
    shape = (n_examples * form.n_parts, *((form.n_columns,) if form.kind == "classes" else ()))
    room: _Room | None = None
    kinds: set[OutputKind | None] = set()
    endless: list[int] = []
    for index, (file, replicate, order) in enumerate(zip(files, replicates, orders, strict=True)):
        try:
            rows = _rows(file.array(OUTPUTS), order, form, shape)
        except RecordError as error:
            return error.message
        if rows is None:
            return f"outputs of run {replicate} are of another shape or kind than those of others"
        if room is None:
            new_room = _room(form, len(files), shape, rows.dtype, min(max_bytes, MOST_BYTES))
            if isinstance(new_room, str):
                return new_room
            room = new_room
        kinds.add(room.take(index, rows, form))
        if not is_bounded(rows):
            endless.append(replicate)
    if room is None:
        return "no run kept it"
    stacked = room.fill_in(form, common_kind(kinds))
    return replace(stacked, notes=(*stacked.notes, _warn_unbounded(endless))) if endless else stacked


def _warn_unbounded(replicates: Sequence[int]) -> str:
    runs = f"run{'s' * (len(replicates) > 1)} {', '.join(map(str, replicates))}"
    return f"NaN or infinite numbers are among the outputs of {runs}: what is predicted there means nothing."


def reorder(array: Array, order: Order) -> Array:
    """Rows of an array in the given order."""
    return array if order is None else array[order]


def _rows(outputs: Array, order: Order, form: Form, shape: tuple[int, ...]) -> Array | None:
    """Outputs of one run as float32, float64 or integers; None where they have another form."""
    if outputs.dtype.kind not in "biuf" or (form.kind == "classes" and outputs.ndim <= form.class_axis):
        return None
    if form.kind == "classes" and outputs.shape[form.class_axis] != form.n_columns:
        return None
    rows = form.rows(reorder(outputs, order))
    if rows.shape != shape or (form.kind == "labels" and not is_whole(rows)):
        return None
    if form.kind == "labels":
        return rows.astype(np.int64, copy=False)
    return rows if rows.dtype in {np.dtype(np.float32), np.dtype(np.float64)} else rows.astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """Preallocated arrays for all runs."""

    outputs: npt.NDArray[np.floating[Any]] | None
    labels: npt.NDArray[np.integer[Any]] | None
    notes: tuple[str, ...] = ()

    def take(self, index: int, rows: Array, form: Form) -> OutputKind | None:
        """Store the rows of one run; returns their kind."""
        kind = score_kind(rows, form)
        if self.labels is not None:
            self.labels[index] = rows if form.kind == "labels" else _predict_labels(rows, kind, form)
        if self.outputs is not None:
            self.outputs[(index, ..., 1) if form.kind == "binary" else index] = rows
        return kind

    def fill_in(self, form: Form, kind: OutputKind) -> Stacked:
        """The arrays. A single score of the second class is completed by the first: 1 - p, or a logit of 0."""
        if form.kind == "binary" and self.outputs is not None and self.labels is not None:
            self.outputs[..., 0] = 1 - self.outputs[..., 1] if kind == "probabilities" else 0
            self.labels[:] = self.outputs[..., 1] > self.outputs[..., 0]
        has_scores = self.outputs is not None or form.kind == "labels"
        return Stacked(self.outputs, self.labels, kind if has_scores else "labels", self.notes)


def _predict_labels(rows: Array, kind: OutputKind | None, form: Form) -> Array:
    if form.kind == "classes":
        return np.asarray(np.argmax(rows, axis=1))
    return np.asarray(rows > (0.5 if kind == "probabilities" else 0.0))


def _room(form: Form, n_runs: int, shape: tuple[int, ...], dtype: np.dtype[Any], most: int) -> _Room | str:
    """Allocate the arrays, limited by the memory that may be used."""
    if form.kind == "labels":
        return _Room(None, np.empty((n_runs, *shape), np.int64))
    whole = (n_runs, *shape, 2) if form.kind == "binary" else (n_runs, *shape)
    n_bytes = int(np.prod(whole, dtype=np.int64)) * dtype.itemsize
    labels = None if form.kind == "values" else np.empty((n_runs, shape[0]), np.int32)
    if n_bytes <= most:
        return _Room(np.empty(whole, dtype), labels)
    if labels is None or labels.nbytes > MOST_BYTES:
        return f"its outputs take {n_bytes / 1e9:.1f} GB, which is too much to compare"
    return _Room(None, labels, (f"Outputs take {n_bytes / 1e9:.1f} GB: the predicted classes alone are read.",))

"""Converts model outputs to the form that measures use: class scores, classes or values, one row per example."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from deviate.errors import RecordError
from deviate.model.records import OutputKind

Array = npt.NDArray[Any]
SUM_TOLERANCE = {2: 2e-2, 4: 1e-3, 8: 1e-6}
"""Tolerance of the sum of class probabilities, by bytes of a number: covers the rounding of many classes."""
SPARSE = 4
"""Classes are renumbered where their largest number is this many times their count."""


@dataclass(frozen=True, slots=True)
class OutputForm:
    """How rows are made from outputs.

    Attributes:
        kind: scores of several classes, one score of the second of two, classes, or values.
        class_axis: where scores of several classes stand.
        n_parts: rows per example, such as pixels, or labels of which each is right or wrong by itself.
        n_columns: scores per row; 0 for one number.
    """

    kind: Literal["classes", "binary", "labels", "values"]
    class_axis: int = 1
    n_parts: int = 1
    n_columns: int = 0
    notes: tuple[str, ...] = ()

    def rows(self, outputs: Array) -> Array:
        """Reshape outputs to (n × parts, C), or to (n × parts,) where a row is one number."""
        if self.kind == "classes":
            return np.moveaxis(outputs, self.class_axis, -1).reshape(-1, self.n_columns)
        return outputs.reshape(-1)


def left_out(why: str) -> RecordError:
    """The error for a set that cannot be built."""
    return RecordError(why, "the set is left out")


def form_of(outputs: Array, truth: Array | None) -> OutputForm:
    """Determine how a run's outputs on a set are read, from their shape and the labels. Raises RecordError."""
    if np.issubdtype(outputs.dtype, np.complexfloating) or outputs.dtype.kind not in "biuf":
        raise left_out(f"outputs have the type {outputs.dtype}, which no measure supports")
    n, shape = len(outputs), outputs.shape[1:]
    if truth is not None and len(truth) != n:
        truth = None
    n_parts = int(np.prod(shape, dtype=np.int64))
    if not n or not n_parts:
        raise left_out("it has no outputs")
    if np.issubdtype(outputs.dtype, np.integer) or outputs.dtype == bool:
        same = truth is not None and int(np.prod(truth.shape[1:], dtype=np.int64)) == n_parts
        if not same and n_parts > 1:
            raise _unknown(shape)
        return OutputForm("labels", n_parts=n_parts, notes=_parts_note(n_parts))
    if n_parts == 1:
        return OutputForm(_single(outputs, truth))
    if truth is None:
        if len(shape) > 1:
            raise _unknown(shape)
        return OutputForm("classes", n_columns=n_parts)
    return _several(outputs, truth, n_parts)


def _several(outputs: Array, truth: Array, n_parts: int) -> OutputForm:
    """Form of outputs with several numbers per example, compared with the true labels."""
    shape, true_shape = outputs.shape[1:], _without_ones(truth).shape[1:]
    if not true_shape and (len(shape) == 1 or _without_ones(outputs).ndim == 2):
        if not is_whole(truth):
            note = "Examples have one true value and several outputs; which output it belongs to is unknown."
            return OutputForm("values", n_parts=n_parts, notes=(note, *_parts_note(n_parts)))
        return OutputForm("classes", n_columns=n_parts, class_axis=1 + int(np.argmax(shape)))
    if true_shape == _without_ones(outputs).shape[1:]:
        if len(shape) == 1 and _is_one_per_row(truth):
            return OutputForm("classes", n_columns=n_parts)
        is_binary = set(np.unique(truth)) <= {0, 1}
        return OutputForm("binary" if is_binary else "values", n_parts=n_parts, notes=_parts_note(n_parts))
    for axis, rest in ((1, shape[1:]), (len(shape), shape[:-1])):
        if truth.shape[1:] == rest and is_whole(truth):
            parts = n_parts // shape[axis - 1]
            return OutputForm("classes", axis, parts, shape[axis - 1], _parts_note(parts))
    raise left_out(f"outputs of shape {shape} per example and true values of shape {truth.shape[1:]} do not match")


def _unknown(shape: tuple[int, ...]) -> RecordError:
    return left_out(f"outputs have the shape {shape} per example: without true values their meaning is unknown")


def _parts_note(n_parts: int) -> tuple[str, ...]:
    return (f"Each of the {n_parts} parts of an example counts as an example.",) if n_parts > 1 else ()


def _single(outputs: Array, truth: Array | None) -> Literal["binary", "labels", "values"]:
    """Form of outputs with one float per example: a score of the second of two classes, a class, or a value."""
    if truth is None or not is_whole(truth):
        return "values"
    classes = set(np.unique(truth))
    if is_whole(outputs) and set(np.unique(outputs)) <= classes | set(range(int(max(classes)) + 1)):
        return "labels"
    return "binary" if classes <= {0, 1} or classes <= {-1, 1} else "values"


def classes_of(truth: Array, form: OutputForm) -> Array:
    """True classes or values, shape (n × parts,), from the stored labels."""
    if form.kind == "classes" and form.n_parts == 1 and truth.ndim > 1 and truth.shape[-1] == form.n_columns:
        return np.asarray(np.argmax(truth, axis=-1).reshape(-1))
    flat = truth.reshape(-1)
    if form.kind == "values" or not is_whole(flat):
        return flat
    if form.kind == "binary":
        return (flat > 0).astype(np.int64)
    return flat.astype(np.int64)


def score_kind(rows: Array, form: OutputForm) -> OutputKind | None:
    """Kind of scores of one run, judged by their values; None where every row has NaN or infinity.

    Such rows are ignored: one of them would turn the kind of all runs from probabilities into logits.
    """
    if form.kind in {"labels", "values"}:
        return "labels" if form.kind == "labels" else "values"
    valid_mask = rows < np.inf  # -inf is the logarithm of 0
    if not valid_mask.all():
        rows = rows[valid_mask if rows.ndim == 1 else valid_mask.all(axis=1)]
        if not len(rows):
            return None
    tolerance = SUM_TOLERANCE.get(rows.dtype.itemsize, 1e-3)
    if form.kind == "binary":
        return "probabilities" if rows.min() >= 0 and rows.max() <= 1 else "logits"
    lowest, highest = rows.min(), rows.max()
    if lowest >= 0 and highest <= 1 + tolerance:
        sums = rows.sum(axis=1, dtype=np.float64)
        return "probabilities" if np.abs(sums - 1).max() <= tolerance else "logits"
    if highest <= tolerance:
        sums = np.exp(rows, dtype=np.float64).sum(axis=1)
        return "log-probabilities" if np.abs(sums - 1).max() <= tolerance else "logits"
    return "logits"


def common_kind(kinds: set[OutputKind | None]) -> OutputKind:
    """Kind of scores over all runs; runs that disagree are treated as plain scores."""
    distinct = [kind for kind in kinds if kind is not None]
    return distinct[0] if len(distinct) == 1 else "logits"


def recount(classes: Array) -> Array | None:
    """The distinct class numbers, where they are negative or sparse and have to be replaced by positions; else None."""
    class_values = np.unique(classes)
    is_sparse = len(class_values) and (
        class_values[0] < 0 or int(class_values[-1]) >= max(SPARSE * len(class_values), 1000)
    )
    return class_values if is_sparse else None


def is_bounded(numbers: Array) -> bool:
    """Whether no value is NaN or +infinity; -infinity is allowed, as the score of a class that is ruled out."""
    return numbers.dtype.kind != "f" or bool((numbers < np.inf).all())


def is_whole(numbers: Array) -> bool:
    if numbers.dtype == bool or np.issubdtype(numbers.dtype, np.integer):
        return True
    if not np.issubdtype(numbers.dtype, np.floating):
        return False
    return bool(np.all(np.isfinite(numbers)) and np.all(np.equal(np.mod(numbers, 1), 0)))


def _without_ones(array: Array) -> Array:
    return array.reshape(len(array), *(size for size in array.shape[1:] if size != 1))


def _is_one_per_row(truth: Array) -> bool:
    """Whether the labels are distributions over classes: one-hot, or shares that sum to 1."""
    if not (np.issubdtype(truth.dtype, np.floating) or np.issubdtype(truth.dtype, np.integer) or truth.dtype == bool):
        return False
    sums = truth.sum(axis=-1, dtype=np.float64)
    return bool(np.min(truth) >= 0 and np.abs(sums - 1).max() <= SUM_TOLERANCE[4])

"""One evaluation set at one point in time: the outputs of all runs as one array, with aligned examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from deviate.model.records import Alignment, CapturedSet, OutputKind
from deviate.stability.captures.outputs import (
    Array,
    OutputForm,
    classes_of,
    common_kind,
    form_of,
    is_bounded,
    is_whole,
    left_out,
    recount,
    score_kind,
)
from deviate.stability.captures.stored import KEYS, OUTPUTS, TRUTH, Stored

# Alignment of the examples of several runs: by order where it is the same, else by a hash of their input.

NO_LABELS = "True labels could not be told: deviate.log_predictions(outputs, labels) keeps them."
SMALLEST_SHARE = 0.5
"""Minimum share of examples that must be in all runs; with less, they evaluated different sets."""


@dataclass(frozen=True, slots=True, eq=False)
class RunExamples:
    """What is known of the examples that one run saw, in its order.

    Attributes:
        keys: (n,) hash of each one's input, None where there is none. truth: (n, …), None where the run had none.
    """

    n: int
    keys: npt.NDArray[np.uint64] | None = None
    truth: npt.NDArray[np.generic] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """How the rows of each run are taken so that they are the same examples.

    Attributes:
        orders: per run (N,) its rows in the order of the first run; None where they are taken as they are.
        positions: (N,) rows of the first run, rising.
        notes: what was left out or taken for granted.
    """

    orders: tuple[npt.NDArray[np.intp] | None, ...]
    positions: npt.NDArray[np.intp]
    alignment: Alignment
    notes: tuple[str, ...] = ()


def align(runs: Sequence[RunExamples]) -> Aligned:
    """The way to the same examples in every run. Raises RecordError where there is none.

    Examples with the same input stand for one another in the order in which they came.
    """
    keys = [run.keys for run in runs if run.keys is not None]
    if len(keys) < len(runs):
        return _by_position(
            runs, "no run has hashes of its inputs" if not keys else "not all runs have hashes of their inputs"
        )
    if all(np.array_equal(run_keys, keys[0]) for run_keys in keys[1:]):
        return _as_they_are(runs)
    alignment = _by_keys(keys, [run.truth for run in runs])
    n_common, n_first = len(alignment[0]), runs[0].n
    if n_common < SMALLEST_SHARE * max(run.n for run in runs):
        if _have_the_same_truth(runs):
            return _as_they_are(
                runs,
                "Inputs differ between runs, but true labels have the same order: examples are matched by position.",
            )
        raise left_out(f"runs have only {n_common} of {n_first} examples in common: their inputs or their sets differ")
    order = np.argsort(alignment[0], kind="stable")
    notes = []
    if any(n_common < run.n for run in runs):
        most = max(run.n for run in runs)
        notes.append(f"{n_common} of {most} examples are in all runs; the others are left out.")
    return Aligned(tuple(rows[order] for rows in alignment), alignment[0][order], "input", tuple(notes))


def _as_they_are(runs: Sequence[RunExamples], *notes: str) -> Aligned:
    return Aligned((None,) * len(runs), np.arange(runs[0].n), "position", notes)


def _by_position(runs: Sequence[RunExamples], why: str) -> Aligned:
    numbers = sorted({run.n for run in runs})
    if len(numbers) > 1:
        raise left_out(f"runs have {numbers[0]} to {numbers[-1]} examples, and {why}")
    if len(runs) == 1:
        return _as_they_are(runs)
    truths = [run.truth for run in runs if run.truth is not None]
    if any(not _is_same(truth, truths[0]) for truth in truths[1:]):
        raise left_out(f"the order of true labels differs between runs, and {why}")
    if len(truths) == len(runs):
        return _as_they_are(runs, f"Examples are matched by position, because true labels have the same order: {why}.")
    return _as_they_are(runs, f"Examples are matched by position, assuming the same order in all runs: {why}.")


def _by_keys(
    keys: Sequence[npt.NDArray[np.uint64]], truths: Sequence[npt.NDArray[np.generic] | None]
) -> list[npt.NDArray[np.intp]]:
    """Rows of each run that have a partner in all others, sorted by key, and by true label where that is one number."""
    all_keys, key_numbers = np.unique(np.concatenate(keys), return_inverse=True)
    numbers_of_runs = np.split(key_numbers, np.cumsum([len(run_keys) for run_keys in keys])[:-1])
    counts = np.min([np.bincount(numbers, minlength=len(all_keys)) for numbers in numbers_of_runs], axis=0)
    orders = []
    for numbers, truth in zip(numbers_of_runs, truths, strict=True):
        labels = [truth] if truth is not None and truth.shape == numbers.shape else []
        rows = np.lexsort((*labels, numbers))
        nth = np.arange(len(rows)) - np.searchsorted(numbers[rows], numbers[rows])
        orders.append(rows[nth < counts[numbers[rows]]])
    return orders


def _have_the_same_truth(runs: Sequence[RunExamples]) -> bool:
    """Whether true labels, of several classes, come in the same order: a set that was shuffled would show."""
    first = runs[0].truth
    if first is None or first.ndim != 1 or len(np.unique(first)) < 2:
        return False
    return all(run.truth is not None and _is_same(run.truth, first) for run in runs[1:])


def _is_same(one: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> bool:
    return one.shape == other.shape and bool(np.all((one == other) | ((one != one) & (other != other))))  # noqa: PLR0124


MOST_BYTES = 1 << 31
"""Memory limit for the outputs of a set; beyond it only the predicted classes are read."""

Order = npt.NDArray[np.intp] | None
"""Order in which the rows of a run are read; None for the stored order."""
Numbers = npt.NDArray[np.intp]
"""The number of each class in the first run, indexed by its number in a run."""


def numbers_in_first(truths: Sequence[Array], n_classes: int) -> tuple[Numbers, ...] | None:
    """The number in the first run for each class of each run; None where labels differ by more than a renumbering.

    A script that numbers classes in the iteration order of a `set` of strings numbers them differently in every run,
    because string hashes are randomised. Classes without an example keep their order among the numbers that are left.

    Args:
        truths: of each run, integers of one shape, the same examples in the same places.

    >>> [list(map(int, it)) for it in numbers_in_first([np.array([0, 1, 1]), np.array([2, 0, 0])], 3)]
    [[0, 1, 2], [1, 2, 0]]
    """
    first = np.asarray(truths[0]).reshape(-1)
    numbers_of_runs = []
    for truth in truths:
        classes = np.asarray(truth).reshape(-1)
        if (
            classes.shape != first.shape
            or classes.dtype.kind not in "iu"
            or first.dtype.kind not in "iu"
            or not len(classes)
        ):
            return None
        if min(classes.min(), first.min()) < 0 or max(classes.max(), first.max()) >= n_classes:
            return None
        pairs = np.unique(np.stack([classes, first], axis=1), axis=0)
        if len(np.unique(pairs[:, 0])) < len(pairs) or len(np.unique(pairs[:, 1])) < len(pairs):
            return None
        numbers = np.full(n_classes, -1, dtype=np.intp)
        numbers[pairs[:, 0]] = pairs[:, 1]
        numbers[numbers < 0] = np.setdiff1d(np.arange(n_classes), pairs[:, 1])
        numbers_of_runs.append(numbers)
    return tuple(numbers_of_runs)


def stack(
    files: Sequence[Stored],
    replicates: Sequence[int],
    orders: Sequence[Order],
    form: OutputForm,
    n_examples: int,
    max_bytes: int = MOST_BYTES,
) -> "Stack":
    """Stack the outputs of all runs; `max_bytes` limits the memory. Raises RecordError where shapes do not match."""
    shape = (n_examples * form.n_parts, *((form.n_columns,) if form.kind == "classes" else ()))
    runs: Stack | None = None
    for index, (file, replicate, order) in enumerate(zip(files, replicates, orders, strict=True)):
        rows = _rows(file.array(OUTPUTS), order, form, shape)
        if rows is None:
            raise left_out(f"outputs of run {replicate} differ in shape or kind from those of other runs")
        runs = runs or Stack(form, (len(files), *shape), rows.dtype, min(max_bytes, MOST_BYTES))
        runs.add(index, replicate, rows)
    if runs is None:
        raise left_out("no run captured it")
    runs.finish()
    return runs


class Stack:
    """Outputs and classes of runs, added one by one to arrays that are allocated once.

    Attributes:
        outputs, labels, kind: as in `CapturedSet`: (R, N, C) or (R, N), and (R, N).

    Args:
        shape: of one number per row, or of the scores of all classes. most: bytes that outputs may take; of more the
            predicted classes alone are stacked.
    """

    def __init__(self, form: OutputForm, shape: tuple[int, ...], dtype: np.dtype[Any], most: int) -> None:
        self.form = form
        self.outputs: npt.NDArray[np.floating[Any]] | None = None
        self.labels: npt.NDArray[np.integer[Any]] | None = None
        self.notes: list[str] = []
        self.kind: OutputKind = "labels"
        self.kinds: set[OutputKind | None] = set()
        self.unbounded: list[int] = []
        if form.kind == "labels":
            self.labels = np.empty(shape, np.int64)
            return
        whole = (*shape, 2) if form.kind == "binary" else shape
        n_bytes = int(np.prod(whole, dtype=np.int64)) * dtype.itemsize
        if form.kind != "values":
            self.labels = np.empty(shape[:2], np.int32)
        if n_bytes <= most:
            self.outputs = np.empty(whole, dtype)
        elif self.labels is None or self.labels.nbytes > MOST_BYTES:
            raise left_out(f"its outputs take {n_bytes / 1e9:.1f} GB, too much to compare")
        else:
            self.notes.append(f"Outputs take {n_bytes / 1e9:.1f} GB: only the predicted classes are read.")

    def add(self, index: int, replicate: int, rows: Array) -> None:
        kind = score_kind(rows, self.form)
        self.kinds.add(kind)
        if not is_bounded(rows):
            self.unbounded.append(replicate)
        if self.labels is not None:
            self.labels[index] = rows if self.form.kind == "labels" else self._predict(rows, kind)
        if self.outputs is not None:
            self.outputs[(index, ..., 1) if self.form.kind == "binary" else index] = rows

    def _predict(self, rows: Array, kind: OutputKind | None) -> Array:
        if self.form.kind == "classes":
            return np.asarray(np.argmax(rows, axis=1))
        return np.asarray(rows > (0.5 if kind == "probabilities" else 0.0))

    def finish(self) -> None:
        """Complete a single score of the second class by the first: 1 - p, or a logit of 0."""
        kind = common_kind(self.kinds)
        if self.form.kind == "binary" and self.outputs is not None and self.labels is not None:
            self.outputs[..., 0] = 1 - self.outputs[..., 1] if kind == "probabilities" else 0
            self.labels[:] = self.outputs[..., 1] > self.outputs[..., 0]
        if self.unbounded:
            runs = runs_text(self.unbounded)
            self.notes.append(
                f"Outputs of {runs} contain NaN or infinite values; the predictions there are meaningless."
            )
        if self.outputs is not None or self.form.kind == "labels":
            self.kind = kind

    def renumber(self, numbers: Sequence[Numbers]) -> None:
        """Permute the classes of each run to the numbering of the first run."""
        if self.outputs is not None:
            runs = zip(self.outputs, numbers, strict=True)
            self.outputs = np.stack([output[:, np.argsort(order)] for output, order in runs])
        if self.labels is not None:
            self.labels = np.stack([order[label] for label, order in zip(self.labels, numbers, strict=True)])


def runs_text(replicates: Sequence[int]) -> str:
    return f"run{'s' * (len(replicates) > 1)} {', '.join(map(str, replicates))}"


def reorder(array: Array, order: Order) -> Array:
    """Rows of an array in the given order."""
    return array if order is None else array[order]


def _rows(outputs: Array, order: Order, form: OutputForm, shape: tuple[int, ...]) -> Array | None:
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
class AlignedSet:
    """A set together with the alignment that is applied to the same set at other points in time.

    Attributes:
        examples: of the first run, as they stand in its file. rows: which of them are left, (N,) rising.
        is_right: which rows have a class, where one example has several; None for all.
    """

    captured_set: CapturedSet
    form: OutputForm
    examples: RunExamples
    rows: npt.NDArray[np.intp]
    is_right: npt.NDArray[np.bool_] | None

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for array in (self.captured_set.outputs, self.captured_set.labels) if array is not None)


def build(
    name: str,
    step: int | None,
    files: Mapping[int, Stored],
    *,
    n_runs: int,
    reference: AlignedSet | None,
    max_bytes: int = MOST_BYTES,
) -> AlignedSet:
    """Build the set from all runs that can be read.

    Args:
        files: by replicate. n_runs: how many runs could have kept it.
        reference: the same set at its last moment, whose examples, form and order are to be kept.
        max_bytes: of outputs, in memory.

    Raises:
        RecordError: a file is damaged, or runs have no outputs that can stand beside each other.
    """
    replicates, notes = sorted(files), [note for file in files.values() for note in file.notes]
    examples = {replicate: _examples(files[replicate]) for replicate in replicates}
    first = files[replicates[0]].array(OUTPUTS)
    if len(files) < n_runs:
        notes.append(f"{len(files)} of {n_runs} runs captured this set; the measures use these runs.")
    aligned = align([*([reference.examples] if reference else []), *examples.values()])
    orders, rows = _orders(aligned, reference)
    form = reference.form if reference else form_of(first, examples[replicates[0]].truth)
    truth, numbers, truth_notes = _truth(list(examples.values()), orders, form.n_columns)
    stacked = stack([files[replicate] for replicate in replicates], replicates, orders, form, len(rows), max_bytes)
    if numbers is not None:
        stacked.renumber(numbers)
    outputs, labels, kind = stacked.outputs, stacked.labels, stacked.kind
    positions = np.repeat(rows, form.n_parts)
    true, fit_notes = _fitting(truth, form, len(positions))
    columns = _columns_of(files, replicates, orders, form)
    has_label = reference.is_right if reference else _rows_with_class(true, labels, form)
    if has_label is not None:
        notes.append(f"{int((~has_label).sum())} of {len(has_label)} predictions have no true class and are left out.")
        outputs = None if outputs is None else outputs[:, has_label]
        labels = None if labels is None else labels[:, has_label]
        true = None if true is None else true[has_label]
        positions, columns = positions[has_label], {key: column[has_label] for key, column in columns.items()}
    labels, true, class_notes = _counted_anew(labels, true, kind)
    captured_set = CapturedSet(
        name=name,
        step=step,
        replicates=tuple(replicates),
        kind=kind,
        outputs=outputs,
        labels=labels,
        truth=true,
        columns=columns,
        positions=positions,
        alignment=aligned.alignment,
        notes=tuple(
            dict.fromkeys([*notes, *aligned.notes, *form.notes, *truth_notes, *fit_notes, *stacked.notes, *class_notes])
        ),
        n_seen=(reference.examples if reference else examples[replicates[0]]).n,
    )
    return AlignedSet(captured_set, form, examples[replicates[0]], rows, has_label)


def _examples(file: Stored) -> RunExamples:
    keys = file.array(KEYS).reshape(-1) if KEYS in file.names else None
    truth = file.array(TRUTH) if TRUTH in file.names else None
    return RunExamples(
        file.n,
        keys if keys is not None and len(keys) == file.n and keys.dtype == np.uint64 else None,
        truth if truth is not None and truth.ndim and len(truth) == file.n else None,
    )


def _orders(aligned: Aligned, reference: AlignedSet | None) -> tuple[Sequence[Order], npt.NDArray[np.intp]]:
    """Rows to select in each run, and the matching rows of the first run (or reference)."""
    if reference is None:
        return aligned.orders, aligned.positions
    orders = aligned.orders[1:]
    if len(aligned.positions) == len(reference.rows) and np.array_equal(aligned.positions, reference.rows):
        return orders, reference.rows
    place = np.searchsorted(aligned.positions, reference.rows)
    place = np.minimum(place, max(len(aligned.positions) - 1, 0))
    if not len(aligned.positions) or not np.array_equal(aligned.positions[place], reference.rows):
        raise left_out("its examples differ from those of the last evaluation")
    return [place if order is None else order[place] for order in orders], reference.rows


def _truth(
    runs: Sequence[RunExamples], orders: Sequence[npt.NDArray[np.intp] | None], n_classes: int
) -> tuple[Array | None, tuple[Numbers, ...] | None, list[str]]:
    """Labels of the aligned examples, if all runs that have labels agree, at least up to the numbering of classes.

    Returns:
        The truth; by what numbers the classes of each run are to be called, None where they stay; notes.
    """
    truths = [reorder(run.truth, order) for run, order in zip(runs, orders, strict=True) if run.truth is not None]
    if not truths:
        return None, None, [NO_LABELS]
    differing = sum(
        labels.shape != truths[0].shape
        or not np.array_equal(labels, truths[0], equal_nan=np.issubdtype(labels.dtype, np.inexact))
        for labels in truths[1:]
    )
    if not differing:
        return truths[0], None, []
    numbers = numbers_in_first(truths, n_classes) if len(truths) == len(runs) else None
    if numbers is None:
        note = (
            f"True labels of the same examples differ between runs ({differing} of {len(truths)}), so they are ignored."
        )
        return None, None, [note]
    note = (
        f"The script numbers its classes differently in {differing} of {len(truths)} runs; here all use the numbers "
        "of the first run. Weights of the output layer are compared without renumbering."
    )
    return truths[0], numbers, [note]


def _size(array: Array) -> int:
    return int(np.prod(array.shape, dtype=np.int64))


def _fitting(truth: Array | None, form: OutputForm, n_rows: int) -> tuple[Array | None, list[str]]:
    """True classes or values, one per row of the outputs; empty where the numbers of rows do not match."""
    if truth is None:
        return None, []
    if _size(truth) == n_rows * _columns(truth, form):
        return classes_of(truth, form), []
    return None, [f"True labels of shape {truth.shape[1:]} per example do not match the outputs, so they are ignored."]


def _columns(truth: Array, form: OutputForm) -> int:
    """Numbers of the labels per row: several where labels are distributions over classes."""
    is_distribution = form.kind == "classes" and form.n_parts == 1 and truth.ndim > 1
    return form.n_columns if is_distribution and truth.shape[-1] == form.n_columns else 1


def _columns_of(
    files: Mapping[int, Stored],
    replicates: Sequence[int],
    orders: Sequence[npt.NDArray[np.intp] | None],
    form: OutputForm,
) -> dict[str, Array]:
    """Columns that the first run logged with the examples, if they have one number or string per example."""
    first = files[replicates[0]]
    columns = {}
    for name in first.names:
        if name not in {OUTPUTS, TRUTH, KEYS}:
            column = first.array(name)
            if column.shape[:1] == (first.n,) and _size(column) == first.n:
                columns[name] = np.repeat(reorder(column.reshape(-1), orders[0]), form.n_parts)
    return columns


def _rows_with_class(
    truth: Array | None, labels: npt.NDArray[np.integer[Any]] | None, form: OutputForm
) -> npt.NDArray[np.bool_] | None:
    """Rows whose true class has scores; None for all rows, or where no row has.

    In a set with class labels only, negative labels are excluded if no run ever predicts a negative number: -100 marks
    examples to ignore.
    """
    if truth is None or labels is None or truth.dtype.kind not in "iu":
        return None
    if form.kind == "classes":
        has_class = (truth >= 0) & (truth < form.n_columns)
    elif form.kind == "labels" and labels.min(initial=0) >= 0:
        has_class = truth >= 0
    else:
        return None
    return has_class if has_class.any() and not has_class.all() else None


def _counted_anew(
    labels: npt.NDArray[np.integer[Any]] | None, truth: Array | None, kind: OutputKind
) -> tuple[npt.NDArray[np.integer[Any]] | None, Array | None, list[str]]:
    """Renumber classes from 0 where the script uses other numbers."""
    if kind != "labels" or labels is None:
        return labels, truth, []
    everything = np.unique(labels)
    if truth is not None and truth.dtype.kind in "biu":
        everything = np.union1d(everything, truth)
    classes = recount(everything)
    if classes is None:
        return labels, truth, []
    listing = ", ".join(map(str, classes[:5])) + (" …" if len(classes) > 5 else "")
    anew = np.searchsorted(classes, labels)
    true = np.searchsorted(classes, truth) if truth is not None and truth.dtype.kind in "biu" else truth
    return anew, true, [f"Classes {listing} are numbered 0 … {len(classes) - 1}."]

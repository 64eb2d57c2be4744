"""Hashes the data of the first evaluation in TensorFlow and Keras; equal data gives equal hashes.

Arrays are read that are passed to `evaluate`, to `predict` after training, or to a model called for inference. For a
dataset, the arrays that it was created from are read, if each of their rows becomes one example. No dataset is
iterated.
"""

from __future__ import annotations

import sys
import weakref
from threading import get_ident

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...observers.hashing import INPUTS, LABELS, LOADER
from .proof import Proof

SAME_ROWS = frozenset((
    "CacheDataset", "_BatchDataset", "_MapDataset", "_OptionsDataset", "_PaddedBatchDataset", "_ParallelBatchDataset",
    "_ParallelMapDataset", "_PrefetchDataset", "_ShuffleDataset",
))  # fmt: skip
"""Datasets with the examples of the one that they are made of: in batches, in another order, or changed one by one."""
DEEPEST = 100


class Evaluation:
    """One phase of evaluation; the first one whose inputs are known to be examples is recorded."""

    def __init__(self, context: AdapterContext, proof: Proof) -> None:
        self.recorder = context.recorder
        self.proof = proof
        self.examples = proof.evaluations
        self.model: Any = lambda: None
        self.step: tuple[tuple[int, int], ...] = ()

    def whole(self, data: Any, targets: Any, *, is_labelled: bool) -> None:
        """Add all data of an evaluation at once: arrays, or a dataset.

        Args:
            is_labelled: whether the method compares outputs with true labels: nobody hands it what a model made.
        """
        self.examples.end()
        arrays = list(_arrays((data, targets)))
        evidence = LABELS if is_labelled else INPUTS
        if not arrays:
            arrays, evidence = list(_sources(data) or ()), LOADER
        if not self.examples.is_over and arrays:
            self._add(arrays)
            self.examples.end(evidence)

    def call(self, model: Any, value: Any) -> None:
        """A trained model is called for inference, not by another model."""
        running = self.recorder.running.get(get_ident(), [])
        step = tuple((loop.id, loop.step) for loop in running if loop.id in self.recorder.main_ids)
        if self.model() is not model or self.step != step:
            self.examples.end()
        if not self.examples.is_over and self.proof.is_trained(model):
            arrays = list(_arrays(value))[:1]
            if arrays:
                self.model, self.step = weakref.ref(model), step
                self._add(arrays)

    def _add(self, arrays: list[Any]) -> None:
        rows = arrays[0].shape[0]
        self.examples.add([(str(each.dtype), each.shape, _bytes(each)) for each in arrays if each.shape[0] == rows])


def _arrays(value: Any) -> Iterator[Any]:
    """NumPy arrays of the arrays, tensors and tables in a structure that have rows; graph tensors are skipped."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
    elif hasattr(value, "__array__") and hasattr(value, "shape") and not hasattr(value, "_input_dataset"):
        numpy = sys.modules["numpy"]
        try:
            array = numpy.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        except Exception:  # a graph tensor, or one on a device that its library does not copy from
            return
        if array.ndim:
            yield array


def _bytes(array: Any) -> Any:
    """The bytes of an array; for object arrays, such as strings, the bytes of their representations."""
    if array.dtype.hasobject:
        numpy = sys.modules["numpy"]
        return numpy.array([repr(item) for item in array.ravel()]).reshape(array.shape).tobytes()
    return array.tobytes()


def _sources(dataset: Any) -> list[Any] | None:
    """Arrays whose rows are the examples of a dataset; None if that is unknown without iterating."""
    splits: list[tuple[str, int]] = []
    for _ in range(DEEPEST):
        kind = type(dataset).__name__
        if kind == "_TensorSliceDataset":
            arrays = list(_arrays(list(dataset._tensors)))
            for name, count in reversed(splits):
                arrays = [array[:count] if name == "_TakeDataset" else array[count:] for array in arrays]
            return arrays
        if kind in ("_TakeDataset", "_SkipDataset"):
            splits.append((kind, int(dataset._count)))
            if splits[-1][1] < 0:
                return None
        elif kind not in SAME_ROWS:
            return None
        elif splits and kind in ("_ShuffleDataset", "_BatchDataset", "_ParallelBatchDataset", "_PaddedBatchDataset"):
            return None  # which rows are selected depends on the order or the batch size
        dataset = getattr(dataset, "_deviate_input", None) or getattr(dataset, "_input_dataset", None)
    return None

"""Finds the tensor with a row per example, the labels and the inputs in batches, arguments and outputs of PyTorch."""

from __future__ import annotations

import sys
from itertools import islice
from weakref import WeakKeyDictionary

from ...annotations import Any, Iterator
from ...observers.rows import LABELS, OUTPUTS
from .tensors import parts_of

places: WeakKeyDictionary[Any, int | None] = WeakKeyDictionary()
"""Of modules that put out several tensors, which of them has the scores of classes; None for the first one."""


class Kinds:
    """Distinguishes tensors from other objects."""

    def __init__(self, torch: Any) -> None:
        self.tensor = torch.Tensor
        self.strided = torch.strided
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.from_numpy = torch.from_numpy

    def tensors(self, value: Any) -> Iterator[Any]:
        """Tensors with rows in a value, in order."""
        return filter(self.has_rows, parts_of(value, lambda part: isinstance(part, self.tensor)))

    def output(self, value: Any, rows: Any, module: Any = None) -> Any:
        """The output tensor of a model with a row per example; None if there is none.

        It is the first one, unless another was selected for the module.
        """
        place = places.get(module) if module is not None else None
        if place is not None:
            return next(islice(self.tensors(value), place, None), None)
        has_names = not isinstance(value, (self.tensor, tuple, list))
        by_name = [self._part(value, name) for name in OUTPUTS] if has_names else []
        parts = [part for part in by_name if part is not None] or list(self.tensors(value))
        fit = [part for part in parts if part.shape[0] == rows]
        return next(iter(fit or parts), None)

    def choose(self, module: Any, value: Any, first: Any, truth: Any) -> Any:
        """Select the class scores from several unnamed tensors, once for each module.

        A model may return features and scores. Scores have a column for each class in the labels, and features have
        more columns than that. Of equal candidates, the first is selected.
        """
        if module in places or not isinstance(value, (tuple, list)) or truth is None or truth.dtype.is_floating_point:
            return first
        parts = list(self.tensors(value))
        if len(parts) < 2 or len(first.shape) != 2 or truth.numel() != len(first) or not len(first):
            return first
        most = max(1, int(truth.max()))
        fit = [
            (part.shape[1], place)
            for place, part in enumerate(parts)
            if len(part.shape) == 2 and len(part) == len(first) and part.shape[1] > most
        ]
        place = places[module] = min(fit)[1] if fit else None
        return first if place is None else parts[place]

    def labels(self, value: Any, output: Any, inputs: list[Any]) -> Any:
        """The labels in a batch, or in the arguments of a call: a tensor with a row for each row of the output.

        Args:
            inputs: what the model was given.
        """
        for name in LABELS:
            part = self._part(value, name)
            if part is not None and fits(part, output):
                return part
        if hasattr(value, "keys"):
            return None
        tensors = list(self.tensors(value))
        candidates = [part for part in tensors if not any(shares(part, tensor) for tensor in inputs)]
        if len(candidates) == len(tensors) > 1:  # moved to a device: what looks like an input is one, the last first
            for tensor in inputs:
                alike = [part for part in candidates if part.shape == tensor.shape]
                if alike and len(candidates) > 1:
                    candidates = [part for part in candidates if part is not alike[-1]]
        fit = [part for part in candidates if fits(part, output)]
        whole = [part for part in fit if not part.dtype.is_floating_point]
        return next(iter(whole or fit), None)

    def _part(self, value: Any, name: str) -> Any:
        try:
            part = value[name] if hasattr(value, "keys") else getattr(value, name, None)
        except Exception:  # a mapping without this key, or an object whose items are computed
            return None
        return part if self.has_rows(part) else None

    def tensor_of(self, value: Any) -> Any:
        """A tensor with rows, or of an array of NumPy that has them; None for all else."""
        numpy = sys.modules.get("numpy")
        if numpy is not None and type(value) is numpy.ndarray and value.dtype.kind in "fiub":
            value = self.from_numpy(value.copy())
        return value if self.has_rows(value) else None

    def has_rows(self, value: Any) -> bool:
        return type(value) in self.plain and len(value.shape) > 0


def fits(labels: Any, output: Any) -> bool:
    """Whether tensors may be the labels of an output, judged by shape: classes, one per position, or numbers."""
    if labels.shape[0] != output.shape[0]:
        return False
    label_shape, other = tuple(labels.shape[1:]), tuple(output.shape[1:])
    if not labels.dtype.is_floating_point:
        places = (other[1:], other[:-1], other)  # classes first, as in images, or last, as in sequences
        return label_shape in ((), (1,)) or label_shape in places
    return label_shape == other or {label_shape, other} == {(), (1,)}


def shares(one: Any, other: Any) -> bool:
    """Whether two tensors share memory."""
    return one is other or (one.device == other.device and memory(one) == memory(other))


def memory(tensor: Any) -> int:
    """A key for the memory of a tensor that exists; for a sparse tensor, the tensor itself.

    It is the storage and not the address, which the script may fill again for the next batch.
    """
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return id(tensor)

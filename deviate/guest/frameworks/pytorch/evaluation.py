"""Hashes the data of the first evaluation, which shows that runs were tested on the same examples.

An evaluation consists of forward passes without gradients, or in evaluation mode, of modules trained before; the next
training pass ends it. Its examples are the batches that a loader yielded for them, else the arguments of the module.
"""

from __future__ import annotations

import weakref
from collections import deque
from itertools import count

from ...annotations import Any
from ...observers.hashing import INPUTS, LOADER, Evaluations
from .tensors import buffer, kind, parts_of
from .trained import Trained

MOST_WAITING = 1 << 28
"""Bytes on accelerators that may wait for the end of the evaluation, so that no pass has to."""


class Evaluation:
    """One phase of evaluation; the first one whose inputs are known to be examples is recorded."""

    def __init__(self, torch: Any, trained: Trained, data: Evaluations) -> None:
        self.tensor = torch.Tensor
        self.trained = trained
        self.data = data
        # What loaders yielded since the last forward pass: some look one batch ahead, to know which is the last.
        self.batches: deque[tuple[int, Any]] = deque(maxlen=2)
        self.passes = count()
        self.strange: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._begin()

    def _begin(self) -> None:
        self.module: Any = None
        self.data.drop()
        self.waiting: list[tuple[int | None, list[Any]]] = []
        self.waiting_bytes = 0
        self.is_loaded = False
        self.is_unread = False

    def see_batch(self, iterator: Any, batch: Any) -> None:
        """A loader yielded a batch. Each iteration over a loader is a pass, even with the same iterator."""
        if iterator._num_yielded <= 1 or not hasattr(iterator, "_deviate_pass"):
            iterator._deviate_pass = next(self.passes)
        self.batches.append((iterator._deviate_pass, batch))

    def forward(self, module: Any, args: Any, kwargs: Any) -> None:
        """A forward pass that is not training."""
        if self.module is None:
            if not self._is_trained(module):
                return
            self.module = weakref.ref(module)
        elif self.module() is not module:
            return  # what is called after it may be given what it computed
        if self.batches:
            self.is_loaded = True
            for of_pass, batch in self._take_batches():
                self._take(batch, of_pass)
        elif not self.is_loaded:
            self._take((args, kwargs), None, most=1)

    def is_over_before_training(self) -> bool:
        """A training pass begins; returns whether an evaluation with known examples came before it."""
        is_new, is_over = bool(self._take_batches()), False
        if self.module is not None and self.is_loaded and not is_new:
            self._begin()  # the batch that was passed without gradients is one that trains
        elif self.module is not None:
            is_over = self.end()
        self.data.train()
        return is_over

    def end(self) -> bool:
        """End the evaluation; returns whether no other evaluation is to be waited for."""
        if self.is_unread:
            self.data.drop()
            self.data.close()
            return True
        for of_pass, arrays in self.waiting:
            self._add(arrays, of_pass)
        is_over = self.data.end(LOADER if self.is_loaded else INPUTS)
        self._begin()
        return is_over

    def _take_batches(self) -> list[tuple[int, Any]]:
        batches = list(self.batches)
        self.batches.clear()
        return batches

    def _is_trained(self, module: Any) -> bool:
        if self.strange.get(module) == self.trained.seen:
            return False
        is_trained = self.trained.has(module)
        if not is_trained:
            self.strange[module] = self.trained.seen
        return is_trained

    def _take(self, value: Any, of_pass: int | None, most: int | None = None) -> None:
        """Add arrays with one example per row."""
        arrays = [array for array in parts_of(value, self._is_array) if len(array.shape)][:most]
        if not arrays:
            self.is_unread = True
            return
        rows = arrays[0].shape[0]
        chosen = [array for array in arrays if array.shape[0] == rows]
        remote = [array for array in chosen if self._is_remote(array)]
        if not remote:
            self._add(chosen, of_pass)
            return
        self.waiting_bytes += sum(array.numel() * array.element_size() for array in remote)
        if self.waiting_bytes > MOST_WAITING:
            self.is_unread = True
            self.waiting.clear()
        if not self.is_unread:
            copies = [array.detach().clone() if self._is_remote(array) else array for array in chosen]
            self.waiting.append((of_pass, copies))

    def _add(self, arrays: list[Any], of_pass: int | None) -> None:
        self.data.add(
            [
                (kind(array), array.shape, buffer(array) if isinstance(array, self.tensor) else array.tobytes())
                for array in arrays
            ],
            of_pass,
        )

    def _is_array(self, value: Any) -> bool:
        return isinstance(value, self.tensor) or hasattr(value, "__array_interface__")

    def _is_remote(self, array: Any) -> bool:
        return isinstance(array, self.tensor) and array.device.type != "cpu"

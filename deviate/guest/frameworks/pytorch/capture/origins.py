"""Finds the origin of model inputs in PyTorch: the pass of the loader that yielded them, else a place in the script.

Loaders may be one batch ahead of the model, or serve several models; their batches may have been moved to a device.
"""

from __future__ import annotations

import weakref
from collections import deque
from sys import _getframe

from .... import names
from ....adapter_context import AdapterContext
from ....annotations import Any, Callable
from ....project import outwards
from ....seeds import wraps_like
from .batches import Kinds, memory
from .passes import Batch, Pass

TRACING = ("torch.jit", "torch.onnx", "torch.export", "torch._dynamo", "torch.fx")
"""Modules whose own calls of a model are no evaluation."""


class Origins:
    """Finds the batch that inputs of a model are, or were made from.

    Attributes:
        batches: the latest ones of loaders.
        arrays: passes of calls on arrays in this evaluation, by the place of the script.
    """

    def __init__(self, context: AdapterContext, kinds: Kinds) -> None:
        self.context = context
        self.project = context.project
        self.kinds = kinds
        self.batches: deque[Batch] = deque(maxlen=2)
        self.arrays: dict[Any, Pass] = {}

    # ------------------------------------------------------------ loaders

    def follow(self, dataloader: Any, guarded: Callable[..., None]) -> None:
        """Observe batches of loaders."""
        iterator = dataloader._BaseDataLoaderIter
        following = iterator.__next__

        def note_loader(iterator: Any, loader: Any) -> None:
            iterator._deviate_loader = weakref.ref(loader)

        def __next__(self_: Any) -> Any:  # noqa: N807
            try:
                batch = following(self_)
            except StopIteration:
                of_pass = getattr(self_, "_deviate_capture", None)
                if of_pass is not None:
                    of_pass.moves += 1
                    of_pass.is_over = True
                raise
            guarded("a batch", self._see_batch, self_, batch)
            return batch

        self.context.observe(dataloader.DataLoader, "_get_iterator", after=note_loader, where="a loader")
        iterator.__next__ = wraps_like(__next__, following)

    def _see_batch(self, iterator: Any, batch: Any) -> None:
        of_pass = getattr(iterator, "_deviate_capture", None)
        if of_pass is None or iterator._num_yielded <= 1:
            loader = getattr(iterator, "_deviate_loader", None)
            of_pass = iterator._deviate_capture = Pass(iterator._dataset, loader)
        of_pass.moves += 1
        if of_pass.is_training:  # almost all batches: they are only examined if something is evaluated meanwhile
            self.batches.clear()
            self.batches.append(Batch(of_pass, batch, []))
            return
        next_batch = Batch(of_pass, batch, list(self.kinds.tensors(batch)))
        if len(self.batches) == self.batches.maxlen:
            self.batches[0].forget()  # its calls may wait for the end of the evaluation, and need not keep it
        self.batches.append(next_batch)

    def is_training(self) -> bool:
        """Whether the latest batch of a loader is used for training."""
        return bool(self.batches) and self.batches[-1].of_pass.is_training

    def forget_training(self) -> None:
        """Discard data of training batches."""
        for batch in self.batches:
            if batch.of_pass.is_training and batch.memories:
                batch.forget()

    def batch(self, inputs: list[Any]) -> Batch | None:
        """The batch of a loader that contains the inputs; None if there is none."""
        for batch in self.batches:
            if batch.of_pass.is_training and not batch.memories:
                batch.trace(list(self.kinds.tensors(batch.value)))
                batch.forget()
        addresses = {memory(tensor) for tensor in inputs}
        for batch in reversed(self.batches):
            if batch.lies_at(addresses):
                return _mark_matched(batch)
        if not self.batches or not inputs:
            return None
        latest = self.batches[-1]
        of_pass = latest.of_pass
        if of_pass.is_over and not of_pass.is_ahead:
            return None
        if of_pass.is_training:
            alike = {held_memory.shape for held_memory in latest.memories}
            return latest if any(tuple(tensor.shape) in alike for tensor in inputs) else None
        pass_batches = [batch for batch in self.batches if batch.of_pass is of_pass]
        if of_pass.matched < 0:
            of_pass.is_ahead = len(pass_batches) > 1
        if of_pass.is_ahead and of_pass.matched != of_pass.moves:
            latest = next((batch for batch in pass_batches if not batch.is_taken), latest)
        elif of_pass.is_ahead:
            latest = next((batch for batch in reversed(pass_batches) if batch.is_taken), latest)
        if not any(one.shape[0] == other.shape[0] for one in inputs[:1] for other in latest.tensors):
            return None
        return _mark_matched(latest)

    # ------------------------------------------------------------ arrays

    def array(self, inputs: list[Any]) -> Batch | None:
        """Inputs made by the script: each call is its own batch, in the pass of its place in the script."""
        place: list[Any] = [names.of_argument(_getframe(1), self.project)]
        for frame in outwards(_getframe(1)):
            if str(frame.f_globals.get("__name__")).startswith(TRACING):
                return None
            file = self.project.place(frame.f_code)
            if file is not None:
                place.append((file, frame.f_lineno))
        key = tuple(place)
        of_pass = self.arrays.get(key)
        if of_pass is None:
            of_pass = self.arrays[key] = Pass(key)
            of_pass.first = weakref.ref(inputs[0]) if inputs else None
        return Batch(of_pass, None, inputs)


def _mark_matched(batch: Batch) -> Batch:
    batch.is_taken = True
    batch.of_pass.matched = batch.of_pass.moves
    return batch

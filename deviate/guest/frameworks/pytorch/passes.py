"""What evaluations in PyTorch consist of: passes through data, batches, calls and sets.

The origin of the inputs of a model is the pass of the loader that yielded them, else a place in the script.
"""

from __future__ import annotations

import weakref
from collections import deque
from itertools import count
from sys import _getframe

from ... import names
from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...observers.capture_sets import CaptureLoop
from ...project import outwards
from ...seeds import wraps_like
from .batches import Kinds, shares


class Pass:
    """One iteration over a loader, or the calls on arrays from one place of the script.

    Attributes:
        data: what it goes through; passes of the same data and model in one evaluation replace each other.
        is_fallback: whether it counts only in a script that knows no evaluation mode.
        moves: how often its iterator was asked.
        first: refers to the first input of calls on arrays.
    """

    def __init__(self, data: Any, loader: Any = None) -> None:
        self.data = data
        self.loader = loader
        self.first: Any = None
        self.name = ""
        self.is_training = False
        self.is_fallback = False
        self.moves = 0
        self.matched = -1
        self.is_ahead = False
        self.is_over = False

    def is_same(self, other: Pass) -> bool:
        """Whether both passes cover the same data."""
        first = None if self.first is None else self.first()
        return self.data is other.data or (first is not None and other.first is not None and first is other.first())


class Batch:
    """A batch of a loader, or the inputs of a model.

    Attributes:
        n_calls: how often each model was called with it, by the number of the model.
    """

    def __init__(self, of_pass: Pass, value: Any, tensors: list[Any]) -> None:
        self.of_pass = of_pass
        self.value = value
        self.tensors = tensors
        self.is_taken = False
        self.n_calls: dict[int, int] = {}

    def forget(self) -> None:
        """Discard the data of a batch that is no longer passed to a model."""
        self.tensors, self.value = [], None


class Call:
    """The latest outermost forward pass.

    Attributes:
        rows: the copy of the outputs that its loop has.
    """

    def __init__(self, loop: CaptureLoop, batch: Batch, number: int, output: Any, inputs: list[Any], rows: Any) -> None:
        self.loop = loop
        self.batch = batch
        self.number = number
        self.output = weakref.ref(output)
        self.inputs = [weakref.ref(tensor) for tensor in inputs]
        self.rows = rows

    def undo(self) -> None:
        """The next model is given these outputs, which are therefore no result."""
        self.loop.batches.pop()
        self.batch.n_calls[self.number] -= 1


_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_count = count()


def number_of(module: Any) -> int:
    """A number for each module that was called; an id goes to another one once its module is gone."""
    return _numbers.setdefault(module, next(_count))


def arguments_by_name(module: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by parameter name, as a model may receive the labels itself."""
    code = getattr(getattr(module.forward, "__func__", module.forward), "__code__", None)
    if code is None:
        return dict(kwargs)
    return {**dict(zip(code.co_varnames[1 : code.co_argcount], args)), **kwargs}


# ---------------------------------------------------------------- where inputs come from

# Loaders may be one batch ahead of the model, or serve several models; their batches may have been moved to a device.

TRACING = ("torch.jit", "torch.onnx", "torch.export", "torch._dynamo", "torch.fx")
"""Modules whose own calls of a model are no evaluation."""


class TensorOrigins:
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
        if of_pass.is_training:
            self.batches.clear()
        elif len(self.batches) == self.batches.maxlen:
            self.batches[0].forget()  # its calls may wait for the end of the evaluation, and need not keep it
        self.batches.append(Batch(of_pass, batch, list(self.kinds.tensors(batch))))

    def is_training(self) -> bool:
        """Whether the latest batch of a loader is used for training."""
        return bool(self.batches) and self.batches[-1].of_pass.is_training

    def batch(self, inputs: list[Any]) -> Batch | None:
        """The batch of a loader that contains the inputs; None if there is none."""
        for batch in reversed(self.batches):
            if any(shares(one, other) for one in batch.tensors for other in inputs):
                return _mark_matched(batch)
        if not self.batches or not inputs:
            return None
        latest = self.batches[-1]
        of_pass = latest.of_pass
        if of_pass.is_over and not of_pass.is_ahead:
            return None
        if of_pass.is_training:
            return latest if any(one.shape == other.shape for one in inputs for other in latest.tensors) else None
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

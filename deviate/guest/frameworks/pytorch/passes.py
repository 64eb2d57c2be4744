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
from ...observers.capture import example_keys
from ...project import outwards
from ...seeds import wraps_like
from .batches import Kinds, shares
from .tensors import buffer, kind

OUTPUTS, TRUTH, KEYS = "outputs", "truth", "keys"


class Pass:
    """One iteration over a loader, or the calls on arrays from one place of the script.

    Attributes:
        data: what it goes through; passes of the same data and model in one evaluation replace each other.
        moves: how often its iterator was asked.
        first: refers to the first input of calls on arrays.
    """

    def __init__(self, data: Any, loader: Any = None) -> None:
        self.data = data
        self.loader = loader
        self.first: Any = None
        self.name = ""
        self.is_training = False
        self.moves = 0
        self.matched = -1
        self.is_ahead = False
        self.is_over = False

    def is_same(self, other: Pass) -> bool:
        """Whether both passes cover the same data."""
        first = None if self.first is None else self.first()
        return self.data is other.data or (first is not None and other.first is not None and first is other.first())


class Batch:
    """A batch of a loader, or the inputs of a model; `calls` are the forward passes on it.

    Attributes:
        is_tried: whether an optimizer may still move for it, for gradients were on.
        is_fallback: whether it counts only in a script that knows no evaluation mode.
    """

    def __init__(self, of_pass: Pass, value: Any, tensors: list[Any]) -> None:
        self.of_pass = of_pass
        self.value = value
        self.tensors = tensors
        self.is_taken = False
        self.is_tried = False
        self.is_fallback = False
        self.calls: list[Call] = []

    def forget(self) -> None:
        """Discard the data of a batch that is no longer passed to a model."""
        self.tensors, self.value = [], None


class Call:
    """An outermost forward pass with its outputs.

    Attributes:
        arrays: the numbers of outputs, true labels and columns; the inputs, and their keys once it is settled.
        more: further outputs, by suffix.
    """

    def __init__(
        self, module: Any, output: Any, inputs: list[Any], arrays: dict[str, Any], more: dict[str, Any]
    ) -> None:
        self.module = _numbers.setdefault(module, next(_count))
        self.output = weakref.ref(output)
        self.inputs = [weakref.ref(tensor) for tensor in inputs]
        self.arrays = arrays
        self.more = more
        self.is_keyed = False

    def size(self) -> int:
        """Size in bytes."""
        return sum(size_of(value) for value in (*self.arrays.values(), *self.more.values()))

    def settle(self) -> None:
        """Copy pending tensors to the host, and replace the inputs by their keys."""
        for arrays in (self.arrays, self.more):
            arrays.update({name: to_host(value) for name, value in arrays.items()})
        if KEYS in self.arrays and not self.is_keyed:
            self.is_keyed = True
            self.arrays[KEYS] = example_keys(self.arrays[KEYS])


def to_host(value: Any) -> Any:
    """The numbers of a tensor on the host, copied from a device if necessary."""
    return value if type(value) is tuple else (kind(value), tuple(value.shape), bytes(buffer(value)))


def size_of(value: Any) -> int:
    """Size in bytes."""
    return len(value[2]) if type(value) is tuple else value.numel() * value.element_size()


_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_count = count()
"""A number for each module that was called; an id goes to another one once its module is gone."""


class Sets:
    """Names of the sets of one evaluation; a later pass over the same data replaces the earlier one."""

    def __init__(self, capture: Any) -> None:
        self.capture = capture
        self.users: dict[str, tuple[Pass, int]] = {}

    def pick_calls(self, batch: Batch) -> list[tuple[str, Call]]:
        """The first and the last call of each model on a batch, with the names of their sets."""
        groups: dict[int, list[Call]] = {}
        for call in batch.calls:
            groups.setdefault(call.module, []).append(call)
        sets = []
        for module, calls in groups.items():
            name = self._name(batch.of_pass, module)
            sets.append((name, calls[0]))
            if len(calls) > 1:
                sets.append((name + "_again", calls[-1]))
        return sets

    def _name(self, of_pass: Pass, module: int) -> str:
        """The name of a set, with a number if another set of the evaluation has the same name."""
        number, name, users = 1, of_pass.name, self.users
        while name in users and not (users[name][0].is_same(of_pass) and users[name][1] == module):
            number += 1
            name = "%s_%d" % (of_pass.name, number)
        if name not in users:
            users[name] = (of_pass, module)
        elif users[name][0] is not of_pass:
            users[name] = (of_pass, module)
            self.capture.again(name)
            self.capture.again(name + "_again")
        return name


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

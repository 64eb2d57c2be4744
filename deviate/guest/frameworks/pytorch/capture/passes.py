"""What evaluations in PyTorch consist of: passes through data, batches, calls and sets."""

from __future__ import annotations

import weakref
from itertools import count

from ....annotations import Any
from ....observers.capture import example_keys
from ..tensors import buffer, kind
from .batches import Memory

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
        self.trace(tensors)
        self.is_taken = False
        self.is_tried = False
        self.is_fallback = False
        self.calls: list[Call] = []

    def trace(self, tensors: list[Any]) -> None:
        """What identifies the batch later."""
        self.memories = [Memory(tensor) for tensor in tensors]

    def lies_at(self, addresses: set[int]) -> bool:
        """Whether one of its tensors is still at this memory address."""
        return any(memory.address in addresses and memory.is_held() for memory in self.memories)

    def forget(self) -> None:
        """Discard the data of a training batch, keeping only what identifies it."""
        self.tensors, self.value = [], None


class Call:
    """An outermost forward pass with its outputs, which are identified by their memory.

    Attributes:
        arrays: the numbers of outputs, true labels and columns; the inputs, and their keys once it is settled.
        more: further outputs, by suffix.
    """

    def __init__(
        self, module: Any, output: Any, inputs: list[Any], arrays: dict[str, Any], more: dict[str, Any]
    ) -> None:
        self.module = _numbers.setdefault(module, next(_count))
        self.kind = type(module)
        self.output = weakref.ref(output)
        self.memory = Memory(output)
        self.address, self.shape = output.data_ptr(), tuple(output.shape)
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

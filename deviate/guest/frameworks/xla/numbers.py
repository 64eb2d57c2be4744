"""Numbers of tensors on XLA devices, known as soon as the script reads them itself.

A copy on the device would be one more output of the graph of the step, and another graph than without deviate. So a tap
remembers which tensor was reported. Each new content of a tensor has an id of its own, which its aliases share.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict

from ... import values
from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like

DEVICE = "xla"
READERS = ("item", "tolist", "cpu", "__float__", "__int__", "__bool__")
"""Methods of tensors that copy numbers to the host and that compilers do not follow into."""
MOST_RECENT = 64
"""Numbers that are remembered, for a script that reads a tensor first and reports it then."""
MOST_AWAITED = 100000
"""Reported tensors whose numbers are waited for."""


class AwaitedNumber:
    """The number of one tensor, once it is known."""

    __slots__ = ("callbacks", "number", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = weakref.ref(tensor)
        self.number: Any = None
        self.callbacks: list[Callable[[Any], object]] = []

    def when_known(self, callback: Callable[[Any], object]) -> None:
        if self.number is None:
            self.callbacks.append(callback)
        else:
            callback(self.number)

    def set(self, number: Any) -> None:
        self.number = number
        for callback in self.callbacks:
            callback(number)
        self.callbacks.clear()


class ReadNumbers:
    """The numbers that the script has read, and those that are waited for."""

    def __init__(self, torch_xla: Any, context: AdapterContext) -> None:
        self.torch = torch_xla.core.xla_model.torch
        self.api = torch_xla._XLAC
        self.recorder = context.recorder
        self.recent: OrderedDict[int, Any] = OrderedDict()
        self.awaited: OrderedDict[int, AwaitedNumber] = OrderedDict()

    def patch(self) -> None:
        for name in READERS:
            self._patch_reader(name)
        self._patch_text()
        get_copies = self.api._xla_get_cpu_tensors

        def get_cpu_tensors(tensors: Any) -> Any:
            copies = get_copies(tensors)
            with self.recorder.guarded("numbers of copied tensors"):
                for tensor, copy in zip(tensors, copies):
                    self._note(tensor, copy)
            return copies

        self.api._xla_get_cpu_tensors = wraps_like(get_cpu_tensors, get_copies)
        values.keepers[DEVICE] = self.keep
        self.recorder.at_close.append(self.read_rest)

    def keep(self, tensor: Any) -> AwaitedNumber:
        """What the recorder keeps of a reported tensor."""
        key = self.api._xla_get_tensor_id(tensor)
        awaited = self.awaited.get(key)
        if awaited is None:
            awaited = AwaitedNumber(tensor)
            if key in self.recent:
                awaited.set(self.recent[key])
            else:
                self.awaited[key] = awaited
                if len(self.awaited) > MOST_AWAITED:
                    self.awaited.popitem(last=False)
        return awaited

    def read_rest(self) -> None:
        """At the end of the process, read the numbers of tensors that still exist and are computed."""
        self.recorder.settle()
        for key, awaited in list(self.awaited.items()):
            tensor = awaited.tensor()
            if tensor is not None and self.api._xla_get_tensor_id(tensor) == key:
                (is_pending,) = self.api._check_tensor_need_materialization([tensor])
                if not is_pending:
                    awaited.set(self.torch._C.TensorBase.item(tensor.detach()))
        self.awaited.clear()

    def _note(self, tensor: Any, copy: Any) -> None:
        """The script has copied a tensor to the host: the copy is a tensor, a number, or nested lists of one."""
        if tensor.device.type != DEVICE or tensor.numel() != 1:
            return
        while isinstance(copy, list):
            (copy,) = copy
        number = copy if isinstance(copy, (bool, int, float)) else self.torch._C.TensorBase.item(copy.detach())
        key = self.api._xla_get_tensor_id(tensor)
        self.recent[key] = number
        if len(self.recent) > MOST_RECENT:
            self.recent.popitem(last=False)
        awaited = self.awaited.pop(key, None)
        if awaited is not None:
            awaited.set(number)

    def _patch_reader(self, name: str) -> None:
        original = getattr(self.torch.Tensor, name)
        recorder, note = self.recorder, self._note

        def read(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            copy = original(tensor, *args, **kwargs)
            if tensor.is_xla:
                with recorder.guarded(name):
                    note(tensor, copy)
            return copy

        setattr(self.torch.Tensor, name, wraps_like(read, original))

    def _patch_text(self) -> None:
        """Note the numbers of tensors that are written as text, of which PyTorch makes a copy inside of a function."""
        writer = self.torch._tensor_str
        write, write_copy = writer._str_intern, writer._tensor_str
        written: list[Any] = []

        def write_tensor(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            written.append(tensor)
            try:
                return write(tensor, *args, **kwargs)
            finally:
                written.pop()

        def write_numbers(copy: Any, *args: Any, **kwargs: Any) -> Any:
            if written and written[-1].is_xla and not copy.is_xla:
                with self.recorder.guarded("text of a tensor"):
                    self._note(written[-1], copy)
            return write_copy(copy, *args, **kwargs)

        writer._str_intern = wraps_like(write_tensor, write)
        writer._tensor_str = wraps_like(write_numbers, write_copy)

"""Numbers of evaluations in PyTorch until the evaluation has ended, which may turn out to have been training."""

from __future__ import annotations

from ....npz import CODES
from ..tensors import buffer, kind

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

    from ....capture import Capture
    from .passes import Call

MOST_WAITING = 1 << 28
"""Bytes that may wait: copies on accelerators, so that no pass has to, and inputs, which may never need their keys."""


class Waiting:
    """What is kept of the calls of an evaluation that goes on.

    A test set may be larger than memory: of inputs that no longer wait only the keys are kept.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.begin()

    def begin(self) -> None:
        """Of the calls so far nothing is needed any more."""
        self.calls: list[Call] = []
        self.size = 0
        self.held = 0

    def add(self, call: Call) -> None:
        self.calls.append(call)
        self.held += call.size
        self.size += call.waiting()
        if self.size > MOST_WAITING:
            for each in self.calls:
                each.settle()
            self.calls = []
            self.size = 0

    def drop(self, call: Call) -> None:
        """A call is not needed."""
        self.calls = [each for each in self.calls if each is not call]
        self.held -= call.size

    def is_too_much(self) -> bool:
        """Whether this is more than the run may keep."""
        return self.held > self.capture.left


def taken(tensor: Any) -> Any:
    """The numbers of a tensor, as they are now: on the host at once, on a device in a copy that waits there."""
    tensor = tensor.detach()
    if kind(tensor) not in CODES:
        tensor = tensor.float()
    return tensor.clone() if tensor.device.type != "cpu" else settled(tensor)


def settled(value: Any) -> Any:
    """The same on the host."""
    return value if type(value) is tuple else (kind(value), tuple(value.shape), bytes(buffer(value)))


def size_of(value: Any) -> int:
    """Bytes."""
    return len(value[2]) if type(value) is tuple else value.numel() * value.element_size()

"""Batches in the trace of PyTorch: inputs of outermost forward passes and losses, with a checksum per row."""

from __future__ import annotations

import sys
import weakref

from ....annotations import Any, Callable
from ....observers.steps import Steps
from ..replaced import Replaced
from .tensors import Tensors

INPUT, TARGET = "input", "target"


class Batches:
    """Records inputs that were not computed: arguments of outermost forward passes, and data of loaders and losses.

    Args:
        is_traced: whether what happens now is the program's training.
        guarded: acts, so that the program sees nothing of it and of its errors.
    """

    def __init__(
        self,
        torch: Any,
        tensors: Tensors,
        steps: Steps,
        is_traced: Callable[[], bool],
        guarded: Callable[..., None],
    ) -> None:
        self.torch = torch
        self.tensors = tensors
        self.steps = steps
        self.is_traced = is_traced
        self.guarded = guarded
        self.replaced = Replaced()
        self.yielded: list[tuple[str, Any]] = []
        self.recorded: list[Any] = []

    # ------------------------------------------------------------ what is in place

    def see(self, is_wanted: bool) -> None:
        """Between two steps: start or stop observing loaders and losses."""
        if not is_wanted:
            self.replaced.take_out()
            return
        if not self.replaced.entries:
            self.replaced.add_losses(self.torch, self._loss)
            loader = sys.modules.get("torch.utils.data.dataloader")
            self.replaced.add(getattr(loader, "_BaseDataLoaderIter", None), "__next__", self._next)
        self.replaced.put_in()

    def _loss(self, original: Any) -> Any:
        def loss(*args: Any, **kwargs: Any) -> Any:
            if self.replaced.is_in_place and self.is_traced():
                self.guarded("a target", self._tell_target, args[1] if len(args) > 1 else kwargs.get("target"))
            return original(*args, **kwargs)

        return loss

    def _next(self, original: Any) -> Any:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            batch = original(iterator)
            if self.replaced.is_in_place and self.is_traced():
                self.guarded("a batch", self._remember, batch)
            return batch

        return __next__

    # ------------------------------------------------------------ records

    def _remember(self, batch: Any) -> None:
        """Remember a batch of a loader."""
        self.yielded = [(name, weakref.ref(tensor)) for name, tensor in self.tensors.named_tensors(batch, TARGET)]

    def _tell_target(self, target: Any) -> None:
        if self.tensors.readable(target):
            self._record(TARGET, target, -1)

    def record(self, args: Any, kwargs: Any, place: int) -> None:
        """An outermost forward pass begins."""
        for number, value in enumerate(args):
            for name, tensor in self.tensors.named_tensors(value, "%s[%d]" % (INPUT, number) if number else INPUT):
                self._record(name, tensor, place)
        for name, tensor in self.tensors.named_tensors(kwargs, INPUT):
            self._record(name, tensor, place)
        yielded, self.yielded = self.yielded, []
        targets = [(name, reference()) for name, reference in yielded]
        targets = [(name, tensor) for name, tensor in targets if tensor is not None and self._is_new(tensor)]
        for name, tensor in targets:
            self._record(TARGET if len(targets) == 1 else name, tensor, place)

    def _is_new(self, tensor: Any) -> bool:
        """Whether a tensor is new data: not computed, and not recorded in this step yet."""
        return tensor.grad_fn is None and all(reference() is not tensor for reference in self.recorded)

    def _record(self, name: str, tensor: Any, place: int) -> None:
        if self._is_new(tensor):
            self.recorded.append(weakref.ref(tensor))
            self.steps.batch([(name, tensor)], place)

    def forget(self) -> None:
        """A step has ended."""
        self.recorded = []

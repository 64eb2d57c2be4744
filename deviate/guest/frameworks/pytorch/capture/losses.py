"""Losses that a PyTorch script computes from captured outputs: their other argument is used as labels.

The C functions that `torch.nn.functional` calls are replaced when an output without labels was captured, and restored
when the evaluation ends, so that training steps, compilers and scripts with known labels are not affected. Replacing
the public functions would be too late: `F.mse_loss(model(x), y)` looks up the function before it calls the model.
"""

from __future__ import annotations

from math import prod

from ....annotations import Any, Callable
from ..replaced import Replaced
from .batches import Kinds, fits, shares
from .passes import Call


class Losses:
    """Finds the labels of the last output in losses that are computed from it.

    Args:
        at_labels: told an output's call and its labels.
        is_strange: whether something would see what is done to tensors now.
    """

    def __init__(
        self, torch: Any, kinds: Kinds, at_labels: Callable[[Call, Any], None], is_strange: Callable[[], bool]
    ):
        self.torch = torch
        self.kinds = kinds
        self.at_labels = at_labels
        self.is_strange = is_strange
        self.replaced = Replaced()
        self.call: Call | None = None

    def await_labels(self, call: Call, guarded: Callable[..., None], is_compiling: Callable[[], bool]) -> None:
        """Start waiting for the labels of an output."""
        self.call = call
        if not self.replaced.entries:

            def make(original: Any) -> Any:
                def loss(*args: Any, **kwargs: Any) -> Any:
                    if not is_compiling():
                        guarded("a loss", self._see, args, kwargs)
                    return original(*args, **kwargs)

                return loss

            self.replaced.add_losses(self.torch, make)
        self.replaced.put_in()

    def take_back(self) -> None:
        """The evaluation has ended."""
        self.call = None
        self.replaced.take_out()

    def _see(self, args: Any, kwargs: Any) -> None:
        call = self.call
        output = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if call is None or not self.kinds.has_rows(output) or not self.kinds.has_rows(target) or self.is_strange():
            return
        if output.data_ptr() != call.address or output.numel() != prod(call.shape) or not call.memory.is_held():
            return
        if any(source is not None and shares(source, target) for source in (reference() for reference in call.inputs)):
            return  # joined outputs have no labels of their own
        if output.shape[0] != call.shape[0]:  # one row per position, as for sequences
            if tuple(output.shape[1:]) != call.shape[-1:] or target.numel() != prod(call.shape[:-1]):
                return
            target, output = target.reshape(call.shape[:-1]), output.reshape(call.shape)
        if fits(target, output):
            self.call = None
            self.at_labels(call, target)

"""One bit of one weight, flipped before the first training step."""

from __future__ import annotations

import math

from ...annotations import Any
from ...observers.bits import Moment, places
from ...recorder import Recorder
from .trained import Trained

FRAMEWORK = "torch"
WORDS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
"""Whole numbers as wide as the floating-point numbers of so many bytes."""


class OneBit:
    """The flip to be made, once."""

    def __init__(self, torch: Any, seed: str, trained: Trained, moment: Moment, recorder: Recorder) -> None:
        self.torch = torch
        self.seed = seed
        self.trained = trained
        self.moment = moment
        self.recorder = recorder

    def is_done_before(self, module: Any) -> bool:
        """Flip the bit before a training forward pass, as soon as there are weights; returns whether it was flipped."""
        with self.recorder.guarded("one-bit"):
            return self.moment.is_due and self._flip(module)
        return False

    def _flip(self, module: Any) -> bool:
        names = {id(tensor): name for name, tensor in self.trained.tensors()}
        names.update((id(weight), name) for name, weight in module.named_parameters())
        optimized = [weight for _, weight in self.trained.optimized_weights()]
        candidates = {id(weight): weight for weight in (optimized or module.parameters()) if weight.requires_grad}
        if any(hasattr(weight, "materialize") for weight in candidates.values()):
            return False  # a lazy module has no shapes before its first pass
        weights = [weight for weight in candidates.values() if weight.is_floating_point()]
        for number, index in places(self.seed, [weight.shape for weight in weights]):
            # Through `data` the autograd graph is not affected, and the pass has not begun.
            element = weights[number].data[index]
            before = float(element.item())
            if math.isfinite(before):
                element.view(getattr(self.torch, WORDS[element.element_size()])).bitwise_xor_(1)
                after = float(element.item())
                name = names.get(id(weights[number]), "")
                self.recorder.event("flip", FRAMEWORK, name, list(index), before, after)
                return True
        return False

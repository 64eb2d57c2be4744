"""PyTorch: attends to the framework as soon as it is imported; the other files here do what is done to it."""

from __future__ import annotations

import sys

from ... import taps
from ...adapter_context import Guest
from ...seeds import dress
from ...write_guard import Guard

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("torch",)


def attach(module: Any, guest: Guest) -> None:
    # Loaded now and not with the guest: most processes import no PyTorch.
    from .controls import build_facts, hold_factors
    from .generators import route_generators
    from .loading import attend_loading
    from .proof import Proof
    from .regions import Forwards, attend_regions

    guest.recorder.event("environment", build_facts(module))
    taps.is_compiling = module.compiler.is_compiling if hasattr(module, "compiler") else taps.is_compiling
    _part_before(module, "save", guest.guard, position=1, keyword="f")
    _part_before(module.jit, "save", guest.guard, position=1, keyword="f")
    hold_factors(module, guest)
    route_generators(module, guest)
    proof = Proof(module, guest)
    proof.attend()
    forwards = Forwards(module, guest, proof)
    forwards.attend()
    if guest.trace.asked:
        from .trace.operations.dispatch import attend_operations
        from .trace.tracer import attend_trace

        tracer = attend_trace(module, guest, forwards, proof)
        attend_operations(module, guest, tracer.tensors, tracer.layers)
    predictions = None
    if guest.capture.wants_predictions or guest.capture.wants_weights:
        from .capture.predictions import attend_capture  # most runs keep nothing

        predictions = attend_capture(module, guest, proof, forwards)
    if guest.capture.augmentations:
        from .capture.tta import Augmented

        Augmented(module, guest).attend()
    if guest.streams.is_active:
        attend_regions(module, guest)
    if guest.capture.profile:
        from .profile import attend_profile

        attend_profile(module, guest)
    if "torch.utils.data" in sys.modules:
        attend_loading(sys.modules["torch.utils.data"], guest, forwards, proof)
        if predictions is not None:
            predictions.follow(sys.modules["torch.utils.data"].dataloader)


def _part_before(owner: Any, name: str, guard: Guard, position: int, keyword: str) -> None:
    """torch.save opens its file in C, unseen by audit hooks."""
    original = getattr(owner, name)

    def save(*args: Any, **kwargs: Any) -> Any:
        target: Any = args[position] if len(args) > position else kwargs.get(keyword)
        if isinstance(target, str) or hasattr(target, "__fspath__"):
            guard.before_writing(target, is_emptied=True)
        return original(*args, **kwargs)

    setattr(owner, name, dress(save, original))

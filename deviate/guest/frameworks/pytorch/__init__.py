"""PyTorch: installs the modules of this package when the framework is imported."""

from __future__ import annotations

import sys

from ... import taps
from ...adapter_context import AdapterContext
from ...annotations import Any
from ...write_guard import is_path

MODULES = ("torch",)


def install(module: Any, context: AdapterContext) -> None:
    # Loaded now and not with the guest: most processes import no PyTorch.
    from .controls import build_facts, hold_factors
    from .generators import route_generators
    from .proof import proof_of
    from .ranks import follow_groups
    from .regions import Forwards, patch_loading, patch_regions

    context.recorder.event("environment", build_facts(module))
    taps.is_compiling = module.compiler.is_compiling

    def save(*args: Any, **kwargs: Any) -> None:
        """Inform the write guard: PyTorch opens the file in C, which audit hooks do not see."""
        target: Any = args[1] if len(args) > 1 else kwargs.get("f")
        if is_path(target):
            context.guard.before_writing(target, is_emptied=True)

    context.observe(module, "save", before=save)
    context.observe(module.jit, "save", before=save)
    follow_groups(module, context)
    hold_factors(module, context)
    route_generators(module, context)
    proof = proof_of(context)
    proof.patch()
    forwards = Forwards(module, context, proof)
    forwards.patch()
    if context.trace.requested_level:
        from .trace.dispatch import install_operations
        from .trace.tracer import install_trace

        tracer = install_trace(module, context, forwards, proof)
        install_operations(module, context, tracer.tensors, tracer.layers)
    predictions = None
    if context.capture.wants_predictions or context.capture.wants_weights:
        from .predictions import install_capture  # most runs capture nothing

        predictions = install_capture(module, context, proof, forwards)
    if context.streams.is_active:
        patch_regions(module, context)
    if context.capture.profile:
        from .profile import install_profile

        install_profile(module, context)
    if "torch.utils.data" in sys.modules:
        patch_loading(sys.modules["torch.utils.data"], context, proof)
        if predictions is not None:
            predictions.origins.follow(sys.modules["torch.utils.data"].dataloader, predictions.run_guarded)

"""PyTorch/XLA: installs the modules of this package when the framework is imported."""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any

LOADERS = "torch_xla.distributed.parallel_loader"
MODULES = ("torch_xla", LOADERS)


def install(module: Any, context: AdapterContext) -> None:
    # Loaded now and not with the guest: few processes import PyTorch/XLA.
    if module.__name__ == LOADERS:
        from .loaders import route_loaders

        route_loaders(module, context)
        return
    from .generators import route_generators
    from .numbers import ReadNumbers

    route_generators(module, context)
    ReadNumbers(module, context).patch()

"""PyTorch/XLA: installs the modules of this package when the framework is imported."""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any

MODULES = ("torch_xla",)


def install(module: Any, context: AdapterContext) -> None:
    # Loaded now and not with the guest: few processes import PyTorch/XLA.
    from .generators import route_generators
    from .loaders import route_loaders
    from .numbers import ReadNumbers

    route_generators(module, context)
    route_loaders(module, context)
    ReadNumbers(module, context).patch()

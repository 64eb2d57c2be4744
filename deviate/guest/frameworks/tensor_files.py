"""Safetensors: reads and writes files in Rust, which audit hooks do not see."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable
from ..write_guard import is_path

MODULES = ("safetensors", "safetensors.torch", "safetensors.numpy", "safetensors.flax", "safetensors.tensorflow")


def install(module: Any, context: AdapterContext) -> None:
    """Inform the write guard of each file. `safe_open` is a class and stays, so files it opens are not seen."""
    if module.__name__ == "safetensors":
        _tell(module, "serialize_file", 1, context.guard.before_writing, context)
    else:
        _tell(module, "load_file", 0, context.guard.before_reading, context)


def _tell(module: Any, name: str, position: int, tell: Callable[[Any], None], context: AdapterContext) -> None:
    def call(*args: Any, **kwargs: Any) -> None:
        target: Any = args[position] if len(args) > position else kwargs.get("filename")
        if is_path(target):
            tell(target)

    context.observe(module, name, before=call)

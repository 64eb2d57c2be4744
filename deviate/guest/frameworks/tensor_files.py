"""Safetensors: reads and writes its files in Rust, unseen by audit hooks."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable
from ..seeds import wraps_like

MODULES = ("safetensors", "safetensors.torch", "safetensors.numpy", "safetensors.flax", "safetensors.tensorflow")


def install(module: Any, context: AdapterContext) -> None:
    """Tell the guard of each file. `safe_open` stays the class that it is, so that what it opens is not seen."""
    if module.__name__ == "safetensors":
        _tell(module, "serialize_file", 1, context.guard.before_writing)
    else:
        _tell(module, "load_file", 0, context.guard.before_reading)


def _tell(module: Any, name: str, position: int, listener: Callable[[Any], None]) -> None:
    original = getattr(module, name, None)
    if original is None:
        return

    def call_and_tell(*args: Any, **kwargs: Any) -> Any:
        target = args[position] if len(args) > position else kwargs.get("filename")
        if isinstance(target, (str, bytes)) or hasattr(target, "__fspath__"):
            listener(target)
        return original(*args, **kwargs)

    setattr(module, name, wraps_like(call_and_tell, original))

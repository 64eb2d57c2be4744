"""Files that libraries open in C or Rust, which audit hooks do not see.

HDF5: h5py, and Keras through it. Safetensors: `safetensors` for each framework.
"""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable
from ..write_guard import is_path

HDF5 = "h5py"
SAFETENSORS = (
    "safetensors", "safetensors.torch", "safetensors.numpy", "safetensors.flax", "safetensors.tensorflow",
)  # fmt: skip
MODULES = (HDF5, *SAFETENSORS)
EMPTYING = ("w", "w-", "x")


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == HDF5:
        _install_hdf5(module, context)
    else:
        _install_safetensors(module, context)


def _install_hdf5(module: Any, context: AdapterContext) -> None:
    """Inform the write guard of each file before it is opened, for reading where there is no mode."""

    def open_file(self: Any, name: Any, mode: Any = None, *args: Any, **kwargs: Any) -> None:
        if is_path(name):
            if mode in (None, "r"):
                context.guard.before_reading(name)
            else:
                context.guard.before_writing(name, is_emptied=mode in EMPTYING)

    context.observe(module.File, "__init__", before=open_file)


def _install_safetensors(module: Any, context: AdapterContext) -> None:
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

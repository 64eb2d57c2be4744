"""HDF5: h5py, and Keras through it, opens files in C, which audit hooks do not see."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..write_guard import is_path

MODULES = ("h5py",)
EMPTYING = ("w", "w-", "x")


def install(module: Any, context: AdapterContext) -> None:
    """Inform the write guard of each file before it is opened.

    Source: h5py, File Objects, Opening & creating files; without a mode, h5py 2 opens for appending.
    """
    default = "a" if str(module.__version__).startswith("2.") else "r"

    def open_file(self: Any, name: Any, mode: Any = None, *args: Any, **kwargs: Any) -> None:
        if is_path(name):
            mode = mode or default
            if mode == "r":
                context.guard.before_reading(name)
            else:
                context.guard.before_writing(name, is_emptied=mode in EMPTYING)

    context.observe(module.File, "__init__", before=open_file)

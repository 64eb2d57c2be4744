"""HDF5: h5py opens its files in C, unseen by audit hooks; so does Keras, which saves weights with it."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..seeds import wraps_like

MODULES = ("h5py",)
EMPTYING = ("w", "w-", "x")


def install(module: Any, context: AdapterContext) -> None:
    """Tell the guard of each file before it is opened.

    Source: h5py, File Objects, Opening & creating files; without a mode, h5py 2 opens for appending.
    """
    original = module.File.__init__
    default = "a" if str(module.__version__).startswith("2.") else "r"

    def patched_init(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(name, (str, bytes)) or hasattr(name, "__fspath__"):
            mode = (args[0] if args else kwargs.get("mode")) or default
            if mode == "r":
                context.guard.before_reading(name)
            else:
                context.guard.before_writing(name, is_emptied=mode in EMPTYING)
        original(self, name, *args, **kwargs)

    module.File.__init__ = wraps_like(patched_init, original)

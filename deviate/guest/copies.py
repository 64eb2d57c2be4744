"""Files of plug-ins that are copied with the guest: sinks and adapters, each in the folder `plugins`.

They import from `deviate.sinks` and `deviate.guest`, as they do where deviate is installed. In the user's process
neither exists: these imports are redirected to modules of the guest, and `sys.modules` does not contain the names.
"""

from __future__ import annotations

import builtins
import os
import sys
from types import ModuleType

from ..sinks.registry import COPIES
from .annotations import Any

ROOT = COPIES.rpartition(".")[0]
HERE = {"deviate.sinks": ROOT + ".sinks", "deviate.guest": __package__}
"""What the parts of deviate that travel are called here."""


def load_copy(name: str) -> ModuleType:
    """Import the copy of a plug-in's module under its original name.

    Raises:
        OSError: there is no copy.
    """
    module = sys.modules.get(COPIES + "." + name)
    if module is None:
        path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plugins", name + ".py")
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        module = type(sys)(COPIES + "." + name)
        module.__file__ = path
        module.__dict__["__builtins__"] = dict(vars(builtins), __import__=_import)
        sys.modules[module.__name__] = module
        try:
            exec(code, module.__dict__)  # noqa: S102  (a file of the snapshot)
        except BaseException:
            del sys.modules[module.__name__]
            raise
    return module


def _import(name: str, *arguments: Any) -> Any:
    """`__import__` for such copies; no other module of the process sees it."""
    for part, replacement in HERE.items():
        if name == part or name.startswith(part + "."):
            name = replacement + name[len(part) :]
    return builtins.__import__(name, *arguments)

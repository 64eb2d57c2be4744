"""Files of other packages that travel with the guest: a sink or an adapter each, copied into the folder `plugins`.

They import from `deviate.sinks` and `deviate.guest`, as they do where deviate is installed. In the user's process
neither is there: what they get is the guest's own, and `sys.modules` never shows it under those names.
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
    """Import the copy of another package's module, by the name that it has there.

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
    """`__import__` of a copy: no other module of the process sees it."""
    for part, replacement in HERE.items():
        if name == part or name.startswith(part + "."):
            name = replacement + name[len(part) :]
    return builtins.__import__(name, *arguments)

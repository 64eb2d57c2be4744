"""Lazy packages (PEP 562): a name is imported from its module on first access."""

import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(r"^    from ([\w.]+) import \(?\s*(\w+) as \2\b", re.MULTILINE)
"""A line of the block `if TYPE_CHECKING` of an `__init__`."""


class LazyPackage(ModuleType):
    """A package whose public names are imported on first access.

    A function may have the name of its module, as `deviate.stats.compare` has. Python binds a submodule in its package
    when it is imported; here the function is bound instead, whichever code imported the submodule. This requires a
    class instead of a function `__getattr__`; it also lets mypy check the names, which it would not with such a
    function.

    Threads may access a name concurrently: each import only waits for the lock of its module, and no module is locked
    while the rest of its package is imported.
    """

    __homes__: Mapping[str, str]

    def __getattr__(self, name: str) -> object:
        home = self.__homes__.get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        home = self.__dict__.get("__homes__", {}).get(name)
        if home is not None and isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            if value.__name__ != home:
                return  # a package of that name, as `deviate.stats.design`; the function is elsewhere, and loads on use
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__homes__})


def load_on_first_use(package: str) -> None:
    """Make a package import its public names on first access.

    The names are those of the block `if TYPE_CHECKING` in its `__init__`, a line `from MODULE import NAME as NAME`
    each: what mypy and editors read is what Python loads. Reading the lines takes a fraction of a millisecond.

    Args:
        package: `__name__` of the package, called from its `__init__`.
    """
    module = sys.modules[package]
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    homes = {name: home for home, name in BLOCK.findall(text)}
    module.__dict__["__homes__"] = homes
    module.__dict__["__all__"] = sorted(homes)
    module.__class__ = LazyPackage

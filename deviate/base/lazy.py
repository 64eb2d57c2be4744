"""Packages that load on first use (PEP 562): a name is imported from its module when somebody asks for it."""

import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

BLOCK = re.compile(r"^    from ([\w.]+) import \(?\s*(\w+) as \2\b", re.MULTILINE)
"""A line of the block `if TYPE_CHECKING` of an `__init__`."""


class LazyPackage(ModuleType):
    """A package whose public names are imported with their first use.

    A function may have the name of the module that holds it, as `deviate.stats.compare` has. Python binds a submodule
    in its package once the submodule is imported; here the function takes that place, whoever imported the submodule.
    This is why the package has a class of its own rather than a function `__getattr__`; and mypy, which would accept
    any name of a package with such a function, goes on to check the names.

    Threads may use a name at the same time: each import waits for the lock of the module alone, and no module is held
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
    """Make a package import its public names when they are first used.

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

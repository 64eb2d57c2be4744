"""Post-import hooks: an adapter is handed its framework when the script has imported it, never before.

The hook runs inside the import, before the importer reads an attribute, so `from numpy.random import seed` gets what
the adapter put there.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

from .adapter_context import AdapterContext
from .annotations import TYPE_CHECKING, Any, Sequence
from .frameworks import PACKAGES

OWN = "deviate"
"""What a script imports to log something itself; it need not be installed where the script runs."""

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class Finder:
    """First on `sys.meta_path`; finds nothing itself, but sees the watched modules being loaded."""

    def __init__(self, context: AdapterContext) -> None:
        self.adapters: dict[str, list[ModuleType]] = {}
        """Adapters by the module that each waits for: several may wait for one."""
        self.packages = {package: list(adapters) for package, adapters in PACKAGES.items()}
        for package, modules in context.project.adapters.items():
            self.packages.setdefault(package, []).extend(modules)
        self.context = context
        self.busy: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package = name.partition(".")[0]
        if package in self.packages:
            self.take_up(package)
        if name not in self.adapters or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = _other_finders(self, name, path, target)
        finally:
            self.busy.discard(name)
        if spec is None and name == OWN:
            from importlib.util import spec_from_file_location

            spec = spec_from_file_location(name, os.path.join(os.path.dirname(os.path.dirname(__file__)), "logs.py"))
        loader = getattr(spec, "loader", None)
        if loader is not None and hasattr(loader, "exec_module") and not isinstance(loader, type):
            self._patch(loader, name)
        return spec

    def take_up(self, package: str) -> None:
        """Import the adapters of a package, which wait for modules of it from now on."""
        for name in self.packages.pop(package):
            with self.context.recorder.guarded("adapter %s" % name):
                self.expect(_load(name))

    def expect(self, adapter: ModuleType) -> None:
        """Hand the adapter its modules once they are imported. A second call with it changes nothing."""
        for name in adapter.MODULES:
            waiting = self.adapters.setdefault(name, [])
            if adapter not in waiting:
                waiting.append(adapter)

    def _patch(self, loader: Any, name: str) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            for adapter in self.adapters[name]:
                prepare(adapter, module, self.context)
            load(module)
            if module.__name__ == name:  # some finders share one loader among modules
                for adapter in self.adapters[name]:
                    install(adapter, module, self.context)

        try:
            loader.exec_module = exec_module
        except AttributeError:  # a loader that takes no attributes: the framework stays unattended
            pass


def _load(name: str) -> Any:
    """An adapter of the folder beside this file, or that of another package, which lies in `plugins`."""
    folder, _, module = name.partition("plugins.")
    if folder or not module:
        return import_part("%s.frameworks.%s" % (__package__, name))
    from .copies import load_copy

    return load_copy(module)


def _other_finders(
    caller: Finder, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is not caller and hasattr(finder, "find_spec"):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
    return None


def prepare(adapter: ModuleType, module: ModuleType, context: AdapterContext) -> None:
    """Let an adapter that asks for it, by a function `prepare`, act before its module is executed."""
    with context.recorder.guarded("adapter of %s" % module.__name__):
        if hasattr(adapter, "prepare"):
            adapter.prepare(module, context)


def install(adapter: ModuleType, module: ModuleType, context: AdapterContext) -> None:
    """Let an adapter act on its module; a fault in it is recorded, and the import goes on."""
    with context.recorder.guarded("adapter of %s" % module.__name__):
        adapter.install(module, context)


def import_part(name: str) -> Any:
    """Import a part of the guest and keep its bytecode, whatever the user wants for his own: it lies in our folder."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before and sys.pycache_prefix is not None
    try:
        return import_module(name)
    finally:
        sys.dont_write_bytecode = before


def watch(adapter: ModuleType, context: AdapterContext) -> None:
    """Attach this adapter and those of `PACKAGES`: now to what is loaded already, to the rest as it gets imported."""
    finder = Finder(context)
    finder.expect(adapter)
    for package in [package for package in finder.packages if package in sys.modules]:
        finder.take_up(package)
    for name, adapters in list(finder.adapters.items()):
        for waiting in adapters if name in sys.modules else ():
            install(waiting, sys.modules[name], context)
    sys.meta_path.insert(0, finder)

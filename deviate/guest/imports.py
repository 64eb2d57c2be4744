"""Post-import hooks: an adapter receives its framework when the script has imported it, never before.

The hook runs inside the import, before the importing code reads an attribute, so `from numpy.random import seed` gets
the patched function.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

from .adapter_context import AdapterContext
from .annotations import TYPE_CHECKING, Any, Sequence
from .frameworks import INPUTS, PACKAGES

OWN = "deviate"
"""What a script imports to log something itself; it need not be installed where the script runs."""

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class Finder:
    """First finder on `sys.meta_path`; it finds nothing itself, but observes when watched modules are loaded."""

    def __init__(self, context: AdapterContext) -> None:
        self.adapters: dict[str, list[ModuleType]] = {}
        """Adapters by the module that each waits for: several may wait for one."""
        self.packages = {package: list(adapters) for package, adapters in PACKAGES.items()}
        if context.watches_inputs:
            for package, adapters in INPUTS.items():  # before all others, which may wrap what these put in place
                self.packages[package] = [*adapters, *self.packages.get(package, ())]
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
        """Load the adapters of a package, which from now on wait for its modules."""
        for name in self.packages.pop(package):
            with self.context.recorder.guarded("adapter %s" % name):
                self.expect(_load(name))

    def expect(self, adapter: ModuleType) -> None:
        """Call the adapter when its modules are imported. Repeated calls have no effect."""
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
        except AttributeError:  # a loader without writable attributes: the framework is not patched
            pass


def _load(name: str) -> Any:
    """Load an adapter from the folder beside this file, or that of a plug-in from `plugins`."""
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
    """Call the adapter's function `prepare`, if it has one, before its module is executed."""
    with context.recorder.guarded("adapter of %s" % module.__name__):
        if hasattr(adapter, "prepare"):
            adapter.prepare(module, context)


def install(adapter: ModuleType, module: ModuleType, context: AdapterContext) -> None:
    """Install an adapter in its module; an error is recorded, and the import continues."""
    with context.recorder.guarded("adapter of %s" % module.__name__):
        adapter.install(module, context)


def import_part(name: str) -> Any:
    """Import a module of the guest and write its bytecode, regardless of the user's settings: the folder is private."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before and sys.pycache_prefix is not None
    try:
        return import_module(name)
    finally:
        sys.dont_write_bytecode = before


def watch(adapter: ModuleType, context: AdapterContext) -> None:
    """Watch for this adapter and those of `PACKAGES`: loaded modules are patched now, others when they are imported."""
    finder = Finder(context)
    finder.expect(adapter)
    for package in [package for package in finder.packages if package in sys.modules]:
        finder.take_up(package)
    for name, adapters in list(finder.adapters.items()):
        for waiting in adapters if name in sys.modules else ():
            install(waiting, sys.modules[name], context)
    sys.meta_path.insert(0, finder)

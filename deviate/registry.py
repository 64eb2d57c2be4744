"""One registry: whatever deviate can be extended by has a name, and is imported when somebody asks for that name.

A `Registry` is a mapping from names to the extensions of one kind. Those of the tree lie in one folder, each registered
by a decorator in a file of its own; those of other packages are declared as entry points of a group such as
`deviate.executors`, and register themselves by the same decorator. Sinks and framework adapters travel into the user's
process and cannot import this file: they register in `deviate.sinks` and by the guest's table, and only what other
packages add to them is found here.
"""

import ast
import functools
import importlib
import pkgutil
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from deviate.errors import PluginWarning, ToolError

T = TypeVar("T")
SINKS, ADAPTERS = "deviate.sinks", "deviate.adapters"
"""Groups of entry points whose files travel into the user's process."""
WINGS = {"diverge": "deviate.diverge", "stability": "deviate.stability"}
"""Rooms that few users open. The core knows them by these names alone."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of another package.

    Attributes:
        group: such as `deviate.sinks`. module: what it names, without an attribute.
        package, version: of the distribution that declares it.
    """

    group: str
    name: str
    module: str
    package: str
    version: str


class Registry(Mapping[str, T]):
    """The extensions of one kind by name; to list them, or to ask for an unknown one, imports all of them.

    Args:
        folder: the package whose modules register those of the tree. A module of the name that is asked for, with `_`
            for `-`, is tried before the others are imported.
        group: of entry points of other packages; empty where there are none.
        order: names that lists begin with; the others follow by the alphabet.
    """

    def __init__(self, folder: str, group: str = "", *, order: Sequence[str] = ()) -> None:
        self._folder, self._group, self._order = folder, group, tuple(order)
        self._entries: dict[str, T] = {}
        self._is_tree_loaded = False

    def add(self, name: str, entry: T) -> None:
        """Register an extension under its name; called by the decorator of its kind.

        Raises:
            ToolError: another extension has the name.
        """
        if name in self._entries:
            raise ToolError(f"{name!r} is registered twice in {self._folder}", "rename one of them")
        self._entries[name] = entry

    def in_tree(self) -> Mapping[str, T]:
        """The extensions that deviate brings along, and those of other packages that were loaded before."""
        if not self._is_tree_loaded:
            package = importlib.import_module(self._folder)
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                importlib.import_module(module.name)
            self._is_tree_loaded = True
        places = {name: index for index, name in enumerate(self._order)}
        names = sorted(self._entries, key=lambda name: (places.get(name, len(places)), name.replace("-", "_")))
        return {name: self._entries[name] for name in names}

    def __getitem__(self, name: str) -> T:
        if name not in self._entries and name.replace("-", "_").isidentifier():
            module = f"{self._folder}.{name.replace('-', '_')}"
            if find_spec(module) is not None:
                importlib.import_module(module)
        if name not in self._entries:
            self.in_tree()
        if name not in self._entries and self._group:
            load_plugins(self._group)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self.in_tree()
        if self._group:
            load_plugins(self._group)
        return iter(self.in_tree())

    def __len__(self) -> int:
        return len(list(iter(self)))


def wing(name: str) -> Any:
    """The door of a wing, by a name of `WINGS`."""
    return importlib.import_module(WINGS[name])


@functools.cache
def plugins(group: str) -> tuple[Plugin, ...]:
    """The entry points of a group that installed packages declare, by name; nothing of them is imported."""
    if not _are_any_declared():
        return ()
    from importlib.metadata import entry_points

    declared = [
        Plugin(group, point.name, point.module, point.dist.name, point.dist.version)
        for point in entry_points(group=group)
        if point.dist is not None
    ]
    return tuple(sorted(declared, key=lambda plugin: (plugin.name, plugin.module)))


@functools.cache
def load_plugins(group: str) -> tuple[ModuleType, ...]:
    """Import what the entry points of a group name; one that cannot be imported is named in a warning and left out."""
    modules = []
    for plugin in travelling(group) if group == SINKS else plugins(group):
        try:
            modules.append(importlib.import_module(plugin.module))
        except Exception as error:  # noqa: BLE001  (whatever it raises, the others work)
            warn_of(plugin, error)
    return tuple(modules)


@functools.cache
def travelling(group: str) -> Mapping[Plugin, Path]:
    """The files of those plug-ins of a group that can be copied into a snapshot, none of them imported.

    What another interpreter is to import must be one file that needs the standard library and deviate alone; a plug-in
    that is not so is named in a warning and left out.
    """
    files = {}
    for plugin in plugins(group):
        try:
            files[plugin] = _single_file(plugin.module)
        except Exception as error:  # noqa: BLE001  (to find a module imports the packages that it lies in)
            warn_of(plugin, error)
    return files


def warn_of(plugin: Plugin, error: Exception) -> None:
    """Name a plug-in that cannot be used."""
    warnings.warn(
        f"{plugin.group}: {plugin.name} of {plugin.package} {plugin.version} is left out: "
        f"{type(error).__name__}: {error}",
        PluginWarning,
        stacklevel=2,
    )


def _are_any_declared() -> bool:
    """Whether any package declares an entry point of ours.

    Most users have none, and `importlib.metadata` takes as long to import as a short script takes to be analysed. What
    this does not see, packages in archives and of finders other than that of folders, is no plug-in.
    """
    for folder in sys.path:
        for path in Path(folder).glob("*-info/entry_points.txt"):
            try:
                if b"[deviate." in path.read_bytes():
                    return True
            except OSError:
                continue
    return False


def _single_file(module: str) -> Path:
    """The file of a module. Raises ImportError where it needs more than the standard library and deviate."""
    spec = find_spec(module)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise ImportError(f"{module} is no file of Python")
    path = Path(spec.origin)
    for statement in ast.parse(path.read_bytes()).body:
        names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
        if isinstance(statement, ast.ImportFrom):
            names = ["." * statement.level + (statement.module or "")]
        for name in names:
            package, *inner = name.split(".")
            travels = package == "deviate" and inner[:1] in (["sinks"], ["guest"])
            if package not in sys.stdlib_module_names and not travels:
                raise ImportError(f"{path.name} imports {name}, which the processes of runs may lack")
    return path

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

from deviate.errors import DeviateError, PluginWarning, ToolError

T = TypeVar("T")
SINKS, ADAPTERS = "deviate.sinks", "deviate.adapters"
"""Groups of entry points whose files travel into the user's process."""
PREFIX = "deviate."
"""Of our groups of entry points, and of our own modules."""


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


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """What importing a plug-in led to.

    Attributes:
        names: what it registers in the registry of its group; empty for sinks and adapters, which have none.
        error: why it cannot be used.
    """

    module: ModuleType | None = None
    names: tuple[str, ...] = ()
    error: BaseException | None = None


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
        self._origins: dict[str, str] = {}
        self._is_tree_loaded = False
        if group:
            REGISTRIES[group] = self

    def add(self, name: str, entry: T, origin: str = "") -> None:
        """Register an extension under its name; called by the decorator of its kind.

        Args:
            origin: the module that registers it. Those of the tree come first, so that no other takes their names.

        Raises:
            ToolError: another extension has the name.
        """
        if origin and not origin.startswith(PREFIX):
            self.in_tree()
        if name in self._entries:
            first = self._origins[name] or self._folder
            raise ToolError(f"the name {name!r} is taken by {first}", f"choose another name in {origin or 'the other'}")
        self._entries[name] = entry
        self._origins[name] = origin

    def added_by_others(self) -> Mapping[str, str]:
        """The extensions of other packages that were loaded before: name to the module that registered it."""
        return {name: origin for name, origin in self._origins.items() if origin and not origin.startswith(PREFIX)}

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


REGISTRIES: dict[str, Registry[Any]] = {}
"""By group; each is there once the module that has it is imported."""


def wing(name: str) -> Any:
    """A module of a room above the one that asks, such as a wing, which few users open: `stability.judge`."""
    return importlib.import_module(f"{PREFIX}{name}")


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


def plugin_groups() -> tuple[str, ...]:
    """The groups of entry points that installed packages declare for deviate, misspelled ones included."""
    if not _are_any_declared():
        return ()
    from importlib.metadata import entry_points

    return tuple(sorted(group for group in entry_points().groups if group.startswith(PREFIX)))


@functools.cache
def load_plugins(group: str) -> tuple[ModuleType, ...]:
    """Import what the entry points of a group name; one that cannot be imported is named in a warning and left out."""
    modules = []
    for plugin in travelling(group) if group == SINKS else plugins(group):
        outcome = load_plugin(plugin)
        if outcome.module is None:
            warn_of(plugin, outcome.error)
        else:
            modules.append(outcome.module)
    return tuple(modules)


@functools.cache
def load_plugin(plugin: Plugin) -> LoadedPlugin:
    """Import one plug-in; whatever its module raises is caught."""
    before = _added_by_others(plugin.group)
    try:
        module = importlib.import_module(plugin.module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever it raises, the others work)
        return LoadedPlugin(error=error)
    now = _added_by_others(plugin.group).items()
    return LoadedPlugin(module, tuple(name for name, origin in now if name not in before or origin == plugin.module))


@functools.cache
def travelling(group: str) -> Mapping[Plugin, Path]:
    """The files of those plug-ins of a group that can be copied into a snapshot, none of them imported.

    One that cannot be copied is named in a warning and left out.
    """
    files = {}
    for plugin in plugins(group):
        try:
            files[plugin] = travelling_file(plugin)
        except Exception as error:  # noqa: BLE001  (to find a module imports the packages that it lies in)
            warn_of(plugin, error)
    return files


def travelling_file(plugin: Plugin) -> Path:
    """The file of a plug-in that travels.

    Raises:
        ToolError: it is no single file that needs only the standard library and the parts of deviate that travel.
        Exception: whatever the packages raise that the module lies in.
    """
    spec = find_spec(plugin.module)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise ToolError(f"{plugin.module} is no Python file", f"install {plugin.package} again")
    path = Path(spec.origin)
    for statement in ast.parse(path.read_bytes()).body:
        names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
        if isinstance(statement, ast.ImportFrom):
            names = ["." * statement.level + (statement.module or "")]
        for name in names:
            package, *inner = name.split(".")
            travels = package == "deviate" and inner[:1] in (["sinks"], ["guest"])
            if package not in sys.stdlib_module_names and not travels:
                raise ToolError(
                    f"{path.name} imports {name}, which the processes of runs may lack",
                    "import only the standard library, deviate.sinks and deviate.guest at the top of the file",
                )
    return path


def adapted_modules(path: Path) -> tuple[str, ...]:
    """The modules that the adapter in a file waits for.

    Raises:
        ToolError: it does not say so, or has no function to call then.
    """
    body = ast.parse(path.read_bytes()).body
    assigned: dict[str, ast.expr | None] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            assigned.update({ast.unparse(target): statement.value for target in statement.targets})
        elif isinstance(statement, ast.AnnAssign):
            assigned[ast.unparse(statement.target)] = statement.value
    try:
        modules = tuple(ast.literal_eval(assigned.get("MODULES") or "()"))
    except (ValueError, TypeError):
        modules = ()
    if not modules or not all(isinstance(name, str) for name in modules):
        raise ToolError(f"{path.name} has no MODULES", 'write the names of modules: MODULES = ("labnet",)')
    if not any(isinstance(statement, ast.FunctionDef) and statement.name == "install" for statement in body):
        raise ToolError(f"{path.name} has no function install", "define install(module, context)")
    return modules


def _added_by_others(group: str) -> Mapping[str, str]:
    """What the registry of a group holds of other packages; empty before the module that has it is imported."""
    return REGISTRIES[group].added_by_others() if group in REGISTRIES else {}


def warn_of(plugin: Plugin, error: BaseException | None) -> None:
    """Name a plug-in that cannot be used."""
    warnings.warn(
        f"{plugin.group}: {plugin.name} of {plugin.package} {plugin.version} is left out: {error_text(error)} "
        "(see deviate plugins)",
        PluginWarning,
        stacklevel=2,
    )


def error_text(error: BaseException | None) -> str:
    """The message of an error; of one that is not ours with its type."""
    return error.message if isinstance(error, DeviateError) else f"{type(error).__name__}: {error}"


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

"""Sinks and framework adapters of plug-ins: their files are copied into the snapshot, like the guest."""

import ast
import shutil
from pathlib import Path

from deviate.registry import ADAPTERS, SINKS, Plugin, travelling, warn_of


def travelling_plugins() -> tuple[Plugin, ...]:
    """All sinks and adapters, since only a run shows which of them it needs."""
    return (*travelling(SINKS), *travelling(ADAPTERS))


def copy_plugins(folder: Path) -> dict[str, list[str]]:
    """Copy the files into the folder, which is created if there are any.

    Returns: package to the adapters that wait for modules of it, as the guest's table has them.
    """
    adapters: dict[str, list[str]] = {}
    for plugin in travelling_plugins():
        path = travelling(plugin.group)[plugin]
        folder.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / f"{plugin.module}.py")
        for package in _packages(plugin, path) if plugin.group == ADAPTERS else ():
            adapters.setdefault(package, []).append(f"plugins.{plugin.module}")
    return adapters


def _packages(plugin: Plugin, path: Path) -> list[str]:
    """Packages of the modules that an adapter waits for; a file without that information causes a warning."""
    try:
        values = [
            ast.literal_eval(statement.value)
            for statement in ast.parse(path.read_bytes()).body
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "MODULES"
        ]
        return list(dict.fromkeys(name.partition(".")[0] for name in values[0]))
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        warn_of(plugin, ValueError(f"{path.name} has no MODULES, a tuple of names of modules: {error}"))
        return []

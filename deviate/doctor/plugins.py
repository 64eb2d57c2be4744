"""Plug-ins: what installed packages add to deviate, what of it cannot be used, and what to do then."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deviate.errors import DeviateError
from deviate.registry import (
    ADAPTERS,
    SINKS,
    Plugin,
    adapted_modules,
    error_text,
    load_plugin,
    plugin_groups,
    plugins,
    travelling_file,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of extension that other packages may add.

    Attributes:
        noun: as tables and messages have it. register: how its module registers one.
    """

    noun: str
    register: str


KINDS = {
    SINKS: Kind("sink", "decorate a generator function with deviate.sinks.sink"),
    ADAPTERS: Kind("adapter", "write MODULES and a function install"),
    "deviate.importers": Kind("importer", "decorate a function with deviate.records.importers.importer"),
    "deviate.executors": Kind("executor", "decorate a function or class with deviate.replay.protocol.executor"),
    "deviate.statistics": Kind("statistic", "decorate a function with deviate.stats.statistic"),
    "deviate.forms": Kind("form", "decorate a function with deviate.report.forms.registry.document_form"),
}
"""By group of entry points, in the order of the manual."""
TRAVELLING = frozenset({SINKS, ADAPTERS})


@dataclass(frozen=True, slots=True)
class PluginState:
    """An entry point of another package, and whether it can be used.

    Attributes:
        kind: a noun of `KINDS`; empty where there is no such group.
        adds: names that it adds; of an adapter, the modules that it waits for.
        travels: whether its file is copied into the runs.
        problem: why it is left out; empty if it can be used. remedy: what to do about that.
    """

    plugin: Plugin
    kind: str = ""
    adds: tuple[str, ...] = ()
    travels: bool = False
    problem: str = ""
    remedy: str = ""


def inspect_plugins() -> tuple[PluginState, ...]:
    """Every entry point that installed packages declare for deviate, each imported as a verb would import it."""
    places = {group: place for place, group in enumerate(KINDS)}
    groups = sorted(plugin_groups(), key=lambda group: (places.get(group, len(places)), group))
    return tuple(_inspect(plugin) for group in groups for plugin in plugins(group))


def _inspect(plugin: Plugin) -> PluginState:
    kind = KINDS.get(plugin.group)
    if kind is None:
        return PluginState(plugin, problem=f"there is no group {plugin.group}", remedy=f"use one of {', '.join(KINDS)}")
    travels = plugin.group in TRAVELLING
    names, error = _load(plugin)
    if error is not None:
        return PluginState(plugin, kind.noun, (), travels, error_text(error), _remedy(plugin, error))
    if not names:
        return PluginState(plugin, kind.noun, (), travels, f"{plugin.module} registers no {kind.noun}", kind.register)
    return PluginState(plugin, kind.noun, tuple(names), travels)


def _load(plugin: Plugin) -> tuple[Sequence[str], BaseException | None]:
    """The names that a plug-in adds, or the error that keeps it out."""
    try:
        path = travelling_file(plugin) if plugin.group in TRAVELLING else None
        if plugin.group == ADAPTERS and path is not None:
            return adapted_modules(path), None
    except Exception as error:  # noqa: BLE001  (to find a module imports the packages that it lies in)
        return (), error
    outcome = load_plugin(plugin)
    if outcome.error is None and plugin.group == SINKS:
        from deviate.analysis.metrics.reports import sink_names  # libcst, which the other kinds do not need

        return sink_names(plugin.module), None
    return outcome.names, outcome.error


def _remedy(plugin: Plugin, error: BaseException) -> str:
    if isinstance(error, DeviateError) and error.hint:
        return error.hint
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None:
        return f"see where with: {sys.executable} -c 'import {plugin.module}'"
    if missing in _packages(plugin.module):
        return f"install {plugin.package} again, or correct the entry point {plugin.name} = {plugin.module!r}"
    return f"install {missing} in the environment of deviate, {sys.prefix}"


def _packages(module: str) -> Iterator[str]:
    """A module, and the packages that it lies in."""
    while module:
        yield module
        module = module.rpartition(".")[0]

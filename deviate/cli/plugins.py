"""`deviate plugins`: what other packages add."""

import sys
from typing import Any

from deviate.cli.app import Form, command, print_document
from deviate.cli.options.groups import in_output
from deviate.doctor.plugins import PluginState, inspect_plugins
from deviate.report.document import Block, Document, Remark, listing, paragraph


@command("plugins", epilog="Example: deviate plugins --format json")
def plugins_command(
    form: Form = in_output(None, "Output format.", "--format", default=Form.table),
) -> None:
    """List what other packages add to deviate, and what of it cannot be used, with the reason.

    Packages are searched in the environment of deviate. A plug-in that cannot be used is left out by every verb.
    """
    states = inspect_plugins()
    usable = [state for state in states if not state.problem]
    broken = [state for state in states if state.problem]
    parts: list[list[Block]] = []
    if usable:
        parts.append([listing(("kind", "adds", "package", "module", "loaded"), map(_row, usable))])
    if broken:
        parts.append(["Left out", *map(_left_out, broken)])
    if not states:
        here = f"No plug-ins are installed in {sys.prefix}, the environment of deviate."
        parts.append([here, "The repository of deviate has a template for one: examples/plugin"])
    sections = tuple(paragraph(*blocks) for blocks in parts)
    print_document(Document(sections=sections, data=lambda: list(map(_entry, states))), form)


def _row(state: PluginState) -> tuple[str, ...]:
    plugin = state.plugin
    where = "in runs" if state.kind == "adapter" else "in deviate and in runs" if state.travels else "in deviate"
    return state.kind, ", ".join(state.adds), f"{plugin.package} {plugin.version}", plugin.module, where


def _left_out(state: PluginState) -> Remark:
    """Which plug-in is left out, why, and what to do."""
    plugin = state.plugin
    head = f"{state.kind or plugin.group} {plugin.name} of {plugin.package} {plugin.version} ({plugin.module})"
    return Remark(head, "", (state.problem, state.remedy))


def _entry(state: PluginState) -> dict[str, Any]:
    plugin = state.plugin
    return {
        "group": plugin.group,
        "name": plugin.name,
        "package": plugin.package,
        "version": plugin.version,
        "module": plugin.module,
        "adds": list(state.adds),
        "travels": state.travels,
        "problem": state.problem,
        "remedy": state.remedy,
    }

"""`deviate plugins`: what other packages add."""

import sys
from typing import Any

import typer

from deviate.cli.app import Form, as_json, command
from deviate.cli.options.groups import in_output
from deviate.doctor.plugins import PluginState, inspect_plugins
from deviate.report.format import clean
from deviate.report.lines import align_columns


@command("plugins", epilog="Example: deviate plugins --format json")
def plugins_command(
    form: Form = in_output(None, "Output format.", "--format", default=Form.table),
) -> None:
    """List what other packages add to deviate, and what of it cannot be used, with the reason.

    Packages are searched in the environment of deviate. A plug-in that cannot be used is left out by every verb.
    """
    states = inspect_plugins()
    if form is Form.json:
        typer.echo(as_json([_entry(state) for state in states]))
        return
    usable = [state for state in states if not state.problem]
    if usable:
        typer.echo(align_columns([("kind", "adds", "package", "module", "loaded"), *map(_row, usable)]))
    elif not states:
        typer.echo(f"No plug-ins are installed in {sys.prefix}, the environment of deviate.")
        typer.echo("The repository of deviate has a template for one: examples/plugin")
    broken = [state for state in states if state.problem]
    if broken:
        typer.echo("\nLeft out" if usable else "Left out")
    for state in broken:
        typer.echo(_paragraph(state))


def _row(state: PluginState) -> tuple[str, ...]:
    plugin = state.plugin
    where = "in runs" if state.kind == "adapter" else "in deviate and in runs" if state.travels else "in deviate"
    return state.kind, ", ".join(state.adds), f"{plugin.package} {plugin.version}", plugin.module, where


def _paragraph(state: PluginState) -> str:
    """Which plug-in is left out, why, and what to do."""
    plugin = state.plugin
    head = f"{state.kind or plugin.group} {plugin.name} of {plugin.package} {plugin.version} ({plugin.module})"
    return "\n".join((f"  {clean(head)}", f"    {clean(state.problem)}", f"    {clean(state.remedy)}"))


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

"""`deviate analyze`: what would be recorded, and why."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import Form, as_json, command, named_folder, nearest, width
from deviate.cli.options.groups import in_output
from deviate.project.entry_scripts import entries_document, refuse_folder, render_entries
from deviate.project.prepare import AnalyzedScript, analyze_target, apply_config, find_target, save_analysis
from deviate.replay.gpus import on_this_machine
from deviate.report.format import clean
from deviate.report.parts.analysis_text import render_analysis


@command(
    "analyze",
    epilog="Example: deviate analyze train.py --save",
)
def analyze_command(
    command: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT", help="Training script or notebook, a folder, or -- and a whole command."),
    ],
    form: Form = in_output(None, "Output format.", "--format", default=Form.table),
    save: bool = in_output(None, "Write or update deviate.toml.", default=False),
    everything: bool = in_output(None, "Show rejected values and all hazards, with reasons.", "--all", default=False),
    explain: bool = in_output(None, "Show all evidence for each metric.", "--explain", "-v", default=False),
    edit: bool = in_output(None, "Edit deviate.toml as --save would write it ($VISUAL, $EDITOR).", default=False),
) -> None:
    """Show what would be recorded of a script, and why, without running it.

    For a folder, show its likely training scripts.
    """
    from deviate.analysis.document import to_document

    cwd = Path.cwd().resolve()
    folder = named_folder(command, cwd)
    if folder is not None:
        from deviate.analysis.entries import rank_scripts

        entries = rank_scripts(folder)
        if save or edit:
            raise refuse_folder(entries, cwd, f"analyze {'--save' if save else '--edit'}")
        document = entries_document(entries)
        as_text = form is Form.table
        typer.echo(
            render_entries(entries, cwd, width(), is_whole=everything) if as_text else as_json(document),
            nl=not as_text,
        )
        return
    target = find_target(command, cwd)
    if edit:
        from deviate.project.edit import edit_config

        _say_saved(edit_config(target), "", is_aside=False)
        return
    script = analyze_target(target)
    summary = ""
    if save:
        script, saved = save_analysis(script)
        summary = f" ({saved})" if str(saved) else ""
    prepared = apply_config(script)
    if form is Form.json:
        typer.echo(as_json(to_document(prepared.analysis, prepared.selection)))
    else:
        analysis = prepared.analysis if everything else on_this_machine(prepared.analysis)
        text = render_analysis(analysis, prepared.selection, width(), is_explained=explain, is_whole=everything)
        typer.echo(text)
    for note in prepared.notes:
        typer.echo(f"Note       {clean(note)}", err=form is Form.json)
    if save:
        _say_saved(script, summary, is_aside=form is Form.json)


def _say_saved(script: AnalyzedScript, summary: str, *, is_aside: bool) -> None:
    typer.echo(f"Saved      {nearest(script.config_path)}{summary}", err=is_aside)
    typer.echo(f"Next       deviate run {shlex.quote(script.analysis.script)}", err=is_aside)

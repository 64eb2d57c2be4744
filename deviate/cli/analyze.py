"""`deviate analyze`: what would be recorded, and why."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import Form, command, named_folder, nearest, print_document
from deviate.cli.entries import entries_document, refuse_folder
from deviate.cli.options.groups import in_output
from deviate.project.prepare import AnalyzedScript, analyze_target, apply_config, find_target, save_analysis
from deviate.replay.gpus import on_this_machine
from deviate.report.document import Document, Fact, Facts, fact, paragraph
from deviate.report.parts.analysis_text import analysis_document


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
        print_document(entries_document(entries, cwd, is_whole=everything), form)
        return
    target = find_target(command, cwd)
    if edit:
        from deviate.project.edit import edit_config

        print_document(Document(sections=(paragraph(Facts(tuple(_saved(edit_config(target), "")))),)))
        return
    script = analyze_target(target)
    summary = ""
    if save:
        script, saved = save_analysis(script)
        summary = f" ({saved})" if str(saved) else ""
    prepared = apply_config(script)
    analysis = prepared.analysis if everything or form is Form.json else on_this_machine(prepared.analysis)
    further = [fact("Note", note) for note in prepared.notes]
    further += _saved(script, summary) if save else []
    document = analysis_document(
        analysis,
        prepared.selection,
        is_explained=explain,
        is_whole=everything,
        rest=further,
        data=lambda: to_document(analysis, prepared.selection),
    )
    print_document(document, form)
    if form is Form.json and further:
        print_document(Document(sections=(paragraph(Facts(tuple(further))),)), file=sys.stderr)


def _saved(script: AnalyzedScript, summary: str) -> list[Fact]:
    command = f"deviate run {shlex.quote(script.analysis.script)}"
    return [fact("Saved", f"{nearest(script.config_path)}{summary}"), fact("Next", command, is_code=True)]

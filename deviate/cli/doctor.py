"""`deviate doctor`: what can be controlled on this machine."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import Form, as_json, command, complete_experiments, is_coloured, width
from deviate.doctor.examine import TIMEOUT_S, examine, to_document
from deviate.errors import InputError
from deviate.project.command import default_python
from deviate.report.parts.doctor_text import render_diagnosis


@command(
    "doctor",
    epilog="Example: deviate doctor --python .venv/bin/python",
)
def doctor_command(
    python: Annotated[str | None, typer.Option(help="Interpreter of the script. Default: python on PATH.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for each framework.")] = TIMEOUT_S,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.table,
    report: Annotated[
        bool, typer.Option("--report", help="Print Markdown for an issue on a defect, without secrets and names.")
    ] = False,
    experiment: Annotated[
        str | None,
        typer.Option(
            autocompletion=complete_experiments, help="With --report: also the plan and a failed run of an experiment."
        ),
    ] = None,
) -> None:
    """Show the frameworks of the interpreter, and what can be controlled in them on this machine.

    Frameworks are imported in separate processes, and their switches are tried; nothing is changed. Their answers are
    kept in the user's cache until the environment changes.
    """
    if experiment is not None and not report:
        raise InputError("--experiment is for --report", f"add it: deviate doctor --report --experiment {experiment}")
    if report:
        _print_report(python, timeout, experiment)
        return
    diagnosis = examine(python or default_python(), timeout_s=timeout, on_change=_show_examined)
    if form is Form.json:
        typer.echo(as_json(to_document(diagnosis)))
    else:
        typer.echo(render_diagnosis(diagnosis, width(), is_coloured=is_coloured()), nl=False)


def _print_report(python: str | None, timeout_s: float, experiment: str | None) -> None:
    from deviate.cli.defect_report import defect_report  # and records, which a diagnosis does without
    from deviate.cli.defects import latest_defect

    try:
        cwd = Path.cwd()
    except OSError:  # a folder that is gone may be the very defect
        cwd = Path("/")
    text = defect_report(
        python,
        cwd,
        timeout_s=timeout_s,
        defect=lambda: latest_defect() or "none",
        experiment=experiment,
        on_change=_show_examined,
    )
    typer.echo(text, nl=False)


def _show_examined(names: Sequence[str], n_left: int) -> None:
    """A status line on a terminal, removed at the end."""
    if sys.stderr.isatty():
        line = f"Looking at {', '.join(names)} ({n_left} to go)"[: width() - 1] if names else ""
        typer.echo(f"\r\x1b[K{line}", nl=False, err=True)

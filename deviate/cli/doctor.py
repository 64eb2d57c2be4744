"""`deviate doctor`: what can be controlled on this machine."""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from deviate.cli.app import Form, command, complete_experiments, print_document, width
from deviate.cli.options.groups import in_command, in_machine, in_output
from deviate.doctor.examine import TIMEOUT_S, examine, to_document
from deviate.errors import InputError
from deviate.project.command import default_python
from deviate.report.parts.doctor_text import diagnosis_document


@command(
    "doctor",
    epilog="Example: deviate doctor --python .venv/bin/python",
)
def doctor_command(
    python: str | None = in_command(None, "Interpreter of the script. Default: python on PATH."),
    timeout: float = in_machine(None, "Seconds to wait for each framework.", min=1, default=TIMEOUT_S),
    form: Form = in_output(None, "Output format.", "--format", default=Form.table),
    report: bool = in_output(
        None, "Print Markdown for an issue on a defect, without secrets and names.", default=False
    ),
    experiment: str | None = in_output(
        None, "With --report: also the plan and a failed run of an experiment.", autocompletion=complete_experiments
    ),
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
    print_document(diagnosis_document(diagnosis, lambda: to_document(diagnosis)), form)


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

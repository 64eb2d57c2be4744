"""`deviate show`: one experiment, variant or run in full, also while it runs."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import Form, command, complete_experiments, print_document
from deviate.cli.options.groups import in_output, in_runs
from deviate.cli.options.results import CONFIDENCE
from deviate.cli.show_experiment import describe_experiment, experiment_document
from deviate.cli.show_run import find_runs, run_document
from deviate.errors import InputError
from deviate.records.layout import log_files, records_folder
from deviate.replay.states import RunState, attempt_states, run_states

PIECE_BYTES = 1 << 20
FOLLOW_S = 0.25
"""How often a log that is followed is looked at."""


@command("show", epilog="Example: deviate show train --run 3 --log")
def show_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", autocompletion=complete_experiments, help="An experiment by name, or NAME:VARIANT."
        ),
    ],
    run: str | None = in_runs(None, "One run: number of the replicate, or start of its id."),
    log: bool = in_output(None, "Print the standard output of the run.", default=False),
    stderr: bool = in_output(None, "Print the standard error of the run.", default=False),
    follow: bool = in_output(None, "With --log or --stderr: print until the run has ended.", default=False),
    confidence: float = CONFIDENCE,
    form: Form = in_output(None, "Output format.", "--format", default=Form.table),
) -> None:
    """Show an experiment, a variant or a run in full.

    It only reads records, so it can be called from another shell or machine while runs go on.
    """
    from deviate.records.plans import find_experiment, read_plan

    plain, _, variant = name.partition(":")
    folder = find_experiment(records_folder(Path.cwd().resolve()), plain)
    variants = [variant.name for variant in read_plan(folder).variants]
    if variant and variant not in variants:
        raise InputError(f"experiment {plain} has no variant {variant!r}", f"it has: {', '.join(variants)}")
    if run is None:
        if log or stderr or follow:
            raise InputError("a log is that of one run", f"name it: deviate show {name} --run 0 --log")
        print_document(experiment_document(describe_experiment(folder, variant, confidence=confidence)), form)
        return
    states = [state for state in run_states(folder, read_plan(folder)) if variant in {"", state.variant}]
    matches = find_runs(states, run, name)
    if log or stderr or follow:
        if log and stderr:
            raise InputError("--log and --stderr are two streams", "ask for one of them")
        _print_log(_only(matches, plain), is_stderr=stderr, follows=follow)
    else:
        print_document(run_document(folder, matches), form)


def _only(matches: tuple[RunState, ...], name: str) -> Path:
    """The attempt of the single selected run."""
    if len(matches) > 1:
        choices = ", ".join(f"{name}:{state.variant}" for state in matches)
        raise InputError(f"{len(matches)} variants have that replicate", f"name one of them: {choices}")
    if matches[0].folder is None:
        raise InputError(f"replicate {matches[0].replicate} has not begun", "it has no output yet")
    return matches[0].folder


def _print_log(attempt: Path, *, is_stderr: bool, follows: bool) -> None:
    """Copy a log to standard output unchanged; a closed pipe, as of `head`, ends it."""
    try:
        for piece in _pieces(attempt, log_files(attempt)[is_stderr], follows=follows):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again at exit


def _pieces(attempt: Path, path: Path, *, follows: bool) -> Iterator[bytes]:
    at = 0
    while True:
        has_ended = not follows or not any(
            state.is_held for state in attempt_states(attempt.parent) if state.folder == attempt
        )  # checked first, as everything written until then is printed below
        if path.exists():
            with path.open("rb") as file:
                file.seek(at)
                while piece := file.read(PIECE_BYTES):
                    at += len(piece)
                    yield piece
        if has_ended:
            return
        time.sleep(FOLLOW_S)

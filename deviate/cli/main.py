"""The entry point: deviate's errors become one message and an exit code."""

import errno
import os
import signal
import sys
import textwrap
import warnings
from collections.abc import Sequence

import typer

from deviate.cli.app import DONE, FAILED, INTERRUPTED, WRONG_USAGE, app
from deviate.errors import DeviateError, PluginWarning

PYTHONS_OWN = warnings.formatwarning


def main() -> None:
    """Entry point: errors of ours become one message and an exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup, a closed terminal should be ignored
            signal.signal(number, signal.default_int_handler)
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: Sequence[str]) -> int:
    arguments = arguments or ["--help"]
    warnings.formatwarning = _format_warning
    try:
        code = app(args=list(arguments), prog_name="deviate", standalone_mode=False)
    except DeviateError as error:
        typer.echo(f"Error: {error.message}", err=True)
        if error.hint:
            typer.echo(textwrap.indent(error.hint, "  "), err=True)
        return FAILED
    except typer.TyperException as error:
        typer.echo(f"Error: {error.format_message()}", err=True)
        takes_script = arguments[:1] in (["run"], ["analyze"], ["overhead"], ["diverge"])
        if takes_script and "No such option" in error.format_message():
            typer.echo("  Arguments of the script itself go after --: deviate run train.py -- --epochs 5", err=True)
        else:
            verb = "" if "No such command" in error.format_message() else " ".join(arguments[:1])
            typer.echo(f"  See: {' '.join(filter(None, ('deviate', verb, '--help')))}", err=True)
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EPIPE} or error.filename is not None:
            raise
        return _without_output(error)
    if code == INTERRUPTED:  # typer makes this code of an interruption by itself
        is_run = arguments[:1] in (["run"], ["resume"], ["worker"], ["check"], ["overhead"])
        done = "What ran is on record; the same command goes on from there." if is_run else "Nothing was written."
        if arguments[:1] == ["diverge"]:
            done = "What ran is on record: see deviate list."
        typer.echo(f"Interrupted. {done}", err=True)
    return code if isinstance(code, int) else DONE


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Deviate's warnings are for the user; others include their place in the code."""
    is_ours = issubclass(category, PluginWarning)
    return f"Warning: {message}\n" if is_ours else PYTHONS_OWN(message, category, filename, lineno, line)


def _without_output(error: OSError) -> int:
    """Exit when standard output is full or closed; Python would report it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return DONE
    typer.echo(f"Error: writing to standard output: {error.strerror}", err=True)
    return FAILED

"""The application `deviate`: its entry point, output formats, and what else all commands share."""

import enum
import errno
import importlib
import os
import shutil
import signal
import sys
import textwrap
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from deviate import __version__
from deviate.cli.options.coercion import QuickCommand
from deviate.errors import DeviateError, InUseError, PluginWarning

if TYPE_CHECKING:  # with the plots of reports
    from deviate.report.document import Document

Function = TypeVar("Function", bound=Callable[..., None])
DONE, FAILED, WRONG_USAGE, SOME_RUNS_FAILED, IN_USE, INTERRUPTED = 0, 1, 2, 3, 75, 130
"""Exit codes; 75 is EX_TEMPFAIL of sysexits.h: try again later."""


class Form(enum.StrEnum):
    """Output format."""

    table = "table"
    json = "json"


class Verb(NamedTuple):
    """Module and one-line help of a command, which is all that `deviate --help` needs."""

    module: str
    short_help: str


VERBS = {
    "analyze": Verb("deviate.cli.analyze", "Show what would be recorded of a script, and why."),
    "run": Verb("deviate.cli.run", "Run a script N times, and report the spread."),
    "resume": Verb("deviate.cli.resume", "Run what is missing of an experiment."),
    "worker": Verb("deviate.cli.worker", "Execute one planned run, for any scheduler."),
    "compare": Verb("deviate.cli.compare", "Is the candidate better than the baseline?"),
    "check": Verb("deviate.cli.check", "Pass or fail, for a pull request or a nightly job."),
    "diverge": Verb("deviate.cli.diverge", "Find where two runs that should match diverge."),
    "report": Verb("deviate.cli.compare", "Report again, without running anything."),
    "list": Verb("deviate.cli.records", "List recorded experiments."),
    "show": Verb("deviate.cli.show", "Show an experiment, a variant or a run in full."),
    "clean": Verb("deviate.cli.clean", "Remove work copies; records and logs are kept."),
    "doctor": Verb("deviate.cli.doctor", "Show what can be controlled on this machine."),
    "import": Verb("deviate.cli.imports", "Import results from elsewhere as an experiment."),
    "overhead": Verb("deviate.cli.overhead", "Measure what determinism costs in time."),
    "plan": Verb("deviate.cli.plan", "How many runs does it take?"),
    "plugins": Verb("deviate.cli.plugins", "List what other packages add to deviate."),
}
"""In the order in which people come to need them."""


class Verbs(QuickCommand, typer.core.TyperGroup):
    """The commands in a table, each imported when it is called, not to list or complete their names."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, verb in VERBS.items():
            self.add_command(typer.core.TyperCommand(name, short_help=verb.short_help))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, words = super().resolve_command(ctx, args)
        return name, load_command(name) if name else None, words


HELP = """Run a training script many times under controlled randomness, and say what the differences mean.

\b
Start with:
  deviate run train.py --runs 10 --name base   ten runs, and how much they differ
  deviate run new.py --runs 10 --name new      the same for another method
  deviate compare base new                     is it better, and by how much?

The script need not be changed; its arguments go after --: deviate run train.py -- --epochs 5
"""
app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    help=HELP,
)


def command(name: str, *, epilog: str) -> Callable[[Function], Function]:
    """Register a function as the command of that name; its parameters are options, and dataclasses of them."""
    from deviate.cli.options.groups import flatten  # which the list of the commands has no use for
    from deviate.cli.options.help import HelpFlags, VerbCommand

    register = app.command(name, cls=VerbCommand, short_help=VERBS[name].short_help, epilog=epilog)
    return lambda function: register(flatten(function, HelpFlags))


def load_command(name: str) -> Any:
    """Import a command with its arguments and options."""
    importlib.import_module(VERBS[name].module)
    info = next(info for info in app.registered_commands if info.name == name)
    return typer.main.get_command_from_info(
        info, pretty_exceptions_short=app.pretty_exceptions_short, rich_markup_mode=app.rich_markup_mode
    )


def nearest(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


def named_folder(command: Sequence[str], base: Path) -> Path | None:
    """The folder that was passed in place of a script; None for anything else."""
    if len(command) != 1:
        return None
    path = (base / command[0]).resolve()
    return path if path.is_dir() else None


def as_json(document: object) -> str:
    """JSON in ASCII, safe for terminals and for streams of any encoding."""
    import json

    return json.dumps(document, indent=2)


def width() -> int:
    """Columns of the terminal, or of COLUMNS; a pipe or a file gets whole lines."""
    from deviate.report.medium import WHOLE

    return shutil.get_terminal_size((120, 24)).columns if "COLUMNS" in os.environ or sys.stdout.isatty() else WHOLE


def is_coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def print_document(document: "Document", form: Form = Form.table, *, file: IO[str] | None = None) -> None:
    """Print a document for people, or what programs read of it."""
    from deviate.report.forms.registry import render  # which the help of a verb has no use for

    if form is Form.json:
        typer.echo(as_json(document.data()), file=file)
    else:
        typer.echo(render(document, "terminal", width=width(), is_coloured=is_coloured()), file=file, nl=False)


def complete_experiments(incomplete: str) -> list[str]:
    """Recorded experiments, and NAME:VARIANT once the name is complete; empty if records cannot be read."""
    from deviate.errors import DeviateError
    from deviate.records.layout import records_folder
    from deviate.records.plans import list_experiments

    try:
        plans = list_experiments(records_folder(Path.cwd().resolve()))
    except (DeviateError, OSError):
        return []
    prefix = incomplete.partition(":")[0]
    names = [plan.name for plan in plans]
    names += [f"{plan.name}:{variant.name}" for plan in plans if plan.name == prefix for variant in plan.variants]
    return [name for name in names if name.startswith(incomplete)]


def complete_sources(incomplete: str) -> list[str]:
    """Experiments, and files and folders, for arguments that accept either."""
    import glob

    paths = sorted(Path(path) for path in glob.glob(f"{glob.escape(incomplete)}*"))  # noqa: PTH207  as a shell has it
    return [*complete_experiments(incomplete), *(f"{path}/" if path.is_dir() else str(path) for path in paths)]


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"deviate {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of `deviate` itself."""


PYTHONS_OWN = warnings.formatwarning


def obey_signals() -> None:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does: children are ended, and nothing is lost."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup, a closed terminal should be ignored
            signal.signal(number, signal.default_int_handler)


def run_arguments(arguments: Sequence[str]) -> int:
    """Carry out a command; returns its exit code, after one message on what is wrong with it."""
    code, began = FAILED, time.perf_counter()
    try:
        code = _carry_out(arguments or ["--help"])
    except Exception as error:  # noqa: BLE001  (a defect, whatever it is: reported as such, and its traceback kept)
        from deviate.cli.defects import report_defect

        report_defect(error)
    finally:
        if "deviate.cli.debug" in sys.modules:
            from deviate.cli.debug import stop_log

            stop_log(code, began)
    return code


def _carry_out(arguments: Sequence[str]) -> int:
    warnings.formatwarning = _format_warning
    try:
        code = app(args=list(arguments), prog_name="deviate", standalone_mode=False)
    except DeviateError as error:
        from deviate.report.format import show_overrides

        message, hint = map(show_overrides, (error.message, error.hint))
        typer.echo(f"Error: {message}", err=True)
        if hint:
            typer.echo(textwrap.indent(hint, "  "), err=True)
        return IN_USE if isinstance(error, InUseError) else FAILED
    except typer.TyperException as error:
        from deviate.cli.options.origins import describe_misuse

        typer.echo(f"Error: {describe_misuse(error)}", err=True)
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
        if isinstance(error, FileNotFoundError) and not _has_working_folder():
            typer.echo("Error: the current folder does not exist any more\n  cd to a folder that exists", err=True)
            return FAILED
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


def _has_working_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _without_output(error: OSError) -> int:
    """Exit when standard output is full or closed; Python would report it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return DONE
    typer.echo(f"Error: writing to standard output: {error.strerror}", err=True)
    return FAILED

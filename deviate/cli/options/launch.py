"""How runs are launched: command, preceding and following commands, interpreter, container and variables."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deviate import project, replay
from deviate.base import split_secrets
from deviate.cli.options.execution import thread_limit
from deviate.cli.options.groups import flag, option, option_group
from deviate.cli.options.values import commands, interpreters, pair
from deviate.project import default_python, with_interpreter
from deviate.workflows import Request

if TYPE_CHECKING:  # with the analysis, which checks of what is on record do without
    from deviate.project import PreparedScript

Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SCRIPT [-- ARGS]",
        help="The training script and, after --, its arguments; or a whole command after --. "
        "Default: what deviate.toml names.",
    ),
]
Python = Annotated[
    list[str] | None, option("PATH", "Interpreter for the script; several are compared. Default: python on PATH.")
]
Env = Annotated[list[str] | None, option("KEY=VALUE", "Variable for every run: KEY=VALUE. May be repeated.")]


@option_group
class LaunchFlags:
    """How runs are launched, besides the command itself."""

    prepare: list[str] | None = flag("COMMAND", "Command to run once before all runs. May be repeated.")
    then: list[str] | None = flag("COMMAND", "Command after training, in the same files. May be repeated.")
    python: Python = None
    wrap: str | None = flag("COMMAND", 'Container for each command: "apptainer exec --nv image.sif".')
    env: Env = None

    def container(self) -> tuple[str, ...]:
        """The beginning of a command that starts the container; empty for none."""
        return commands([self.wrap], "--wrap")[0] if self.wrap is not None else ()

    def pythons(self) -> Sequence[str]:
        """The requested interpreters. Raises InputError for one that does not exist."""
        return interpreters(self.python, has_container=self.wrap is not None)

    def prepare_commands(self) -> tuple[tuple[str, ...], ...]:
        """Commands that run once before all runs."""
        default = default_python(has_container=self.wrap is not None)
        return tuple(with_interpreter(words, default) for words in commands(self.prepare, "--prepare"))

    def complete(self, request: Request) -> Request:
        """Complete a request with preparing and wrapping commands, and the thread limit that its settings leave.

        Raises:
            InputError: a text cannot be read.
        """
        return dataclasses.replace(
            request,
            environment=variables(self.env),
            prepare=self.prepare_commands(),
            wrap=self.container(),
            n_threads=thread_limit(request.settings),
        )

    def prepare_target(self, words: Sequence[str], folder: Path, python: str | None) -> "PreparedScript":
        """Analyse the script of a command, and apply the user's `deviate.toml`.

        Args:
            words: a script with its arguments, or a whole command; nothing for the one that `deviate.toml` names.
            python: one of the interpreters; None for that which would have run the script.

        Raises:
            InputError: the script or the file cannot be used, or nothing is left to record.
        """
        default = default_python(has_container=self.wrap is not None)
        then = commands(self.then, "--then")
        return project.prepare(project.find_target(words, folder, python, default=default, then=then))


def variables(texts: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """`--env` without secrets: these are passed to runs through the process environment, and are not recorded."""
    plain, secret = split_secrets([pair(text, "--env", "KEY=VALUE") for text in texts or ()])
    os.environ.update(secret)
    if secret:
        os.environ[replay.SECRETS] = ",".join(dict(secret))
    return tuple(plain)

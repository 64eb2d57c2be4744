"""Options for the runs that a check makes of both sides with `--ref`."""

import dataclasses
from dataclasses import dataclass
from typing import Annotated

import typer

from deviate.cli.options.execution import Gpus, Jobs, Timeout
from deviate.cli.options.groups import option_group
from deviate.cli.options.launch import Env
from deviate.cli.options.runs import Runs, Variants


@option_group
@dataclass(frozen=True, slots=True)
class SideFlags:
    """Options for runs of both sides with --ref; None for defaults."""

    runs: Runs = None
    variants: Variants = None
    name: Annotated[str | None, typer.Option(metavar="NAME", help="With --ref: name of the new experiment.")] = None
    seed: Annotated[int | None, typer.Option(metavar="N", help="With --ref: the experiment seed. Default: 0.")] = None
    python: Annotated[str | None, typer.Option(metavar="PATH", help="With --ref: interpreter for the script.")] = None
    env: Env = None
    jobs: Jobs = None
    gpus: Gpus = None
    timeout: Timeout = None

    def first_flag(self) -> str:
        """The first flag that was used; empty if none was."""
        flags = (f"--{field.name}" for field in dataclasses.fields(self) if getattr(self, field.name))
        return next(flags, "")

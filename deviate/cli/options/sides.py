"""Options for the runs that a check makes of both sides with `--ref`."""

import dataclasses

from deviate.cli.options.execution import Gpus, Jobs, Timeout
from deviate.cli.options.groups import flag, option_group
from deviate.cli.options.launch import Env
from deviate.cli.options.runs import Runs, Variants


@option_group
class SideFlags:
    """Options for runs of both sides with --ref; None for defaults."""

    runs: Runs = None
    variants: Variants = None
    name: str | None = flag("NAME", "With --ref: name of the new experiment.")
    seed: int | None = flag("N", "With --ref: the experiment seed. Default: 0.")
    python: str | None = flag("PATH", "With --ref: interpreter for the script.")
    env: Env = None
    jobs: Jobs = None
    gpus: Gpus = None
    timeout: Timeout = None

    def first_flag(self) -> str:
        """The first flag that was used; empty if none was."""
        flags = (f"--{field.name}" for field in dataclasses.fields(self) if getattr(self, field.name))
        return next(flags, "")

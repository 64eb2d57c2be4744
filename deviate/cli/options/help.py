"""The command of a verb: its `--help` shows common options, its `--help-all` all of them, each under its title."""

import dataclasses
import os
from typing import Any, cast

import typer

from deviate.cli.options.coercion import QuickCommand
from deviate.cli.options.groups import TITLES, in_help

COMMON = {
    "run": "runs name versus sweep_of budget dry_run variants metric margin html jobs gpus",
    "resume": "budget metric html markdown json csv jobs gpus timeout quiet",
    "compare": """
        metric margin baseline against match paired aggregate direction confidence html markdown latex json csv
    """,
    "check": "ref runs metric margin paired undecided require_control confidence html markdown junit github save jobs",
    "diverge": "name dry_run variant hold budget level html markdown json python second_env gpus",
    "report": "metric aggregate direction confidence html markdown latex json csv paper to quiet",
    "overhead": "runs name dry_run variants html markdown latex json csv python gpus profile",
}
"""What the short help of a verb shows; a verb that has few options shows them all."""
HELP_ALL, DEBUG = "--help-all", "--debug"
GAP = 2
WIDEST = 30
"""Columns of the names of options, as in click."""


def show_decisions(ctx: typer.Context, is_wanted: bool) -> None:
    """Log decisions to standard error from here on, where `--debug` is given."""
    if is_wanted:
        from deviate.cli.debug import start_log

        start_log(ctx.meta[DEBUG])


def show_all_options(ctx: typer.Context, is_wanted: bool) -> None:
    """Show the whole help and end, where `--help-all` is given."""
    if is_wanted:
        ctx.meta[HELP_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


@dataclasses.dataclass(frozen=True, slots=True)
class HelpFlags:
    """Options of all verbs."""

    help_all: bool = in_help(None, "Show all options.", is_eager=True, default=False, callback=show_all_options)
    debug: bool = in_help(
        None, "Log decisions to standard error.", is_eager=True, default=False, callback=show_decisions
    )


class VerbCommand(QuickCommand, typer.core.TyperCommand):
    """A verb whose options take their values from flags, and from the variables of `base.setting_variables.SETTINGS`.

    Attributes:
        common: the names of the options that the short help shows; empty for all.
    """

    def __init__(self, name: str | None, **attributes: Any) -> None:
        from deviate.base.setting_variables import SEPARATOR, has_variable, variable_of  # not to list the verbs

        super().__init__(name, **attributes)
        self.common = frozenset(COMMON.get(str(name), "").split())
        for option in cast("list[Any]", self.options()):
            option.hidden = option.name == "help_all" and not self.common
            if has_variable(str(option.name), str(name)):
                option.envvar = variable_of(str(option.name))
                option.envvar_list_splitter = SEPARATOR

    def options(self) -> "list[typer.core.TyperOption]":
        """The options by title, in the order of the help. Raises ValueError for one that has none."""
        options = [parameter for parameter in self.params if isinstance(parameter, typer.core.TyperOption)]
        return sorted(options, key=lambda option: TITLES.index(str(option.rich_help_panel)))

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # click's own
        """Read the arguments; click calls this."""
        ctx.meta[DEBUG] = (*ctx.command_path.split()[1:], *args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # click's own
        """Carry the command out; click calls this."""
        from deviate.base.setting_variables import misspelled
        from deviate.cli.options.origins import origins_in

        for name, near in misspelled(os.environ):
            typer.echo(f"Warning: {name} is no variable of a setting, and is ignored; did you mean {near}?", err=True)
        with origins_in(ctx):
            return super().invoke(ctx)

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # click's own
        """Write the arguments and options; click calls this."""
        is_short = self._is_short(ctx)
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *TITLES)}
        for parameter in cast("list[Any]", self.get_params(ctx)):
            title = parameter.rich_help_panel or ("Arguments" if parameter.param_type_name == "argument" else "Help")
            if title == "Arguments":
                rows[title].append((parameter.metavar, parameter.help))
            elif not is_short or title == "Help" or parameter.name in self.common:
                parameter.show_envvar = not is_short
                rows[title] += filter(None, [parameter.get_help_record(ctx)])
        longest = max(len(name) for members in rows.values() for name, _ in members if len(name) <= WIDEST)
        for title, members in rows.items():
            if members:
                with formatter.section(title):
                    formatter.write_dl([(f"{name:<{longest}}", text) for name, text in members], WIDEST + GAP, GAP)

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the example, and how many options the short form leaves out; click calls this."""
        super().format_epilog(ctx, formatter)
        if self._is_short(ctx):
            formatter.write_paragraph()
            with formatter.indentation():
                n_more = sum(option.rich_help_panel != "Help" for option in self.options()) - len(self.common)
                formatter.write_text(f"{ctx.command_path} {HELP_ALL} shows {n_more} more options.")

    def _is_short(self, ctx: typer.Context) -> bool:
        return bool(self.common) and HELP_ALL not in ctx.meta

"""The layout of `--help`: options in groups, which are the same in all verbs, and those that the short form shows."""

from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROUPS = {
    "Runs": """
        runs name ref versus sweep_of is_sweep budget until min_runs max_runs looks seed index run strict dry_run
        plan_only
    """,
    "What varies": "variants variant vary hold seeds warn_only",
    "Difference": "effect difference pilot sd power correlation candidates",
    "Verdict": """
        metric margin baseline against match paired aggregate direction undecided control require_control ulps confirm
        level rung level_time confidence spread_ratio target tasks groups weak_below
    """,
    "Output": """
        html markdown latex json csv paper siunitx column_width dl_variance to junit github form save everything explain
        edit log stderr follow size quiet report experiment
    """,
    "Command": "python prepare then wrap env second_env",
    "Machine": """
        jobs gpus per_gpu gpus_per_run executor option timeout stall_timeout retries max_failures ignore_failure requeue
    """,
    "Records": """
        importer group without keep captured capture capture_every capture_limit tta profile profiled_runs window
        trackers
    """,
}
"""The parameters of all verbs by group, in the order of the help."""
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


def grouped(options: "Sequence[typer.core.TyperOption]") -> "Iterator[tuple[str, list[typer.core.TyperOption]]]":
    """The options of a verb by group, in the order of the help. Raises ValueError for one that has no group."""
    by_name = {option.name: option for option in options}
    for title, names in GROUPS.items():
        members = [by_name.pop(name) for name in names.split() if name in by_name]
        if members:
            yield title, members
    if by_name:
        raise ValueError(f"options without a group of the help: {', '.join(map(str, by_name))}")


class VerbCommand(typer.core.TyperCommand):
    """A verb whose `--help` shows its common options, and `--help-all` all of them, in groups.

    Its options take their values from flags, and from the variables of `deviate.base.setting_variables.SETTINGS`.
    """

    def __init__(self, name: str | None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        from deviate.cli.options.origins import attach_variables  # not to list the verbs

        attach_variables(str(name), self.params)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # click's own
        """Read the arguments; click calls this."""
        ctx.meta[DEBUG] = (*ctx.command_path.split()[1:], *args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # click's own
        """Carry the command out; click calls this."""
        from deviate.cli.options.origins import remember_origins, warnings_on_variables

        for warning in warnings_on_variables():
            typer.echo(f"Warning: {warning}", err=True)
        with remember_origins(ctx, self.options()):
            return super().invoke(ctx)

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # click's own
        """Write the arguments and options; click calls this."""
        arguments = [
            (str(parameter.metavar or parameter.human_readable_name), str(parameter.help or ""))
            for parameter in cast("list[Any]", self.params)
            if parameter.param_type_name == "argument"
        ]
        common = None if ctx.meta.get(HELP_ALL) else self._common()
        sections = [("Arguments", arguments)] if arguments else []
        for title, options in grouped(self.options()):
            chosen = [option for option in options if common is None or option.name in common]
            for option in chosen:
                option.show_envvar = common is None
            rows = [row for option in chosen if (row := option.get_help_record(ctx)) is not None]
            sections += [(title, rows)] if rows else []
        debug = (DEBUG, "Log decisions to standard error.")
        sections.append(("Help", [("-h, --help", "Show this help."), *self._help_all(), debug]))
        longest = max(len(name) for _, rows in sections for name, _ in rows if len(name) <= WIDEST)
        for title, rows in sections:
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{longest}}", text) for name, text in rows], WIDEST + GAP, GAP)

    def format_epilog(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the example, and how many options the short form leaves out; click calls this."""
        super().format_epilog(ctx, formatter)
        common = self._common()
        if common is not None and not ctx.meta.get(HELP_ALL):
            formatter.write_paragraph()
            with formatter.indentation():
                n_more = sum(not option.hidden for option in self.options()) - len(common)
                formatter.write_text(f"{ctx.command_path} {HELP_ALL} shows {n_more} more options.")

    def options(self) -> "list[typer.core.TyperOption]":
        """All options but those that all verbs have."""
        return [
            cast("typer.core.TyperOption", parameter)
            for parameter in self.params
            if parameter.param_type_name == "option" and not {HELP_ALL, DEBUG} & set(parameter.opts)
        ]

    def _common(self) -> frozenset[str] | None:
        """Names of the options that the short form shows; None for all."""
        return frozenset(COMMON[self.name].split()) if self.name in COMMON else None

    def _help_all(self) -> list[tuple[str, str]]:
        return [(HELP_ALL, "Show all options.")] if self.name in COMMON else []


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

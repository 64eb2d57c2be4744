"""Runs are carried out before the eyes of the user, and then reported: what `run` and `resume` share."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import typer

from deviate import pipeline, replay, workflows
from deviate.cli.app import SOME_RUNS_FAILED
from deviate.cli.options.documents import Documents
from deviate.cli.publish import publish
from deviate.model import Settings
from deviate.workflows import AnalysisOptions, PreparedExperiment

if TYPE_CHECKING:  # verbs that only show what is on record do without them
    from deviate.replay import Order, Outcome, RunUpdate


@dataclass(frozen=True, slots=True)
class Output:
    """Whether standard output is a document's, and whether progress is told."""

    takes_stdout: bool
    is_quiet: bool

    @property
    def people(self) -> TextIO:
        """What a person reads: standard output, unless a document goes there."""
        return sys.stderr if self.takes_stdout else sys.stdout

    def say(self, text: str) -> None:
        if not self.is_quiet:
            typer.echo(text, file=self.people)

    def execute(
        self,
        experiments: Sequence[PreparedExperiment],
        settings: Settings,
        *,
        variants: Sequence[str] = (),
        runs: int | None = None,
        budget_s: float | None = None,
        more: "Callable[[Sequence[Outcome]], Sequence[Order]]" = lambda _: (),
    ) -> None:
        """Run what is missing, and let the user watch."""
        from deviate.cli.progress import display

        orders = workflows.fair_order(experiments, variants, runs)
        with display(
            self.people,
            n_runs=len(orders),
            jobs=len(replay.slots(settings)),
            is_quiet=self.is_quiet,
            standing=workflows.LiveEstimates([experiment.folder for experiment in experiments]),
            expected=[
                workflows.expected_runs(experiment.folder, variants=variants, runs=runs) for experiment in experiments
            ],
        ) as watcher:

            def further(outcomes: "Sequence[Outcome]") -> "Sequence[Order]":
                orders = more(outcomes)
                watcher.expect(len(outcomes) + len(orders))
                return orders

            data = workflows.SameData(experiments)

            def show(update: "RunUpdate") -> None:
                watcher.show(update)
                if text := data.take(update):
                    watcher.notice(text)

            listeners = replay.Listeners(show, watcher.notice, further)
            outcomes = replay.execute_orders(
                orders, workflows.make_executor(settings), settings, listeners, budget_s=budget_s, drains=True
            )
        reused = sum(outcome.is_reused for outcome in outcomes.values())
        if reused:
            where = ", ".join(str(experiment.folder) for experiment in experiments)
            self.say(f"{reused} of {len(outcomes)} runs were on record already: {where}")


def conclude(
    experiments: Sequence[PreparedExperiment],
    variants: Sequence[str],
    options: AnalysisOptions,
    output: Output,
    documents: Documents,
    *,
    is_strict: bool = False,
) -> None:
    """Report what is on record now; an exit code of its own where some runs failed."""
    folder = experiments[0].folder.parent.parent
    answer = pipeline.conclude(experiments, variants, options, is_strict=is_strict)
    publish(answer, folder, documents)
    answer.record()
    if experiments[0].plan.settings.keep == "best":
        for experiment in experiments:
            cleanup = workflows.clean_up(
                folder,
                experiment.name,
                "best",
                metric=options.metric,
                aggregate=options.aggregate,
                spares_failed=True,
            )
            if cleanup.problem:
                output.say(f"Note     {cleanup.name} {cleanup.problem}")
    fine = {"completed", "cancelled"}  # what a budget or the user has ended is none that failed
    if any(run.status not in fine for experiment in answer.experiments for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)

"""Executes runs with a progress display, and reports them: shared by `run` and `resume`."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, TextIO

import typer

from deviate import pipeline
from deviate.cli.app import SOME_RUNS_FAILED
from deviate.cli.options.results import Documents
from deviate.cli.publish import publish
from deviate.model.plan import Settings
from deviate.replay.cleanup import clean_up
from deviate.replay.experiments import PreparedExperiment, fair_order, make_executor, places_without_weights, record_end
from deviate.replay.first_run import FirstRun
from deviate.replay.live_estimates import LiveEstimates
from deviate.replay.states import expected_runs
from deviate.stats.options import AnalysisOptions

if TYPE_CHECKING:  # commands that only show records do not import these
    from deviate.replay.protocol import Order, Outcome, RunUpdate


@dataclass(frozen=True, slots=True)
class Output:
    """Whether standard output is a document, and whether progress is shown."""

    takes_stdout: bool
    is_quiet: bool

    @property
    def people(self) -> TextIO:
        """The console for people: standard output, unless it is used for a document."""
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
        """Execute missing runs with a progress display."""
        from deviate.cli.cost import FirstCost, outlook_of  # the project, which comparisons do without
        from deviate.cli.progress.display import display
        from deviate.replay.execute import Listeners, execute_orders
        from deviate.replay.slots import slots

        orders = fair_order(experiments, variants, runs)
        unknown = places_without_weights(experiments)
        waits = [bool(order.spec.replicate) and order.experiment in unknown for order in orders]
        later = list(compress(orders, waits))
        estimates = LiveEstimates([experiment.folder for experiment in experiments])
        with display(
            self.people,
            n_runs=len(orders),
            jobs=len(slots(settings)),
            is_quiet=self.is_quiet,
            standing=estimates,
            score_text=estimates.score_text,
            expected=[expected_runs(experiment.folder, variants=variants, runs=runs) for experiment in experiments],
        ) as watcher:

            def further(outcomes: "Sequence[Outcome]") -> "Sequence[Order]":
                further_orders = later[:] or more(outcomes)
                later.clear()
                watcher.expect(len(outcomes) + len(further_orders))
                return further_orders

            outlook = outlook_of(experiments, settings, variants=variants, runs=runs)
            cost = FirstCost(experiments, outlook)
            watchers = FirstRun(experiments), cost

            def show(update: "RunUpdate") -> None:
                watcher.show(update)
                estimates.take(update)
                for text in filter(None, (each.take(update) for each in watchers)):
                    watcher.notice(text)

            listeners = Listeners(show, watcher.notice, further)
            outcomes = execute_orders(
                [order for order, is_later in zip(orders, waits, strict=True) if not is_later],
                make_executor(settings),
                settings,
                listeners,
                budget_s=budget_s,
                drains=True,
            )
        record_end(outcomes)
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
    """Report the current record; the exit code is different if some runs failed."""
    folder = experiments[0].folder.parent.parent
    answer = pipeline.conclude(experiments, variants, options, is_strict=is_strict)
    publish(answer, folder, documents)
    answer.record()
    if experiments[0].plan.settings.keep == "best":
        for experiment in experiments:
            cleanup = clean_up(
                folder,
                experiment.name,
                "best",
                metric=options.metric,
                aggregate=options.aggregate,
                spares_failed=True,
            )
            if cleanup.problem:
                output.say(f"Note     {cleanup.name} {cleanup.problem}")
    fine = {"completed", "cancelled"}  # runs ended by a budget or by the user have not failed
    if any(run.status not in fine for experiment in answer.experiments for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)

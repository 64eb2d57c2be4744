"""Runs are carried out before the eyes of the user, and then reported: what `run` and `resume` share."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

import typer

from deviate import records, replay, workflows
from deviate.cli.app import SOME_RUNS_FAILED
from deviate.cli.options.documents import Documents
from deviate.cli.publish import publish
from deviate.errors import InputError
from deviate.model import Settings
from deviate.replay import Listeners, Order, Outcome, RunUpdate
from deviate.workflows import AnalysisOptions, PreparedExperiment


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


def execute_with_progress(
    begun: Sequence[PreparedExperiment],
    settings: Settings,
    output: Output,
    *,
    variants: Sequence[str] = (),
    runs: int | None = None,
    budget_s: float | None = None,
    more: Callable[[Sequence[Outcome]], Sequence[Order]] = lambda _: (),
) -> None:
    """Run what is missing, and let the user watch."""
    from deviate.cli.progress import display

    with display(
        output.people,
        n_runs=len(workflows.fair_order(begun, variants, runs)),
        jobs=len(replay.slots(settings)),
        is_quiet=output.is_quiet,
        standing=workflows.LiveEstimates([experiment.folder for experiment in begun]),
        expected=[workflows.expected_runs(experiment.folder, variants=variants, runs=runs) for experiment in begun],
    ) as watcher:

        def further(outcomes: Sequence[Outcome]) -> Sequence[Order]:
            orders = more(outcomes)
            watcher.expect(len(outcomes) + len(orders))
            return orders

        data = workflows.SameData(begun)

        def show(update: RunUpdate) -> None:
            watcher.show(update)
            if text := data.take(update):
                watcher.notice(text)

        listeners = Listeners(show, watcher.notice, further)
        outcomes = workflows.execute_experiments(
            begun, settings, listeners, variants=variants, runs=runs, budget_s=budget_s
        )
    reused = sum(outcome.is_reused for outcome in outcomes.values())
    if reused:
        where = ", ".join(str(experiment.folder) for experiment in begun)
        output.say(f"{reused} of {len(outcomes)} runs were on record already: {where}")


def conclude(
    begun: Sequence[PreparedExperiment],
    variants: Sequence[str],
    options: AnalysisOptions,
    output: Output,
    documents: Documents,
    *,
    is_strict: bool = False,
) -> None:
    """Report what is on record now; an exit code of its own where some runs failed."""
    folder = begun[0].folder.parent.parent
    misfits = (
        [misfit for experiment in begun for misfit in records.environment_misfits(experiment.folder)]
        if is_strict
        else []
    )
    if misfits:
        raise InputError(f"--strict: {misfits[0]}", "the runs are on record; run again in one environment")
    if len(begun) > 1:
        experiments = workflows.read(folder, [f"{experiment.name}:{variants[0]}" for experiment in begun])
        findings = workflows.judge(experiments, options)
    else:
        experiments = workflows.read(folder, [f"{begun[0].name}:{variant}" for variant in variants])
        findings = workflows.describe(experiments, options)
    publish(findings, experiments, folder, documents)
    if len(begun) > 1:
        workflows.record_comparison(findings)
    else:
        workflows.record_report([experiment.folder for experiment in begun], is_comparison=False)
    if begun[0].plan.settings.keep == "best":
        names, metric, aggregate = [experiment.name for experiment in begun], options.metric, options.aggregate
        for tidied in workflows.clean_up(folder, names, "best", metric=metric, aggregate=aggregate, spares_failed=True):
            if tidied.problem:
                output.say(f"Note     {tidied.name} {tidied.problem}")
    fine = {"completed", "cancelled"}  # what a budget or the user has ended is none that failed
    if any(run.status not in fine for experiment in experiments for run in experiment.runs):
        raise typer.Exit(SOME_RUNS_FAILED)

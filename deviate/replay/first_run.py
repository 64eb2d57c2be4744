"""What the first run of an experiment decides: which metrics there are, and which of them leads."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deviate.errors import DeviateError, InputError
from deviate.model.analysis import Analysis
from deviate.model.plan import PrimaryChoice
from deviate.model.records import Experiment, Run
from deviate.model.texts import first_few
from deviate.records.layout import log_files
from deviate.records.plans import change_experiment, read_plan
from deviate.records.read import log_end, open_runs, read_experiment
from deviate.replay.experiments import PreparedExperiment
from deviate.replay.protocol import RunUpdate
from deviate.series.words import name_words
from deviate.stats.options import AnalysisOptions

MOST_NAMED = 8
STDOUT_LINES = 6


@dataclass(slots=True)
class FirstRun:
    """Accepts updates on runs, and decides once for each experiment what its first run shows.

    The run that decides is the completed one with the lowest number, in the order of the plan, whichever ends first.
    """

    experiments: Sequence[PreparedExperiment]
    _decided: set[Path] = field(default_factory=set)
    _is_silent: set[Path] = field(default_factory=set)

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None.

        Raises:
            InputError: the first run has completed and reported nothing, or not the metric that the user named.
        """
        experiment = next((item for item in self.experiments if item.folder == update.order.experiment), None)
        if experiment is None or experiment.folder in self._decided:
            return None
        if update.kind == "finished":
            return self.decide(experiment)
        if update.is_silent and experiment.script is not None and experiment.folder not in self._is_silent:
            self._is_silent.add(experiment.folder)
            return (
                "no value was recorded in the first two minutes of the main loop of replicate "
                f"{update.order.spec.replicate}, which continues; its output is in {log_files(update.folder)[0]}"
            )
        return None

    def decide(self, experiment: PreparedExperiment) -> str | None:
        """Store what leads, if the run that decides has ended; returns a sentence for the user, or None.

        Raises:
            InputError: as `take`.
        """
        try:
            plan = read_plan(experiment.folder)
            if open_runs(experiment.folder, plan) is None:
                return None
            variants = read_experiment(experiment.folder)
        except DeviateError:  # said when the records are read at the end
            return None
        self._decided.add(experiment.folder)
        runs = [run for variant in variants for run in variant.runs]
        reported = list(dict.fromkeys(name for run in runs for name in run.series))
        kept = {metric.name for metric in variants[0].metrics if metric.role != "other"}
        if kept.isdisjoint(reported) and experiment.script is not None:
            raise _explain_silence(experiment.script, next(run for run in runs if run.status == "completed"))
        choice = _resolve(plan.selection.primary, reported) if plan.selection.primary else variants[0].primary
        if choice is None or choice == plan.selection.primary:
            return None
        selection = replace(plan.selection, primary=choice)
        change_experiment(experiment.folder, time=time.time(), selection=selection)
        return _describe(choice, variants[0])


def with_resolved_metric(options: AnalysisOptions, experiment: Path) -> AnalysisOptions:
    """The options with the metric that the user named under the name that the first run gave it."""
    primary = read_plan(experiment).selection.primary
    if options.metric is None or primary is None or not _is_same(options.metric, primary.name):
        return options
    return replace(options, metric=primary.name)


def _is_same(name: str, other: str) -> bool:
    """Whether two names have the same words, in any order."""
    return set(name_words(name)) == set(name_words(other))


def _resolve(named: PrimaryChoice, reported: Sequence[str]) -> PrimaryChoice:
    """The metric that the user named, under the name that the run gave it."""
    if named.name in reported:
        return named
    same = [name for name in reported if _is_same(name, named.name)]
    if len(same) == 1:
        return replace(named, name=same[0])
    raise InputError(
        f"the first run did not report {named.name}, which was named as the primary metric",
        f"it reported {first_few(list(reported), MOST_NAMED)}: name one of these with --metric, under another --name",
    )


def _describe(choice: PrimaryChoice, experiment: Experiment) -> str:
    others = first_few(list(choice.others), MOST_NAMED)
    unit = next((metric for metric in experiment.metrics if metric.name == choice.name), None)
    trainings = f" (mean over the {unit.metric.over}s)" if unit is not None and unit.aggregate == "mean" else ""
    return f"result: {choice.name}{trainings}, {choice.reason}" + (f"; also reported: {others}" if others else "")


def _explain_silence(script: Analysis, run: Run) -> InputError:
    """The error for a run that reported nothing: the end of what it printed, and what comes nearest to a metric."""
    from deviate.analysis.document import explain_nothing_found

    error = explain_nothing_found(script)
    printed = log_end(log_files(run.folder)[0]).splitlines()[-STDOUT_LINES:]
    end = f"; it printed{' at the end' if len(printed) == STDOUT_LINES else ''}:" if printed else " and printed nothing"
    listing = "".join(f"\n  {line}" for line in printed)
    return InputError(f"the first run reported no metric{end}{listing}\n{error.message}", error.hint)

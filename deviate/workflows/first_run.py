"""What the first run of an experiment shows: that it records nothing, or metrics that only a run names."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deviate import analysis, records
from deviate.base import first_few, place_text
from deviate.errors import DeviateError, InputError
from deviate.model import Analysis, PrimaryChoice, Run
from deviate.model.plan import BY_FIRST_RUN
from deviate.replay import RunUpdate
from deviate.workflows.execute import PreparedExperiment
from deviate.workflows.states import ended_runs

MOST_NAMED = 8
STDOUT_LINES = 6


@dataclass(slots=True)
class FirstRun:
    """Accepts updates on runs, and tells once for each experiment what its first run shows.

    While the run goes on: that the first pass of the main loop recorded nothing. When it has completed: the metrics
    that were found by running.
    """

    experiments: Sequence[PreparedExperiment]
    _is_over: set[str] = field(default_factory=set)
    _is_silent: set[str] = field(default_factory=set)

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None.

        Raises:
            InputError: the first run has completed and reported nothing, where it should.
        """
        experiment = next((item for item in self.experiments if item.folder.name == update.experiment), None)
        if experiment is None or update.experiment in self._is_over:
            return None
        if update.status == "completed":
            self._is_over.add(update.experiment)
            return _look(experiment)
        if update.is_silent and experiment.script is not None and update.experiment not in self._is_silent:
            self._is_silent.add(update.experiment)
            return (
                f"no value was recorded in the first pass of the main loop of replicate {update.replicate}, which "
                f"continues; its output is in {records.log_files(update.folder)[0]}"
            )
        return None


@dataclass(slots=True)
class FirstNames:
    """Accepts updates on runs, and fixes the primary metric of each experiment by the names in its first run.

    An experiment whose plan names one keeps it, and so does one of which runs have completed before: their values may
    have been compared.
    """

    experiments: Sequence[PreparedExperiment]
    _open: dict[str, Path] = field(init=False)

    def __post_init__(self) -> None:
        self._open = {
            experiment.folder.name: experiment.folder
            for experiment in self.experiments
            if experiment.plan.selection.primary is None and not _has_completed(experiment.folder)
        }

    def take(self, update: RunUpdate) -> str | None:
        """Process an update; returns a sentence for the user, or None."""
        choice = self.fix(update.experiment, update.folder) if update.status == "completed" else None
        if choice is None:
            return None
        others = first_few(list(choice.others), MOST_NAMED)
        return f"primary metric: {choice.name}, {choice.reason}" + (f"; not chosen: {others}" if others else "")

    def fix(self, experiment: str, attempt: Path) -> PrimaryChoice | None:
        """Fix the primary metric by an attempt that has completed; None where it is not the first, or names none."""
        folder = self._open.pop(experiment, None)
        return None if folder is None else _fix_primary(folder, attempt)


def _fix_primary(experiment: Path, attempt: Path) -> PrimaryChoice | None:
    """Store the primary metric in a plan that has none, by the names of the metrics that an attempt reported.

    Returns: the choice; None where the plan has one, the rule chooses none, or the records cannot be read.
    """
    from deviate.stats import choose_primary

    try:
        variants = records.read_experiment(experiment)
        plan = records.read_plan(experiment)
    except DeviateError:  # said when the records are read at the end
        return None
    reported = {name for item in variants for run in item.runs if run.folder == attempt for name in run.series}
    choice = choose_primary([metric for metric in variants[0].metrics if metric.name in reported])
    if choice is None or plan.selection.primary is not None:
        return None
    choice = replace(choice, reason=f"{choice.reason}, {BY_FIRST_RUN}")
    selection = replace(plan.selection, primary=choice)
    records.change_experiment(experiment, time=time.time(), selection=selection)
    return choice


def _has_completed(experiment: Path) -> bool:
    return any(run.result.status == "completed" for run in ended_runs(experiment))


def _look(experiment: PreparedExperiment) -> str | None:
    """A sentence on the metrics of an experiment that were found by running; None if there are none."""
    try:
        variants = records.read_experiment(experiment.folder)
    except DeviateError:  # said when the records are read at the end
        return None
    runs = [run for variant in variants for run in variant.runs]
    reported = {name for run in runs for name in run.series}
    if not reported and experiment.script is not None:
        raise _explain_silence(experiment.script, next(run for run in runs if run.status == "completed"))
    metrics = [metric for metric in variants[0].metrics if metric.is_found_by_running and metric.name in reported]
    names = [f"{metric.name} ({place_text(metric.metric.file, metric.metric.line)})" for metric in metrics]
    return f"found by running: {first_few(names, MOST_NAMED)}" if names else None


def _explain_silence(script: Analysis, run: Run) -> InputError:
    """The error for a run that reported nothing: the end of what it printed, and what comes nearest to a metric."""
    error = analysis.explain_nothing_found(script)
    printed = records.log_end(records.log_files(run.folder)[0]).splitlines()[-STDOUT_LINES:]
    end = f"; it printed{' at the end' if len(printed) == STDOUT_LINES else ''}:" if printed else " and printed nothing"
    listing = "".join(f"\n  {line}" for line in printed)
    return InputError(f"the first run reported no metric{end}{listing}\n{error.message}", error.hint)

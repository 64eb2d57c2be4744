"""The way through all rooms: scripts are run, resumed, compared and reported.

The verbs of the command line and the functions of the Python API call these functions. What shows progress to people is
handed in (`Display`), and an answer is recorded by whoever has shown it. How a script is analysed has a function of its
own already, `project.prepare`.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from deviate.base.decisions import timed_stage
from deviate.errors import InputError
from deviate.model.findings import Findings
from deviate.model.plan import Settings
from deviate.model.published_results import PublishedFindings
from deviate.model.records import Experiment
from deviate.records.experiments import read, read_any, read_one, split_columns
from deviate.records.plans import on_record, siblings
from deviate.registry import wing
from deviate.replay.between_runs import StoppingRule
from deviate.replay.experiments import PreparedExperiment, Request, record_comparison, record_report
from deviate.replay.first_run import with_resolved_metric
from deviate.report.format import clean
from deviate.stats.options import AnalysisOptions

if TYPE_CHECKING:  # what compares and reports does without them
    from deviate.project.prepare import PreparedScript
    from deviate.replay.protocol import Order, Outcome

MOST_NAMED = 8
"""Metrics of an experiment that a message lists."""
Requests = Mapping[str | None, "tuple[PreparedScript, Request]"]
"""Scripts to run side by side, by the name of the experiment; None for the one whose name is still to be chosen."""


class Display(Protocol):
    """What shows people how things go."""

    def say(self, text: str) -> None:
        """Show one line."""

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
        """Execute what is missing, and show progress; arguments are as in `fair_order`."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What experiments say.

    Attributes:
        is_comparison: whether the first experiment is a baseline of the others; else they are variants of one.
    """

    experiments: tuple[Experiment, ...]
    findings: Findings
    is_comparison: bool

    def record(self) -> None:
        """Write down that these results were shown: to look at an experiment that still grows has a price."""
        if self.is_comparison:
            record_comparison(self.findings)
        else:
            places = [experiment.folder for experiment in self.experiments if experiment.folder is not None]
            record_report(places, is_comparison=False)


def run(
    requests: Requests, folder: Path, options: AnalysisOptions, display: Display, *, is_plan_only: bool = False
) -> list[PreparedExperiment]:
    """Freeze and plan scripts, then execute what is missing of their runs, until there are enough.

    Args:
        folder: the `.deviate/` folder.
        options: of the analysis, where it decides whether there are enough.
        is_plan_only: whether to start nothing.

    Raises:
        InputError: an experiment on record is of something else.
        RunError, RecordError, KeyboardInterrupt: as in `replay.execute_orders`.
    """
    from deviate.project.begin import begin_experiment, refuse_misfit  # the project, which comparisons do without

    for name, (script, request) in requests.items():
        if name is not None:
            refuse_misfit(script, request, folder, name)
    experiments = [begin_experiment(script, request, folder, name=name) for name, (script, request) in requests.items()]
    for note in [note for experiment in experiments for note in experiment.notes]:
        display.say(f"Note     {note}")
    if not is_plan_only:
        _, request = next(iter(requests.values()))  # of several scripts all but the command is the same
        variants = [variant.name for variant in request.variants]
        display.execute(
            experiments,
            request.settings,
            variants=variants,
            runs=request.runs,
            budget_s=request.budget_s,
            more=StoppingRule(experiments, variants, request, options),
        )
    return experiments


def resume(
    experiment: PreparedExperiment,
    settings: Settings,
    budget_s: float | None,
    display: Display,
    *,
    origins: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Execute what an experiment on record lacks, by other settings than before, which are kept.

    Args:
        origins: of the settings that were said now, as in `Plan.origins`.
    """
    from deviate.project.begin import keep_settings, resume_notes  # the project, which comparisons do without

    keep_settings(experiment, settings, origins)
    for note in resume_notes(experiment):
        display.say(f"Note     {note}")
    display.execute([experiment], settings, budget_s=budget_s)


def conclude(
    experiments: Sequence[PreparedExperiment], variants: Sequence[str], options: AnalysisOptions, *, is_strict: bool
) -> Conclusion:
    """What experiments that were run or resumed say: the variants of one, or the first variants of several compared.

    Raises:
        InputError: the environments of their runs differ, where that is not accepted.
    """
    from deviate.records.environment import environment_misfits

    folder = experiments[0].folder.parent.parent
    for experiment in experiments if is_strict else ():
        for misfit in environment_misfits(experiment.folder):
            raise InputError(f"--strict: {misfit}", "the runs are on record; run again in one environment")
    is_comparison = len(experiments) > 1
    chosen = variants[:1] if is_comparison else variants
    names = [f"{experiment.name}:{variant}" for experiment in experiments for variant in chosen]
    options = with_resolved_metric(options, experiments[0].folder)
    return answer(read(folder, names), options, is_comparison=is_comparison)


def compare(
    folder: Path,
    names: Sequence[str],
    options: AnalysisOptions,
    display: Display,
    *,
    form: str | None = None,
    baseline: str | None = None,
) -> Conclusion:
    """Compare experiments on record, or results that something else wrote.

    Args:
        folder, names, form: as in `read_any`. A single table may hold several methods, which are compared.
        baseline: which of them is the baseline; the first by default.

    Raises:
        InputError: there are not two different experiments, one cannot be read, or they share no metric.
    """
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{twice} cannot be compared with itself", "name each experiment once")
    experiments = read_any(folder, names, form=form)
    experiments = _baseline_first(split_columns(experiments[0]) if len(experiments) == 1 else experiments, baseline)
    if len(experiments) < 2:
        raise InputError(
            f"one experiment, {experiments[0].name}, cannot be compared",
            "name the baseline and a candidate, or use: deviate report NAME; methods of one table need a column method",
        )
    _say_sources(experiments, display)
    shared = [options.matches.get(name, name) for name in _reported(experiments[0])]
    metrics = [(experiments[0].name, shared), *((other.name, _reported(other)) for other in experiments[1:])]
    refuse_disjoint(metrics, "say which correspond:")
    return answer(experiments, options, is_comparison=True)


def compare_published(
    folder: Path,
    name: str,
    results: Sequence[str],
    options: AnalysisOptions,
    display: Display,
    *,
    form: str | None = None,
) -> tuple[Experiment, PublishedFindings]:
    """Compare an experiment on record, or in a file, with published results.

    Args:
        folder, form: as in `read_any`. results: as in `judge_published`.

    Raises:
        InputError: there is more than one experiment, it cannot be read, or a result is not understood.
    """
    from deviate.report.against import judge_published  # half a second of scipy, which runs do without

    experiment = read_one(folder, name, form=form)
    _say_sources([experiment], display)
    return experiment, judge_published(experiment, results, options)


def report(
    folder: Path, names: Sequence[str], options: AnalysisOptions, display: Display, *, form: str | None = None
) -> Conclusion:
    """Describe one experiment with all its variants, or compare several, from what is on record or in files.

    Raises:
        InputError: an experiment cannot be read.
    """
    experiments = read_any(folder, names, form=form, has_all_variants=len(names) == 1)
    _say_sources(experiments, display)
    is_comparison = len({experiment.name for experiment in experiments}) > 1  # a file, too, may hold several
    return answer(experiments, options, is_comparison=is_comparison)


def _reported(experiment: Experiment) -> list[str]:
    """Names of the metrics that the runs of an experiment reported."""
    return [metric.name for metric in experiment.metrics if any(metric.name in run.series for run in experiment.runs)]


def answer(experiments: Sequence[Experiment], options: AnalysisOptions, *, is_comparison: bool) -> Conclusion:
    """What experiments say that have been read."""
    judge = judge_experiments if is_comparison else describe_variants
    return Conclusion(tuple(experiments), judge(experiments, options), is_comparison)


def _say_sources(experiments: Sequence[Experiment], display: Display) -> None:
    """How files were read: what was guessed is said before anything is made of it."""
    # Of what was imported into the records it was said then.
    of_files = [experiment for experiment in experiments if experiment.folder is None]
    notes = (note for experiment in of_files for note in experiment.imported[1:] or experiment.imported)
    for note in dict.fromkeys(notes):
        display.say(f"Read     {clean(note)}")


def _baseline_first(experiments: Sequence[Experiment], baseline: str | None) -> tuple[Experiment, ...]:
    if baseline is None:
        return tuple(experiments)
    for chosen in experiments:
        if baseline in {chosen.name, f"{chosen.name}:{chosen.variant}"}:
            return (chosen, *(experiment for experiment in experiments if experiment is not chosen))
    names = ", ".join(dict.fromkeys(experiment.name for experiment in experiments))
    raise InputError(f"--baseline {baseline} is none of the experiments", f"they are: {names}")


def judge_experiments(experiments: Sequence[Experiment], options: AnalysisOptions) -> Findings:
    """Findings of one experiment, or of a baseline and its candidates, including stability."""
    from deviate.stats.judge import judge  # half a second of scipy, which only verbs that judge wait for

    with timed_stage("stats", "judged %s", ", ".join(f"{one.name}:{one.variant}" for one in experiments)):
        findings = judge(_with_siblings(experiments) if options.compares else experiments, options)
    with timed_stage("stability", "measured outputs and weights"):
        stability_findings = wing("stability.judge").stability(
            [item.experiment for item in findings.experiments],
            confidence=options.confidence,
            analysis_seed=options.analysis_seed,
            groups=options.groups,
            weak=options.weak_below,
            metric=options.metric,
        )
    return dataclasses.replace(findings, stability=stability_findings)


def _with_siblings(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Add to each experiment the recorded experiments that try the same thing; imported ones have none."""
    folders = {experiment.folder.parent.parent for experiment in experiments if experiment.folder}
    plans = {folder: on_record(folder)[0] for folder in folders}
    return [
        dataclasses.replace(
            experiment,
            siblings=siblings(plans[experiment.folder.parent.parent], experiment.name, experiment.variant),
        )
        if experiment.folder
        else experiment
        for experiment in experiments
    ]


def describe_variants(experiments: Sequence[Experiment], options: AnalysisOptions) -> Findings:
    """Findings on variants of one experiment: where the spread comes from, not which is better."""
    return judge_experiments(experiments, dataclasses.replace(options, compares=False))


def refuse_disjoint(metrics: Sequence[tuple[str, Iterable[str]]], advice: str) -> None:
    """Raise InputError if no experiment has a metric in common with the first one.

    Args:
        metrics: names of experiments, the baseline first, and of their metrics.
        advice: a hint that begins with this, before what `--match` takes.
    """
    (baseline, names), *others = [(name, list(dict.fromkeys(of_one))) for name, of_one in metrics]
    if not names or not others or any(not theirs or set(names) & set(theirs) for _, theirs in others):
        return
    lists = "; ".join(f"{name} has {', '.join(theirs[:MOST_NAMED])}" for name, theirs in [(baseline, names), *others])
    raise InputError(
        f"{baseline} has no metric in common with {', '.join(name for name, _ in others)}: {lists}",
        f"{advice} --match {names[0]}={others[0][1][0]}",
    )

"""Checks experiments by the rule of `check`, with their runs, control and machines; and what is kept as a baseline."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from deviate import __version__
from deviate.base.redaction import redact_words
from deviate.errors import InputError, RecordError
from deviate.model.analysis import Direction
from deviate.model.check import CheckFindings, ControlCheck, RecordsCheck
from deviate.model.estimates import PAIRED_ALONE_RUNS, VERDICT_RUNS
from deviate.model.findings import ExperimentFindings, Findings
from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import IMPORTED_AS, Experiment, Status
from deviate.records.environment import ALWAYS_TOLD, PACKAGES, SHOWN_ONLY, VARIABLE, environment_misfits
from deviate.records.experiments import read, read_variants
from deviate.records.importers import MetricEntry
from deviate.records.importers.baseline import Baseline, BaselineRun, baseline_text
from deviate.records.layout import snapshot_folder
from deviate.records.plans import read_plan
from deviate.records.read import read_experiment
from deviate.records.snapshot import read_manifest
from deviate.stats.options import AnalysisOptions

CONTROL = "control"
FAILURES: tuple[Status, ...] = ("diverged", "crashed", "timed_out")
"""Outcomes of failed runs; runs with any other outcome but completion are run again by `resume`."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Requirements on a candidate.

    Attributes:
        metrics: names in the baseline; none for the primary one.
        margins: metric to how much worse is still all right; "" stands for the only metric asked for.
        controls: experiments whose control variant is looked at beside that of baseline and candidates.

    Raises:
        InputError: a margin is no positive number.
    """

    metrics: tuple[str, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    controls: tuple[str, ...] = ()
    requires_control: bool = False
    fails_undecided: bool = False

    def __post_init__(self) -> None:
        for name, margin in self.margins.items():
            if not 0 < margin < float("inf"):
                raise InputError(
                    f"--margin {name and f'{name}='}{margin:g} must be positive",
                    "leave --margin out to ask whether the candidate is worse at all",
                )


def check(folder: Path, experiments: Sequence[Experiment], gate: Gate, options: AnalysisOptions) -> CheckFindings:
    """Judge a baseline and its candidates.

    Args:
        folder: the `.deviate/` folder.
        options: without a metric and a margin, which the gate has.

    Raises:
        InputError: a metric is not there, has no direction, or was read otherwise on one side; or whose margin is
            meant cannot be told.
    """
    # commands that do not judge should not wait 0.5 s for SciPy
    from deviate.stats.check import check_completion, check_control, check_metrics
    from deviate.stats.judge import judge

    declared = _declared_metrics(experiments, options.matches)
    names = asked_metrics(declared, gate, experiments[0].name, options.directions, experiments[0].primary)
    margined = _with_margins(experiments, margins_of(names, gate.margins))
    _refuse_other_aggregates(margined, names, options)
    sides = _without_unkept(margined, options.matches) if _is_baseline_file(experiments[0]) else margined
    findings = judge(sides, dataclasses.replace(options, metric=names[0], margin=None, keeps=tuple(names)))
    _refuse_unasked(findings, names)
    controls: list[ControlCheck] = [
        check_control(name, runs) for name, runs in _controls(folder, experiments, gate.controls)
    ]
    return CheckFindings(
        metrics=check_metrics(
            findings.pairs, names, confidence=options.confidence, partners=_partners(experiments, _labels(findings))
        ),
        completions=check_completion(findings.pairs, confidence=options.confidence),
        controls=tuple(controls),
        records=tuple(
            _records(item, label, names) for item, label in zip(findings.experiments, _labels(findings), strict=True)
        ),
        warnings=tuple(_warnings(experiments, _labels(findings))),
        findings=findings,
        fails_undecided=gate.fails_undecided,
        requires_control=gate.requires_control,
    )


def asked_metrics(
    metrics: Sequence[SelectedMetric],
    gate: Gate,
    where: str,
    directions: Mapping[str, Direction],
    planned: PrimaryChoice | None = None,
) -> list[str]:
    """Names of metrics to check: the requested ones, else the primary metric of a baseline.

    Args:
        directions: metric to whether more or less of it is better, where that is not what is on record.
        planned: the primary metric that the plan of the baseline names.

    Raises:
        InputError: there is no such metric, or which one decides cannot be told.
    """
    from deviate.series.headline import find_primary
    from deviate.series.lookup import require_metric

    known_names = [metric.name for metric in metrics]
    for name in (*gate.metrics, *filter(None, gate.margins)):
        require_metric(name, known_names, where)
    if gate.metrics:
        return list(gate.metrics)
    primary = find_primary(
        [dataclasses.replace(metric, direction=directions.get(metric.name, metric.direction)) for metric in metrics],
        planned,
    )
    if primary is None:
        quality = [metric.name for metric in metrics if metric.role == "quality"] or known_names
        raise InputError(
            f"the metric of {where} to check is ambiguous",
            f"name it with --metric, once or several times: {', '.join(quality)}",
        )
    return [primary]


def warn_of_few_runs(runs: int, *, is_paired: bool) -> str:
    """Warning that so many runs cannot decide anything, before the first run; empty if they can."""
    needed = PAIRED_ALONE_RUNS if is_paired else VERDICT_RUNS
    if runs >= needed:
        return ""
    minimum = f"{needed} pairs" if is_paired else f"{needed} runs of each side"
    return f"{runs} run{'s' * (runs > 1)} cannot decide: below {minimum} a check is always undecided"


def _declared_metrics(experiments: Sequence[Experiment], matches: Mapping[str, str]) -> tuple[SelectedMetric, ...]:
    """The baseline's metrics; if it declares no primary one, a declaration of a candidate counts."""
    metrics = experiments[0].metrics
    if any(metric.is_primary for metric in metrics):
        return metrics
    declared = {metric.name for candidate in experiments[1:] for metric in candidate.metrics if metric.is_primary}
    return tuple(
        dataclasses.replace(metric, is_primary=matches.get(metric.name, metric.name) in declared) for metric in metrics
    )


def margins_of(names: Sequence[str], margins: Mapping[str, float]) -> dict[str, float]:
    """The margin of each checked metric, where one was given.

    Raises:
        InputError: a margin could be that of several, of none of them, or one has two.
    """
    if "" in margins and len(names) > 1:
        raise InputError(
            f"--margin {margins['']:g} could belong to {' or '.join(names)}",
            f"name it: --margin {names[0]}={margins['']:g}",
        )
    margin_of: dict[str, float] = {}
    for key, margin in margins.items():
        name = key or names[0]
        if name not in names:
            raise InputError(f"--margin {name}={margin:g}: {name} is not checked", f"add --metric {name}")
        if name in margin_of:
            raise InputError(
                f"{name} has two margins, {margin_of[name]:g} and {margin:g}", "give each metric one margin"
            )
        margin_of[name] = margin
    return margin_of


def _with_margins(experiments: Sequence[Experiment], margins: Mapping[str, float]) -> list[Experiment]:
    """The baseline with the requested margins; recorded margins are kept where none was requested."""
    metrics = tuple(
        dataclasses.replace(metric, margin=margins.get(metric.name, metric.margin)) for metric in experiments[0].metrics
    )
    return [dataclasses.replace(experiments[0], metrics=metrics), *experiments[1:]]


def _without_unkept(experiments: Sequence[Experiment], matches: Mapping[str, str]) -> list[Experiment]:
    """Candidates without metrics that were deliberately left out of a committed baseline."""
    stored_names = {matches.get(metric.name, metric.name) for metric in experiments[0].metrics}
    candidates = [
        dataclasses.replace(
            experiment, metrics=tuple(metric for metric in experiment.metrics if metric.name in stored_names)
        )
        for experiment in experiments[1:]
    ]
    return [experiments[0], *candidates]


def _refuse_other_aggregates(experiments: Sequence[Experiment], names: Sequence[str], options: AnalysisOptions) -> None:
    """Raise InputError for other aggregates than those of a committed baseline, whose scores cannot be recomputed."""
    stored = [experiment for experiment in experiments if _is_baseline_file(experiment)]
    for fixed in stored:
        its = {metric.name: metric.aggregate for metric in fixed.metrics if metric.name in names}
        for other in (experiment for experiment in experiments if experiment is not fixed):
            for metric in other.metrics:
                name = next((ours for ours, theirs in options.matches.items() if theirs == metric.name), metric.name)
                wanted = options.aggregate or metric.aggregate
                if name in its and its[name] != wanted:
                    raise InputError(
                        f"{fixed.name} holds scores of {name} by {its[name]}, but {other.name} is read by {wanted}",
                        f"use --aggregate {its[name]} for both, or save the baseline again",
                    )


def _is_baseline_file(experiment: Experiment) -> bool:
    return any(metric.metric.sink == FORM for metric in experiment.metrics)


def _refuse_unasked(findings: Findings, names: Sequence[str]) -> None:
    """Raise InputError for a metric that a candidate lacks, or that has no direction."""
    for pair in findings.pairs:
        compared = {comparison.metric.name: comparison for comparison in pair.comparisons}
        for name in names:
            if name not in compared:
                unmatched = ", ".join(pair.unmatched_candidate) or "none"
                raise InputError(
                    f"{pair.candidate} has no metric {name}",
                    f"match it with --match {name}=NAME; unmatched metrics are: {unmatched}",
                )
            if compared[name].metric.direction is None:
                raise InputError(
                    f"the direction of {name} is unknown",
                    f"set it with --direction {name}=max or {name}=min, or in deviate.toml",
                )


def _controls(
    folder: Path, experiments: Sequence[Experiment], controls: Sequence[str]
) -> Iterator[tuple[str, Experiment | None]]:
    """Control variants of recorded experiments, and those requested as `NAME` or `NAME:VARIANT`."""
    seen: set[str] = set()
    for experiment in experiments:
        if experiment.folder is not None and not experiment.imported and experiment.name not in seen:
            seen.add(experiment.name)
            has_control = any(variant.name == CONTROL for variant in read_plan(experiment.folder).variants)
            variants = read_experiment(experiment.folder) if has_control else ()
            yield experiment.name, next((runs for runs in variants if runs.variant == CONTROL), None)
    for name in controls:
        if name not in seen:
            seen.add(name)
            recorded = read(folder, [name]) if ":" in name else read_variants(folder, name)
            chosen = recorded if ":" in name else [variant for variant in recorded if variant.variant == CONTROL]
            if not chosen:
                names = ", ".join(variant.variant for variant in recorded)
                raise InputError(f"--control {name}: it has no variant {CONTROL}", f"it has: {names}")
            yield name, chosen[0]


def _records(item: ExperimentFindings, label: str, names: Sequence[str]) -> RecordsCheck:
    experiment = item.experiment
    outcomes = Counter(run.status for run in experiment.runs)
    ended = {run.replicate for run in experiment.runs if run.status in {"completed", *FAILURES}}
    missing = tuple(replicate for replicate in range(experiment.n_planned) if replicate not in ended)
    is_ours = experiment.folder is not None and not experiment.imported
    if experiment.imported:  # their number is that of their partners, not of a plan
        missing = tuple(run.replicate for run in experiment.runs if run.replicate not in ended)
    reason = ""
    if missing:
        reason = f"{len(missing)} of {experiment.n_planned} runs missing"
    elif not outcomes["completed"]:
        reason = f"none of {len(experiment.runs)} runs completed"
    elif silent := [
        description.metric.name
        for description in item.descriptions
        if description.metric.name in names and not description.n
    ]:
        reason = f"no run has a score of {', '.join(silent)}"
    return RecordsCheck(
        label=label,
        name=experiment.name if is_ours else "",
        n_planned=experiment.n_planned,
        n_runs=len(ended),
        n_completed=outcomes["completed"],
        failed=tuple(
            (status, outcomes[status]) for status in get_args(Status) if status in FAILURES and outcomes[status]
        ),
        missing=missing,
        reason=reason,
    )


def _partners(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Candidates whose runs have the seeds of the baseline's runs with the same replicate."""
    seeds, *candidate_seeds = ({run.replicate: run.seeds for run in experiment.runs} for experiment in experiments)
    return [
        label
        for own_seeds, label in zip(candidate_seeds, labels[1:], strict=True)
        if own_seeds == seeds and all(seeds.values())
    ]


def _labels(findings: Findings) -> list[str]:
    return [findings.pairs[0].baseline, *(pair.candidate for pair in findings.pairs)]


def _warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> Iterator[str]:
    """Warnings about runs that were executed under different conditions, in one experiment or between sides."""
    seen: set[Path] = set()
    for experiment, label in zip(experiments, labels, strict=True):
        place = experiment.folder
        if place is not None and not experiment.imported and place not in seen:
            seen.add(place)
            try:
                misfits = environment_misfits(place)
            except RecordError as error:
                misfits = (error.message,)
            for misfit in misfits:
                yield f"{label}: its runs differ in {misfit}"
    baseline = facts_of(experiments[0])
    for experiment, label in zip(experiments[1:], labels[1:], strict=True):
        apart = not_alike(baseline, facts_of(experiment))
        if apart:
            yield f"{label} ran elsewhere than {labels[0]}, so machines are compared too: {'; '.join(apart)}"


# Baselines to commit: the stored part of an experiment, and a comparison of machines.

FORM = "baseline"
"""The sink of metrics that come from a committed baseline."""
THREADS = "threads per run"
NOT_KEPT = frozenset({*SHOWN_ONLY, PACKAGES, IMPORTED_AS})
"""Facts that are not compared between machines: a digest of packages, and the place of the project."""
MOST_APART = 5
ABSENT = "absent"


def baseline_of(
    experiment: Experiment, options: AnalysisOptions, *, metrics: Sequence[str] = (), margins: Mapping[str, float]
) -> str:
    """Contents of the file to commit.

    Args:
        options: how scores are read; its metric is the primary one.
        metrics: names of those that are kept; by default every quality metric.
        margins: metric to margin, where it departs from what is on record; "" for the primary or only one.

    Raises:
        InputError: runs are missing, a name is none of its metrics, or there is nothing to keep.
    """
    every = [metric.name for metric in experiment.metrics]
    from deviate.stats.judge import judge  # half a second of scipy

    described = judge([experiment], dataclasses.replace(options, compares=False, keeps=tuple(every)))
    descriptions = {description.metric.name: description for description in described.experiments[0].descriptions}
    missing = [run.replicate for run in experiment.runs if run.status in {"lost", "cancelled", "silent"}]
    n_missing = len(missing) + max(0, experiment.n_planned - len(experiment.runs))
    if n_missing and not experiment.imported:
        raise InputError(
            f"{n_missing} of {experiment.n_planned} runs of {experiment.name} are missing",
            f"run them first: deviate resume {experiment.name}",
        )
    for name in (*metrics, *filter(None, margins)):
        if name not in descriptions:
            raise InputError(f"{experiment.name} has no metric {name}", f"it has: {', '.join(descriptions)}")
    saved = [
        description
        for description in descriptions.values()
        if description.metric.name in metrics or (not metrics and description.metric.role == "quality")
    ]
    saved = [description for description in saved if description.n]
    if not saved:
        raise InputError(f"{experiment.name} has no scores to save", "name metrics that its runs report with --metric")
    primary = described.primary if len(saved) > 1 else saved[0].metric.name
    margin_of = {name or primary: margin for name, margin in margins.items()}
    if None in margin_of:
        raise InputError("--margin: the metric is ambiguous", f"write it as --margin {next(iter(descriptions))}=…")
    values = {
        description.metric.name: {score.replicate: score.value for score in description.scores} for description in saved
    }
    git = None if experiment.folder is None or experiment.imported else _commit(experiment.folder)
    return baseline_text(
        Baseline(
            name=experiment.name,
            variant=experiment.variant,
            command=redact_words(experiment.command),
            deviate=__version__,
            date=_day(experiment),
            commit=git[0] if git else "",
            is_dirty=git[1] if git else False,
            environment=common(facts_of(experiment)),
            metrics={
                metric.name: MetricEntry(
                    metric.aggregate,
                    metric.direction,
                    margin_of.get(metric.name, metric.margin),
                    metric.name == primary,
                    metric.role,
                    metric.unit,
                )
                for metric in (description.metric for description in saved)
            },
            runs=tuple(
                BaselineRun(
                    run.replicate,
                    run.status,
                    dict(run.seeds),
                    {name: its[run.replicate] for name, its in values.items() if run.replicate in its},
                )
                for run in experiment.runs
            ),
        )
    )


Facts = Mapping[str, tuple[str, ...]]
"""All levels of each fact in the runs of an experiment."""


def facts_of(experiment: Experiment) -> Facts:
    """Environment facts of the ended runs that affect scores."""
    levels: dict[str, dict[str, None]] = {}
    for run in experiment.runs:
        if run.status not in {"lost", "cancelled"}:
            for name, text in run.environment.items():
                if name not in NOT_KEPT:
                    levels.setdefault(name, {})[text] = None
    if experiment.n_threads is not None:
        levels[THREADS] = {str(experiment.n_threads): None}
    elif experiment.folder is not None and not experiment.imported:
        levels[THREADS] = {"not limited": None}
    return {name: tuple(values) for name, values in levels.items()}


def common(facts: Facts) -> dict[str, str]:
    """Facts that all runs share."""
    return {name: levels[0] for name, levels in facts.items() if len(levels) == 1}


def not_alike(baseline: Facts, candidate: Facts) -> list[str]:
    """Facts that both sides report with different values; an unreported variable was not set."""
    differences: list[str] = []
    for name in sorted({*baseline, *candidate}, key=str.casefold):
        teller = ALWAYS_TOLD if name.startswith(VARIABLE) else name  # it has all variables that are set
        if teller not in baseline or teller not in candidate:
            continue
        before, after = baseline.get(name, (ABSENT,)), candidate.get(name, (ABSENT,))
        if set(before) != set(after):
            differences.append(f"{name}: {' or '.join(before)}, then {' or '.join(after)}")
    more = [f"and {len(differences) - MOST_APART} more"] if len(differences) > MOST_APART else []
    return [*differences[:MOST_APART], *more]


def _commit(place: Path) -> tuple[str, bool] | None:
    git = read_manifest(snapshot_folder(place)).git
    return None if git is None or git.commit is None else (git.commit, git.is_dirty)


def _day(experiment: Experiment) -> str:
    """Date of the last run, so that the file does not depend on when it is written."""
    last = max((run.started for run in experiment.runs), default=0.0)
    return datetime.fromtimestamp(last, UTC).strftime("%Y-%m-%d") if last > 0 else ""

"""Baselines to commit: the stored part of an experiment, and a comparison of machines."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from deviate import __version__, records
from deviate.base import redact_words
from deviate.errors import InputError
from deviate.model import IMPORTED_AS, Experiment
from deviate.records import (
    ALWAYS_TOLD,
    PACKAGES,
    SHOWN_ONLY,
    VARIABLE,
    Baseline,
    BaselineRun,
    MetricEntry,
    baseline_text,
    read_manifest,
)
from deviate.workflows.judge import AnalysisOptions, judge_scores

FORM = "baseline"
"""The sink of metrics that come from a committed baseline."""
THREADS = "threads per run"
NOT_KEPT = frozenset({*SHOWN_ONLY, PACKAGES, IMPORTED_AS})
"""Facts that tell nothing of another machine: a digest of packages, and where the project stood."""
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
    described = judge_scores([experiment], options, compares=False)
    descriptions = {description.metric.name: description for description in described.experiments[0].descriptions}
    missing = [run.replicate for run in experiment.runs if run.status in {"lost", "cancelled", "silent"}]
    n_missing = len(missing) + max(0, experiment.n_planned - len(experiment.runs))
    if n_missing and not experiment.imported:
        raise InputError(
            f"{n_missing} of {experiment.n_planned} runs of {experiment.name} are missing",
            f"carry them out first: deviate resume {experiment.name}",
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
        raise InputError(f"{experiment.name} has no scores to keep", "name metrics that its runs report with --metric")
    primary = described.primary if len(saved) > 1 else saved[0].metric.name
    margin_of = {name or primary: margin for name, margin in margins.items()}
    if None in margin_of:
        raise InputError(
            "--margin: which metric is meant cannot be told", f"write it as --margin {next(iter(descriptions))}=…"
        )
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
            streams=experiment.streams,
            scores=experiment.scores,
        )
    )


Facts = Mapping[str, tuple[str, ...]]
"""Every level at which a fact stood in some run of an experiment."""


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
        if name.startswith(VARIABLE) and not (ALWAYS_TOLD in baseline and ALWAYS_TOLD in candidate):
            continue
        if not name.startswith(VARIABLE) and not (name in baseline and name in candidate):
            continue
        before, after = baseline.get(name, (ABSENT,)), candidate.get(name, (ABSENT,))
        if set(before) != set(after):
            differences.append(f"{name}: {' or '.join(before)}, then {' or '.join(after)}")
    more = [f"and {len(differences) - MOST_APART} more"] if len(differences) > MOST_APART else []
    return [*differences[:MOST_APART], *more]


def _commit(place: Path) -> tuple[str, bool] | None:
    git = read_manifest(records.snapshot_folder(place)).git
    return None if git is None or git.commit is None else (git.commit, git.is_dirty)


def _day(experiment: Experiment) -> str:
    """Date of the last run, so that the file does not depend on when it is written."""
    last = max((run.started for run in experiment.runs), default=0.0)
    return datetime.fromtimestamp(last, UTC).strftime("%Y-%m-%d") if last > 0 else ""

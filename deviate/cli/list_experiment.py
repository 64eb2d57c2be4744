"""The entries of an experiment in `deviate list`, one per variant, made from its records."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deviate.base.redaction import redact_words
from deviate.errors import RecordError
from deviate.model.estimates import Unavailable
from deviate.model.records import search_of
from deviate.records.layout import event_files, log_files
from deviate.records.plans import Plan, read_plan
from deviate.replay.live_estimates import ExperimentScores, Mean
from deviate.replay.states import RecordedRun, RunState, recorded_runs, run_states, rung_of

MOST_BYTES = 8_000_000
"""Means are shown as long as there is no more than this to read for an experiment: about half a second."""


def list_experiment(folder: Path) -> tuple[list[dict[str, Any]], bool]:
    """The entries, and whether they stay the same until a file changes: no attempt is open, and nothing is damaged.

    Damaged runs are stated in the entries, so that others are still listed.

    Raises:
        RecordError: the plan is damaged.
    """
    plan = read_plan(folder)
    rung, runs = rung_of(plan), tuple(recorded_runs(folder))
    try:
        states = run_states(folder, plan, runs)
        scores = None if rung else _scores(folder, runs, states)
        means = {} if scores is None else {mean.variant: mean for mean in _means(scores)}
        n_damaged = sum(bool(run.problem) for run in runs) + (0 if scores is None else len(scores.damaged))
        problem = f"{n_damaged} damaged: see deviate show {plan.name}" if n_damaged else ""
    except RecordError as error:
        states, means, problem = (), {}, error.message
    entries = list(_entries(plan, states, means, problem))
    is_open = any(run.spec is None or any(attempt.result is None for attempt in run.attempts) for run in runs)
    return entries, not problem and not is_open


def _entries(
    plan: Plan, states: Sequence[RunState], means: Mapping[str, Mean], problem: str
) -> Iterator[dict[str, Any]]:
    for variant in plan.variants:
        variant_states = [state for state in states if state.variant == variant.name]
        yield {
            "name": plan.name,
            "variant": variant.name,
            "n_runs": variant.n_runs,
            "n_completed": sum(state.state == "completed" for state in variant_states),
            "n_failed": sum(state.state == "failed" for state in variant_states),
            "n_running": sum(state.state == "running" for state in variant_states),
            "mean": _mean(means[variant.name]) if variant.name in means else None,
            "rung": rung_of(plan) or None,
            "created": plan.created,
            "n_bytes": None,
            "tuned": search_of(plan.imported) or None,
            "command": list(redact_words(plan.command)),
            "problem": problem,
        }


def _scores(folder: Path, runs: Sequence[RecordedRun], states: Sequence[RunState]) -> ExperimentScores | None:
    """The scores of an experiment, if reading them is fast."""
    completed = [state.folder for state in states if state.state == "completed" and state.folder is not None]
    files = (path for attempt in completed for path in (*event_files(attempt), *log_files(attempt)) if path.exists())
    to_read = sum(path.stat().st_size for path in files)
    if not completed or to_read > MOST_BYTES:
        return None
    scores = ExperimentScores(folder)
    scores.read(runs)
    return scores


def _means(scores: ExperimentScores) -> tuple[Mean, ...]:
    """The primary metric of each variant, if there is one."""
    primary = scores.primary()
    return tuple(mean for mean in scores.means(0.95, most=1, has_intervals=False) if mean.metric == primary)


def _mean(mean: Mean) -> dict[str, Any]:
    return {
        "metric": mean.metric,
        "unit": mean.unit,
        "n": mean.n,
        "mean": mean.mean,
        "sd": None if isinstance(mean.sd, Unavailable) else mean.sd,
    }

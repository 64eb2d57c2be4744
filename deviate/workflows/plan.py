"""Planning: the spread of a pilot from records, and the resulting design."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from deviate.errors import InputError
from deviate.model import Design, Pilot, Question, Unavailable
from deviate.workflows.judge import AnalysisOptions, judge_scores
from deviate.workflows.sources import read_any


def pilot(folder: Path, name: str, metric: str | None, *, confidence: float = 0.95) -> Pilot:
    """The spread of one metric of an experiment on record, or in files.

    Raises:
        InputError: there are several experiments, no metric can be told to be meant, or its runs show no spread.
    """
    (experiment, *more_experiments) = read_any(folder, [name])
    if more_experiments:
        choices = ", ".join(choice.name for choice in (experiment, *more_experiments))
        raise InputError(f"{name} holds several experiments: {choices}", f"name one of them: {name}:{experiment.name}")
    findings = judge_scores([experiment], AnalysisOptions(confidence=confidence, metric=metric), compares=False)
    described = [
        description
        for description in findings.experiments[0].descriptions
        if description.metric.name == findings.primary
    ]
    if not described:
        names = ", ".join(description.metric.name for description in findings.experiments[0].descriptions)
        raise InputError(f"which metric of {name} is meant cannot be told", f"name it with --metric: {names}")
    chosen = described[0]
    if isinstance(chosen.sd, Unavailable) or chosen.sd == 0:
        reason = chosen.sd.reason if isinstance(chosen.sd, Unavailable) else chosen.note
        raise InputError(f"{chosen.metric.name} in {name} shows no spread: {reason}", "give a guess with --sd")
    times = [run.wall_time_s for run in experiment.runs if run.status == "completed" and run.wall_time_s > 0]
    return Pilot(
        name=experiment.name,
        metric=chosen.metric.name,
        unit=chosen.metric.unit,
        n=chosen.n,
        sd=chosen.sd,
        interval=chosen.sd_interval,
        wall_time_s=statistics.median(times) if times else None,
    )


def design(question: Question, spread: Pilot | None, numbers: Sequence[int] | None) -> Design:
    """Compute the design; `numbers` are the numbers of runs to report, None for defaults."""
    from deviate import stats  # half a second of scipy, which no verb but those that judge should wait for

    return stats.design(question, spread, numbers or stats.SHOWN_RUNS)

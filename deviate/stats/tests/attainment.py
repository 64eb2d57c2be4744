"""Time to a target: after how many main-loop steps, and seconds, each run had a metric where the user wants it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deviate.model import (
    Attainment,
    AttainmentComparison,
    Direction,
    Estimate,
    Experiment,
    Interval,
    Run,
    SelectedMetric,
    Series,
    Test,
    Unavailable,
)
from deviate.stats.describe import NOT_COUNTED
from deviate.stats.estimates.sample import count
from deviate.stats.estimates.steps import main_loop
from deviate.stats.tests.survival import kaplan_meier, log_rank, survival_median, survival_median_interval

UNTIMED = Unavailable("times are not on record")
EMPTY = Series((), ())


@dataclass(frozen=True, slots=True)
class _Passage:
    """Main-loop steps and seconds (None if not recorded) at which a run reached the target or was censored."""

    replicate: int
    n_steps: int
    seconds: float | None
    is_there: bool


def attainment(experiment: Experiment, metric: SelectedMetric, *, confidence: float = 0.95) -> Attainment | Unavailable:
    """When each run first had a value at or beyond `metric.target` in the direction of the metric.

    Values outside the main loop have no step and do not count. A run that never gets there is censored at the last
    step it reported; so is one that failed, as if it might have got there later.
    """
    target, direction = metric.target, metric.direction
    if target is None:
        return Unavailable("no target was given")
    if direction is None:
        return Unavailable("the metric has no direction: set direction in deviate.toml")
    counted = [run for run in experiment.runs if run.status not in NOT_COUNTED]
    if not counted:
        return Unavailable("no run ended")
    passages = [_passage(run, metric.name, target, direction) for run in counted]
    if not any(passage.n_steps for passage in passages):
        return Unavailable("not reported in the main loop")
    is_there = [passage.is_there for passage in passages]
    seconds = [passage.seconds for passage in passages if passage.seconds is not None]
    is_timed = len(seconds) == len(passages)
    survival = kaplan_meier([passage.n_steps for passage in passages], is_there)
    n = len(passages)
    in_seconds: tuple[Estimate, Interval | Unavailable] = (UNTIMED, UNTIMED)
    if is_timed:
        timed = kaplan_meier(seconds, is_there)
        in_seconds = survival_median(timed), survival_median_interval(timed, n, confidence=confidence)
    return Attainment(
        target=target,
        n_reached=sum(is_there),
        steps=tuple((passage.replicate, passage.n_steps, passage.is_there) for passage in passages),
        seconds=tuple(
            (passage.replicate, time, passage.is_there) for passage, time in zip(passages, seconds, strict=True)
        )
        if is_timed
        else (),
        median_steps=survival_median(survival),
        median_steps_interval=survival_median_interval(survival, n, confidence=confidence),
        median_seconds=in_seconds[0],
        median_seconds_interval=in_seconds[1],
        survival=tuple((int(step), share) for step, share in zip(survival.times, survival.share, strict=True)),
        note=_note(counted, passages),
    )


def compare_attainment(
    baseline: Attainment | Unavailable, candidate: Attainment | Unavailable, *, rng: np.random.Generator
) -> AttainmentComparison | Unavailable:
    """Log-rank tests over steps and over seconds; the statistic is positive where the candidate gets there sooner."""
    if isinstance(baseline, Unavailable):
        return baseline
    if isinstance(candidate, Unavailable):
        return candidate
    if baseline.target != candidate.target:
        return Unavailable(f"the targets differ: {baseline.target:g} and {candidate.target:g}")
    timed: Test | Unavailable = UNTIMED
    over_steps = log_rank(_columns(baseline.steps), _columns(candidate.steps), rng=rng)
    if baseline.seconds and candidate.seconds:
        timed = log_rank(_columns(baseline.seconds), _columns(candidate.seconds), rng=rng)
    notes = [
        f"{side}: {attainment.note}"
        for side, attainment in (("baseline", baseline), ("candidate", candidate))
        if attainment.note
    ]
    return AttainmentComparison(baseline.target, over_steps, timed, note="; ".join(notes))


def _columns(rows: Sequence[tuple[int, float, bool]]) -> tuple[list[float], list[bool]]:
    return [float(time) for _, time, _ in rows], [is_there for _, _, is_there in rows]


def _passage(run: Run, name: str, target: float, direction: Direction) -> _Passage:
    steps, values, times = main_loop(run.series.get(name, EMPTY))
    is_timed = len(times) == len(values)
    if not len(values):
        return _Passage(run.replicate, 0, 0.0, is_there=False)
    beyond = np.flatnonzero(np.isfinite(values) & (values >= target if direction == "max" else values <= target))
    at = int(beyond[0]) if len(beyond) else len(values) - 1
    seconds = float(times[at]) if is_timed and np.isfinite(times[at]) else None
    return _Passage(run.replicate, int(steps[at]) + 1, seconds, is_there=bool(len(beyond)))


def _note(counted: Sequence[Run], passages: Sequence[_Passage]) -> str:
    failed = [
        run.replicate
        for run, passage in zip(counted, passages, strict=True)
        if run.status != "completed" and not passage.is_there
    ]
    if not failed:
        return ""
    which = ", ".join(map(str, failed))
    verb = "is" if len(failed) == 1 else "are"
    return f"{count(len(failed), 'failed run')} (replicate {which}) {verb} taken as not there yet when last seen"

"""Times to a target: Kaplan-Meier curves, their median, the log-rank test by permutation, and each run's time.

A time is right-censored where its event has not happened: the run ended before.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from deviate.model.analysis import Direction
from deviate.model.comparisons import Attainment, AttainmentComparison
from deviate.model.estimates import VERDICT_RUNS, Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Method, Note, Reason, remarks
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, Series
from deviate.stats.describe import NOT_COUNTED
from deviate.stats.estimates.sample import too_few
from deviate.stats.hypothesis.curves import main_loop
from deviate.stats.hypothesis.permutation import arrangements, how, parts

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Survival:
    """Proportion of runs that have not reached the target after each event time, beginning with (0, 1).

    Attributes:
        low, high: pointwise interval of the share at this confidence; NaN where nothing bounds it.
    """

    times: tuple[float, ...]
    share: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    confidence: float


def kaplan_meier(times: Sequence[float], is_reached: Sequence[bool], *, confidence: float = 0.95) -> Survival:
    """Product-limit estimate; a run that is censored at the time of an event is counted as at risk there.

    Source: Kaplan & Meier (1958); Greenwood (1926) and Kalbfleisch & Prentice (1980) for the log-log interval.
    """
    data = scipy.stats.CensoredData.right_censored(times, [not reached for reached in is_reached])
    curve = scipy.stats.ecdf(data).sf
    with warnings.catch_warnings():  # where the share is 1 or 0 the scale ends
        warnings.simplefilter("ignore", RuntimeWarning)
        interval: Any = curve.confidence_interval(confidence, method="log-log")
    is_event = np.isin(curve.quantiles, np.asarray(times, dtype=float)[np.asarray(is_reached, dtype=bool)])
    at, share, low, high = (
        column[is_event].tolist()
        for column in (curve.quantiles, curve.probabilities, interval.low.probabilities, interval.high.probabilities)
    )
    # Nothing bounds a share of 0 from above; from below it is 0.
    low = [0.0 if value == 0 else end for value, end in zip(share, low, strict=True)]
    return Survival((0.0, *at), (1.0, *share), (1.0, *low), (1.0, *high), confidence)


def survival_median(survival: Survival) -> Estimate:
    """Time by which half of the runs are there; the middle of the stretch where the share is exactly one half.

    Source: Kaplan & Meier (1958); the middle as in R's survival (Therneau), which without censoring is the median.
    """
    time = _crossing(survival.times, survival.share)
    return Unavailable(Reason.FEW_REACHED) if time is None else time


def survival_median_interval(survival: Survival, n: int) -> Interval | Unavailable:
    """Times at which a share of one half is not rejected by the estimate, on the log(-log) scale.

    Its upper end is infinite where the runs do not bound it, as with few of them or much censoring.
    Source: Brookmeyer & Crowley (1982); Kalbfleisch & Prentice (1980) for the scale.
    """
    if few := too_few(VERDICT_RUNS, n):
        return few
    if len(survival.times) == 2 and survival.share[-1] == 0:
        return Unavailable(Reason.REACHED_TOGETHER)
    low, high = (_crossing(survival.times, ends) for ends in (survival.low, survival.high))
    if low is None:
        return Unavailable(Reason.FEW_REACHED)
    note = Note.NO_UPPER_END(Reason.FEW_REACHED) if high is None else ""
    return Interval(low, math.inf if high is None else high, survival.confidence, Method.BROOKMEYER_CROWLEY, note)


def log_rank(
    baseline: tuple[Sequence[float], Sequence[bool]],
    candidate: tuple[Sequence[float], Sequence[bool]],
) -> Test | Unavailable:
    """Test of equal times on two sides, each (times, whether the event happened).

    The statistic is the usual one, positive where the candidate is first. The p comes from exchanging runs between the
    sides and recomputing the statistic, because with few runs the normal approximation rejects too often. It is exact
    where both sides are censored alike, and nearly so where they are not, such as runs of different length.
    Source: Mantel (1966), ties included; Neuhaus (1993) for exchanging under unequal censoring; Phipson & Smyth (2010).
    """
    if few := too_few(VERDICT_RUNS, len(baseline[0]), len(candidate[0])):
        return few
    n_a = len(candidate[0])
    # Sorted by time, as the order of runs must not change the permutations.
    runs = [run for side in (candidate, baseline) for run in sorted(zip(*side, strict=True))]
    times = np.asarray([time for time, _ in runs], dtype=float)
    happened = np.asarray([reached for _, reached in runs], dtype=bool)
    if not happened.any():
        return Unavailable(Reason.FEW_REACHED)
    rows, is_exact = arrangements(n_a, len(times) - n_a)
    observed = float(_log_rank_statistics(times, happened, (np.arange(len(times)) < n_a)[None])[0])
    statistics = np.concatenate([_log_rank_statistics(times, happened, part) for part in parts(rows)])
    if not statistics.any():
        return Unavailable(Reason.REACHED_TOGETHER)
    n_as_extreme = int((np.abs(statistics) >= abs(observed) - TOLERANCE * max(1.0, abs(observed))).sum())
    extra = 0 if is_exact else 1  # the observed arrangement is part of a sample
    p_value = (n_as_extreme + extra) / (len(statistics) + extra)
    return Test("log-rank", observed, p_value, note=how(is_exact=is_exact))


def _log_rank_statistics(times: Floats, happened: Flags, rows: Flags) -> Floats:
    """Observed less expected events of one side over the root of its variance, for each way to deal out the runs.

    0 where nothing varies, because the other side is never at risk together with it.
    Source: Mantel (1966), hypergeometric variance.
    """
    at = np.unique(times[happened])
    is_at_risk = (times[:, None] >= at).astype(float)
    n = is_at_risk.sum(axis=0)
    d = ((times[:, None] == at) & happened[:, None]).sum(axis=0)
    members = rows.astype(float)
    expected = members @ is_at_risk
    expected /= n
    per_event = d * (n - d) / np.maximum(n - 1, 1)
    variance = (expected * (1 - expected)) @ per_event
    excess = members @ happened.astype(float) - expected @ d
    is_told = variance > TOLERANCE
    return np.where(is_told, excess / np.sqrt(np.where(is_told, variance, 1.0)), 0.0)


def _crossing(times: Sequence[float], shares: Sequence[float]) -> float | None:
    """The first time at which a decreasing proportion is at most one half; None if never. NaN does not count."""
    below = [index for index, share in enumerate(shares) if share < 0.5 + TOLERANCE]
    if not below:
        return None
    first = below[0]
    if abs(shares[first] - 0.5) < TOLERANCE:
        later = [index for index in below if shares[index] < shares[first] - TOLERANCE]
        if later:
            return (times[first] + times[later[0]]) / 2
    return times[first]


# After how many main-loop steps, and seconds, each run had a metric where the user wants it.

UNTIMED = Unavailable(Reason.NO_TIMES)
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
        return Unavailable(Reason.NO_TARGET)
    if direction is None:
        return Unavailable(Reason.NO_DIRECTION)
    counted = [run for run in experiment.runs if run.status not in NOT_COUNTED]
    if not counted:
        return Unavailable(Reason.NONE_ENDED)
    passages = [_passage(run, metric.name, target, direction) for run in counted]
    if not any(passage.n_steps for passage in passages):
        return Unavailable(Reason.NO_CURVE)
    is_there = [passage.is_there for passage in passages]
    seconds = [passage.seconds for passage in passages if passage.seconds is not None]
    is_timed = len(seconds) == len(passages)
    survival = kaplan_meier([passage.n_steps for passage in passages], is_there, confidence=confidence)
    n = len(passages)
    in_seconds: tuple[Estimate, Interval | Unavailable] = (UNTIMED, UNTIMED)
    if is_timed:
        timed = kaplan_meier(seconds, is_there, confidence=confidence)
        in_seconds = survival_median(timed), survival_median_interval(timed, n)
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
        median_steps_interval=survival_median_interval(survival, n),
        median_seconds=in_seconds[0],
        median_seconds_interval=in_seconds[1],
        survival=tuple((int(step), share) for step, share in zip(survival.times, survival.share, strict=True)),
        note=_note(counted, passages),
    )


def compare_attainment(
    baseline: Attainment | Unavailable, candidate: Attainment | Unavailable
) -> AttainmentComparison | Unavailable:
    """Log-rank tests over steps and over seconds; the statistic is positive where the candidate gets there sooner."""
    if isinstance(baseline, Unavailable):
        return baseline
    if isinstance(candidate, Unavailable):
        return candidate
    if baseline.target != candidate.target:
        return Unavailable(Reason.TARGETS_DIFFER(baseline.target, candidate.target))
    timed: Test | Unavailable = UNTIMED
    over_steps = log_rank(_columns(baseline.steps), _columns(candidate.steps))
    if baseline.seconds and candidate.seconds:
        timed = log_rank(_columns(baseline.seconds), _columns(candidate.seconds))
    sides = (("baseline", baseline.note), ("candidate", candidate.note))
    notes = remarks(*(Note.OF(*side) for side in sides if side[1]))
    return AttainmentComparison(baseline.target, over_steps, timed, note=notes)


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
    failed = tuple(
        run.replicate
        for run, passage in zip(counted, passages, strict=True)
        if run.status != "completed" and not passage.is_there
    )
    return Note.CENSORED(len(failed), failed) if failed else ""

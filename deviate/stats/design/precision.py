"""Precision: a target such as `test_acc ±0.5`, whether it is reached, and the number of runs that it needs.

Runs are added until the t interval of the mean is narrow enough. That rule does not look at the sign of any effect, but
it stops where the spread happens to come out small, so the interval then covers the mean a little less often than it
says. Simulated for normal scores, one run at a time, 20,000 experiments a case, where 5 to 50 runs are needed: a
nominal 95% interval covers in 92 to 95% of cases with at least 5 runs, in 90 to 93% with at least 3, in 93 to 95% with
at least 10.
Source: Anscombe (1953) and Chow & Robbins (1965) for the rule; Starr (1966) for its coverage in small samples.
"""

import math
import re
from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model.design import PrecisionTarget
from deviate.model.estimates import Estimate, Unavailable
from deviate.model.phrases import Note, remarks
from deviate.model.records import Experiment
from deviate.stats.design.power import fewest
from deviate.stats.estimates.one_sample import mean_interval
from deviate.stats.estimates.sample import Values, moments, refusal, spread_refusal
from deviate.stats.estimates.summary import t_quantile
from deviate.stats.registry import statistic

FEWEST = 3
MIN_RUNS = 5
"""Default of the number of runs from which the target can count as reached."""
_TARGET = re.compile(r"\s*(\S.*?)\s*(?:±|\+/-|\+-)\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(%?)\s*")


def parse_target(text: str) -> PrecisionTarget:
    """Parse `METRIC ±WIDTH` or `METRIC ±WIDTH%`; `+-` and `+/-` stand for the sign.

    Raises:
        InputError: it is neither, or the width is not a positive number.
    """
    match = _TARGET.fullmatch(text)
    try:
        half_width = float(match[2]) if match else 0.0
    except ValueError:
        half_width = 0.0
    if match is None or not 0 < half_width < math.inf:
        raise InputError(
            f"The target {text!r} is not a metric with the half-width of its interval.",
            'Write --until "test_acc ±0.5" (in units of the metric) or "test_acc ±1%" (of the mean); +- works as well.',
        )
    return PrecisionTarget(match[1], half_width, bool(match[3]))


@statistic(n_samples=1, minimum=2, shift="ignores", scale="follows")
def half_width(scores: Values, confidence: float = 0.95) -> Estimate:
    """Half-width of the t interval of the mean; without spread or with one run, the reason why there is none.

    Source: Student (1908).
    """
    interval = mean_interval(scores, confidence=confidence)
    return interval if isinstance(interval, Unavailable) else (interval.high - interval.low) / 2


def is_precise_enough(
    scores: Values, target: PrecisionTarget, confidence: float = 0.95, *, min_runs: int = MIN_RUNS
) -> bool:
    """Whether the runs so far are enough; never below `min_runs`, nor below 3.

    Equal scores are enough: they have no interval, as `half_width` says, and more runs are unlikely to change that.
    """
    if len(scores) < max(min_runs, FEWEST) or refusal(FEWEST, scores):
        return False
    if spread_refusal(scores):
        return True
    width = half_width(scores, confidence)
    return not isinstance(width, Unavailable) and width <= _target_width(scores, target)


def forecast(
    scores: Values, target: PrecisionTarget, confidence: float = 0.95, *, min_runs: int = MIN_RUNS
) -> int | Unavailable:
    """Number of runs at which the target is likely to be reached, the present ones included, if the spread stays.

    The SD is taken as known, which is wide with few runs: expect the forecast to move.
    """
    least = max(len(scores), min_runs, FEWEST)
    if reason := refusal(2, scores):
        return reason
    if spread_refusal(scores):
        return least
    wanted, sd = _target_width(scores, target), moments(scores).sd

    def is_enough(n: int) -> bool:
        return t_quantile((1 + confidence) / 2, n - 1) * sd <= wanted * math.sqrt(n)

    return fewest(is_enough, least)


def precision_note(scores: Sequence[float], target: PrecisionTarget, confidence: float) -> str:
    """The note on the metric's description: the rule, the width reached, and the under-coverage."""
    width = half_width(scores, confidence)
    wanted = target.text.rpartition("±")[2]
    if isinstance(width, Unavailable):
        return Note.BY_PRECISION(wanted, Note.WITHOUT_INTERVAL(width.reason))
    got = "reached" if width <= _target_width(scores, target) else Note.NOT_REACHED
    return remarks(Note.BY_PRECISION(wanted, got), Note.UNDER_COVERAGE(confidence))


def target_of(experiment: Experiment) -> PrecisionTarget | None:
    """The recorded target; None if there is none, or this version cannot parse it."""
    try:
        return parse_target(experiment.precision) if experiment.precision else None
    except InputError:
        return None


def _target_width(scores: Values, target: PrecisionTarget) -> float:
    if not target.is_percent:
        return target.half_width
    return abs(moments(scores).mean) * target.half_width / 100

"""Samples of scores: moments, and checks for too few, non-finite or constant values.

A function that needs n, mean and SD alone takes a `Sample`: scores, or a row of a published table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.series.score import LARGEST

Values = Sequence[float]
SMALLEST = 2.0**-1022
"""The smallest normal float."""


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """A sample as tables print it: number of runs, mean and standard deviation (ddof 1; NaN for a single value)."""

    n: int
    mean: float
    sd: float

    @property
    def se(self) -> float:
        return self.sd / math.sqrt(self.n)


Sample = Values | SampleSummary


def moments(values: Sample) -> SampleSummary:
    """Mean and SD of at least one value; the result does not depend on their order. A summary stays as it is.

    `hypot` instead of a sum of squares, as squares of very small or very large scores leave the range of floats.
    """
    if isinstance(values, SampleSummary):
        return values
    n = len(values)
    if min(values) == max(values):
        return SampleSummary(n, float(values[0]), 0.0 if n > 1 else math.nan)
    mean = math.fsum(values) / n
    return SampleSummary(n, mean, math.hypot(*sorted(value - mean for value in values)) / math.sqrt(n - 1))


def pooled_sd(baseline: SampleSummary, candidate: SampleSummary) -> float:
    """Common standard deviation, weighted by degrees of freedom."""
    df = baseline.n + candidate.n - 2
    return math.hypot(
        baseline.sd * math.sqrt((baseline.n - 1) / df),
        candidate.sd * math.sqrt((candidate.n - 1) / df),
    )


def is_constant(values: Values) -> bool:
    """Whether all values are equal."""
    return min(values) == max(values)


def resolution(values: Values) -> float:
    """Smallest meaningful spread of floats of this size: two units in the last place."""
    return max(2 * math.ulp(max(abs(value) for value in values)), 1 / LARGEST)


def too_few(minimum: int, *sizes: int, noun: str = "run") -> Unavailable | None:
    """Why samples of these sizes are too small; None if they are not."""
    if min(sizes) >= minimum:
        return None
    if len(sizes) > 2:
        return Unavailable(Reason.TOO_FEW_IN_ONE(minimum, noun, min(sizes)))
    return Unavailable((Reason.TOO_FEW, Reason.TOO_FEW_EACH)[len(sizes) - 1](minimum, noun, *sizes))


def refusal(minimum: int, *samples: Sample) -> Unavailable | None:
    """Why these samples are not usable with `minimum` runs in each; None if they are."""
    sizes = [sample.n if isinstance(sample, SampleSummary) else len(sample) for sample in samples]
    if few := too_few(minimum, *sizes):
        return few
    return None if all(map(_is_finite, samples)) else Unavailable(Reason.NO_NUMBER)


def _is_finite(sample: Sample) -> bool:
    if isinstance(sample, SampleSummary):
        return abs(sample.mean) <= LARGEST and 0 <= sample.sd <= LARGEST
    return all(abs(value) <= LARGEST for value in sample)


def spread_refusal(*samples: Sample) -> Unavailable | None:
    """Why none of these samples has a spread to scale by; None if at least one has.

    Spread means a range above the floating-point resolution of the largest score. A single score that differs among
    many has a far smaller SD, so the SD of a summary counts from a millionth of that.
    """
    finest = resolution([value for sample in samples for value in _values(sample)])
    if any(_reach(sample) >= finest for sample in samples):
        return None
    constants = [next(iter(_values(sample))) for sample in samples]
    if isinstance(samples[0], SampleSummary):
        if len(samples) == 1:
            return Unavailable(Reason.NO_SPREAD)
    elif not all(is_constant(_values(sample)) for sample in samples):
        return Unavailable(Reason.BELOW_RESOLUTION(finest))
    elif len(samples) == 1:
        return Unavailable(Reason.EQUAL(len(samples[0])))
    return Unavailable(Reason.IDENTICAL if len(set(constants)) == 1 else Reason.CONSTANT_DIFFERENCE)


def one_observation(baseline: Values, candidate: Values) -> Unavailable | None:
    """Why nothing can be tested where all values of a side are one number, which is one observation; None elsewhere."""
    is_one = min(len(baseline), len(candidate)) > 1 and (is_constant(baseline) or is_constant(candidate))
    return ratio_refusal(baseline, candidate) if is_one else None


def _values(sample: Sample) -> Values:
    return (sample.mean,) if isinstance(sample, SampleSummary) else sample


def _reach(sample: Sample) -> float:
    """Range of the scores; what stands for it in a summary."""
    return 2e6 * sample.sd if isinstance(sample, SampleSummary) else max(sample) - min(sample)


def without_spread(minimum: int, *samples: Sample) -> Unavailable | None:
    """Why these samples are too small, not finite or without spread in any of them; None when they can answer."""
    return refusal(minimum, *samples) or spread_refusal(*samples)


def without_ratio(minimum: int, baseline: Sample, candidate: Sample) -> Unavailable | None:
    """The same where both samples need spread."""
    return refusal(minimum, baseline, candidate) or ratio_refusal(baseline, candidate)


def ratio_refusal(baseline: Sample, candidate: Sample) -> Unavailable | None:
    """Why the spreads of two samples have no ratio; None when both have spread."""
    if both := spread_refusal(baseline, candidate):
        return both
    for side, sample in (("baseline", baseline), ("candidate", candidate)):
        if one := spread_refusal(sample):
            return Unavailable(Reason.OF(side, one.reason))
    return None


def pairs_refusal(minimum: int, baseline: Values, candidate: Values) -> Unavailable | None:
    """Why samples whose scores in the same place are pairs are not usable; None if they are."""
    if len(baseline) != len(candidate):
        return Unavailable(Reason.NO_PAIRS(len(baseline), len(candidate)))
    return too_few(minimum, len(baseline), noun="pair") or refusal(minimum, baseline, candidate)


def differences_of(baseline: Values, candidate: Values, minimum: int = 2) -> list[float] | Unavailable:
    """Candidate minus baseline in each pair, both in the same order; or why the differences have no spread.

    Equal differences that differ only by the rounding of the scores have no spread.
    """
    if reason := pairs_refusal(minimum, baseline, candidate):
        return reason
    differences = [after - before for before, after in zip(baseline, candidate, strict=True)]
    if max(map(abs, differences)) == 0:
        return Unavailable(Reason.IDENTICAL)
    if max(differences) - min(differences) < 2 * resolution([*baseline, *candidate]):
        return Unavailable(Reason.CONSTANT_DIFFERENCE)
    return differences


def never_zero(p_value: float) -> float:
    """A p of 0 has underflowed and is replaced by the smallest normal float. A p above 1 is a rounding error."""
    return min(1.0, max(p_value, SMALLEST))

"""Equivalence: two one-sided tests against a margin that was given before; there is no default margin."""

import math

from scipy import special

from deviate.model import Direction, Equivalence, Interval, Test, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stats import summary
from deviate.stats.sample import Summary, Values, differences_of, moments, never_zero, refusal, spread_refusal


def equivalence(
    baseline: Values,
    candidate: Values,
    *,
    margin: float,
    direction: Direction | None = None,
    confidence: float = 0.95,
) -> Equivalence | Unavailable:
    """Welch's t-test against both ends of the margin. Five runs in each.

    Args:
        margin: above 0, in units of the scores.

    Raises:
        ValueError: the margin is not a positive number.
    Source: Schuirmann (1987).
    """
    if reason := refusal(VERDICT_RUNS, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    return of_summaries(
        moments(baseline), moments(candidate), margin=margin, direction=direction, confidence=confidence
    )


def of_summaries(
    baseline: Summary,
    candidate: Summary,
    *,
    margin: float,
    direction: Direction | None = None,
    confidence: float = 0.95,
) -> Equivalence | Unavailable:
    """The same of a published table: numbers of runs, means and SDs.

    Raises:
        ValueError: the margin is not a positive number.
    Source: Schuirmann (1987).
    """
    if reason := summary.refusal(VERDICT_RUNS, baseline, candidate):
        return reason
    se = math.hypot(candidate.se, baseline.se)
    df = summary.welch_df(baseline, candidate)
    return _two_one_sided(candidate.mean - baseline.mean, se, df, "Welch t", margin, direction, confidence)


def paired_equivalence(
    baseline: Values,
    candidate: Values,
    *,
    margin: float,
    direction: Direction | None = None,
    confidence: float = 0.95,
) -> Equivalence | Unavailable:
    """Paired t-test against both ends of the margin. Five pairs.

    Raises:
        ValueError: the margin is not a positive number.
    Source: Schuirmann (1987).
    """
    differences = differences_of(baseline, candidate, VERDICT_RUNS)
    if isinstance(differences, Unavailable):
        return differences
    d = moments(differences)
    return _two_one_sided(d.mean, d.se, d.n - 1, "Paired t", margin, direction, confidence)


def _two_one_sided(
    difference: float,
    se: float,
    df: float,
    name: str,
    margin: float,
    direction: Direction | None,
    confidence: float,
) -> Equivalence:
    if not 0 < margin < math.inf:
        raise ValueError(f"The margin {margin:g} is not a positive number.")
    above = _one_sided(f"{name}, above −margin", (difference + margin) / se, df, is_above=True)
    below = _one_sided(f"{name}, below +margin", (difference - margin) / se, df, is_above=False)
    half_width = summary.t_quantile(confidence, df) * se
    interval = Interval(
        difference - half_width,
        difference + half_width,
        2 * confidence - 1,
        "Welch, two one-sided tests" if name == "Welch t" else "paired t, two one-sided tests",
    )
    # By the bounds and not by p, so that rounding never tells of two answers.
    not_worse = {"max": interval.low > -margin, "min": interval.high < margin, None: None}[direction]
    return Equivalence(margin, above, below, max(above.p_value, below.p_value), interval, not_worse)


def _one_sided(name: str, t: float, df: float, *, is_above: bool) -> Test:
    """P of a t as far on its own side: above -margin to the right, below +margin to the left."""
    p_value = never_zero(float(special.stdtr(df, -t if is_above else t)))
    return Test(name, t, p_value, df, note="one-sided")

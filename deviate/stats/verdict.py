"""The verdict: one word for a comparison, by the first rule that holds, and the reason in a sentence."""

from deviate.model import Description, Estimate, Interval, Unavailable, Verdict, Word, level_text
from deviate.stats.describe import VERDICT_RUNS
from deviate.stats.power import runs_needed
from deviate.stats.sample import count, spread_refusal
from deviate.stats.two_sample import welch_interval


def decide(
    baseline: Description,
    candidate: Description,
    *,
    p_adjusted: Estimate,
    confidence: float,
    level: float | None = None,
) -> Verdict:
    """Judge the candidate in the baseline's direction and margin.

    Args:
        p_adjusted: Welch p after correction for the family of comparisons.
        confidence: its complement is the level of the test.
        level: confidence of the interval, whose complement is the level of the equivalence test too, where it is
            another: at a declared look that of the repeated interval.
    """
    a = [score.value for score in candidate.scores]
    b = [score.value for score in baseline.scores]
    rates = _failure_rates(baseline, candidate)
    if reason := _too_few(baseline, candidate):
        return Verdict("undecided", rates + reason)
    if (no_spread := spread_refusal(b, a)) is not None:
        return _without_spread(no_spread, b, a, rates)
    if min(len(a), len(b)) < VERDICT_RUNS:
        return Verdict("undecided", f"{rates}needs {VERDICT_RUNS} runs in each, has {len(b)} and {len(a)}")
    interval = welch_interval(b, a, confidence=level or confidence)
    inner = welch_interval(b, a, confidence=2 * (level or confidence) - 1)
    if isinstance(interval, Unavailable):
        return Verdict("undecided", rates + interval.reason)
    if isinstance(inner, Unavailable):
        return Verdict("undecided", rates + inner.reason)
    margin = baseline.metric.margin
    if margin is not None and -margin < inner.low and inner.high < margin:
        return Verdict("equivalent", rates + _equivalent(interval, inner, margin))
    excludes_zero = interval.low > 0 or interval.high < 0
    if excludes_zero and not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - confidence:
        return _decided(interval, baseline, rates)
    told = f"the {level_text(interval.confidence)} interval of the difference"
    if excludes_zero:
        reason = f"{told} excludes 0, but p adjusted for the family is not below alpha"
    else:
        reason = f"{told} contains 0"
    return Verdict("undecided", rates + reason + _margin_advice(baseline, b, a, inner, confidence))


def _too_few(baseline: Description, candidate: Description) -> str:
    for side, description in (("baseline", baseline), ("candidate", candidate)):
        if description.n == 0:
            return f"{side}: {description.note}"
    for side, description in (("baseline", baseline), ("candidate", candidate)):
        if description.n == 1:
            return f"{side}: 1 run, spread unknown"
    return ""


def _without_spread(reason: Unavailable, b: list[float], a: list[float], rates: str) -> Verdict:
    if reason.reason == "identical":
        return Verdict("identical", f"{rates}all {len(b)} + {len(a)} values equal")
    if reason.reason.startswith("constant"):
        text = f"constant difference {a[0] - b[0]:.4g} in {len(b)} v {len(a)} runs, no spread observed"
        return Verdict("undecided", rates + text)
    return Verdict("undecided", rates + reason.reason)


def _decided(interval: Interval, baseline: Description, rates: str) -> Verdict:
    rises = interval.low > 0
    direction, margin = baseline.metric.direction, baseline.metric.margin
    word: Word
    if direction is None:
        word = "higher" if rises else "lower"
    else:
        word = "better" if rises == (direction == "max") else "worse"
    reason = (
        f"the {level_text(interval.confidence)} interval of the difference excludes 0, and adjusted p is below alpha"
    )
    if margin is not None and min(abs(interval.low), abs(interval.high)) > margin:
        reason += f"; {word} by more than the margin {margin:g}"
    return Verdict(word, rates + reason)


def _equivalent(interval: Interval, inner: Interval, margin: float) -> str:
    """Two one-sided tests. Source: Schuirmann (1987)."""
    text = f"the {level_text(inner.confidence)} interval of the difference lies within the margin ±{margin:g}"
    if interval.low > 0:
        return text + "; the difference is above 0"
    if interval.high < 0:
        return text + "; the difference is below 0"
    return text


def _margin_advice(baseline: Description, b: list[float], a: list[float], inner: Interval, confidence: float) -> str:
    """What the user's margin says about an undecided comparison; never computed from the observed difference."""
    margin, direction = baseline.metric.margin, baseline.metric.direction
    if margin is None:
        return ""
    needed = runs_needed(margin, b, a, confidence=confidence)
    runs = needed.reason if isinstance(needed, Unavailable) else count(max(needed, VERDICT_RUNS), "run")
    text = f"; {runs} of each would see a difference of the margin {margin:g} at 80% power"
    worst = {"max": inner.low, "min": -inner.high, None: -margin}[direction]
    if worst > -margin:
        text += f"; not worse than by the margin (one-sided {level_text((1 + inner.confidence) / 2)})"
    return text


def _failure_rates(baseline: Description, candidate: Description) -> str:
    """The rates, said first, when they differ."""
    n_b, n_a = len(baseline.missing), len(candidate.missing)
    if n_b * candidate.n_runs == n_a * baseline.n_runs:
        return ""
    return f"runs without a score {n_b}/{baseline.n_runs} (baseline) v {n_a}/{candidate.n_runs} (candidate); "

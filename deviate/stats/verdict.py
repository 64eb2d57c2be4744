"""The verdict: one word for a comparison, by the first rule that holds, and the reason in a sentence."""

from deviate.model import Comparison, Description, Equivalence, Interval, Unavailable, Verdict, Word, level_text
from deviate.model.minimum import PAIRED_RUNS, VERDICT_RUNS
from deviate.stats.paired import match
from deviate.stats.power import pairs_needed, runs_needed
from deviate.stats.sample import count, differences_of, spread_refusal

CONSTANT = "constant difference"


def decide(comparison: Comparison, *, confidence: float) -> Verdict:
    """Judge the candidate in the baseline's direction and margin, by what the comparison holds.

    Its interval may have another level than `confidence`: at a declared look it is the repeated one, whose complement
    is the level of the equivalence test too.

    Args:
        confidence: its complement is the level below which the adjusted p has to be.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    rates = _failure_rates(baseline, candidate)
    if reason := _too_few(baseline, candidate):
        return Verdict("undecided", rates + reason)
    if undecidable := _without_answer(comparison):
        return Verdict(undecidable.word, rates + undecidable.reason)
    interval, equivalence = comparison.difference_interval, comparison.equivalence
    if isinstance(interval, Unavailable):
        return Verdict("undecided", rates + interval.reason)
    if isinstance(equivalence, Equivalence) and _is_equivalent(equivalence):
        return Verdict("equivalent", rates + _equivalent(interval, equivalence) + _sameness(baseline, candidate))
    excludes_zero = interval.low > 0 or interval.high < 0
    p_adjusted = comparison.p_adjusted
    if excludes_zero and not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - confidence:
        return _decided(interval, baseline, rates)
    told = f"the {level_text(interval.confidence)} interval of the difference"
    if excludes_zero:
        reason = f"{told} excludes 0, but p adjusted for the family is not below alpha"
    else:
        reason = f"{told} contains 0{_sameness(baseline, candidate)}"
    return Verdict("undecided", rates + reason + _margin_advice(comparison, confidence))


def _sameness(baseline: Description, candidate: Description) -> str:
    """Scores that are equal pair by pair although they spread: what was changed may not have reached the runs.

    Not "identical", which is a verdict on runs without any spread: these could have differed, for all that is known.
    """
    b, a, _ = match(baseline, candidate)
    if len(b) < len(baseline.scores) or len(a) < len(candidate.scores) or list(b) != list(a):
        return ""
    return f"; both scores of all {len(b)} replicates are equal: does what was changed reach the script?"


def _without_answer(comparison: Comparison) -> Verdict | None:
    """What is said where there is no spread to judge by, or too few runs or pairs; None where there is enough."""
    b = [score.value for score in comparison.baseline.scores]
    a = [score.value for score in comparison.candidate.scores]
    if (no_spread := spread_refusal(b, a)) is not None:
        return _without_spread(no_spread, b, a)
    if not comparison.is_paired:
        if min(len(a), len(b)) < VERDICT_RUNS:
            return Verdict("undecided", f"needs {VERDICT_RUNS} runs in each, has {len(b)} and {len(a)}")
        return None
    b, a, _ = match(comparison.baseline, comparison.candidate)
    if len(b) < PAIRED_RUNS:
        return Verdict("undecided", f"needs {PAIRED_RUNS} pairs, has {len(b)}")
    differences = differences_of(b, a)
    if not isinstance(differences, Unavailable):
        return None
    if differences.reason.startswith(CONSTANT):
        text = f"{CONSTANT} {a[0] - b[0]:.4g} in {count(len(b), 'pair')}, no spread of the differences observed"
        return Verdict("undecided", text)
    if differences.reason == "identical":
        return Verdict("identical", f"both values of all {len(b)} pairs equal")
    return Verdict("undecided", differences.reason)


def _too_few(baseline: Description, candidate: Description) -> str:
    for side, description in (("baseline", baseline), ("candidate", candidate)):
        if description.n == 0:
            return f"{side}: {description.note}"
    for side, description in (("baseline", baseline), ("candidate", candidate)):
        if description.n == 1:
            return f"{side}: 1 run, spread unknown"
    return ""


def _without_spread(reason: Unavailable, b: list[float], a: list[float]) -> Verdict:
    if reason.reason == "identical":
        return Verdict("identical", f"all {len(b)} + {len(a)} values equal")
    if reason.reason.startswith("constant"):
        return Verdict("undecided", f"{CONSTANT} {a[0] - b[0]:.4g} in {len(b)} v {len(a)} runs, no spread observed")
    return Verdict("undecided", reason.reason)


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


def _is_equivalent(equivalence: Equivalence) -> bool:
    return -equivalence.margin < equivalence.interval.low and equivalence.interval.high < equivalence.margin


def _equivalent(interval: Interval, equivalence: Equivalence) -> str:
    """Two one-sided tests. Source: Schuirmann (1987)."""
    level = level_text(equivalence.interval.confidence)
    text = f"the {level} interval of the difference lies within the margin ±{equivalence.margin:g}"
    if interval.low > 0:
        return text + "; the difference is above 0"
    if interval.high < 0:
        return text + "; the difference is below 0"
    return text


def _margin_advice(comparison: Comparison, confidence: float) -> str:
    """What the user's margin says about an undecided comparison; never computed from the observed difference."""
    equivalence = comparison.equivalence
    if not isinstance(equivalence, Equivalence):
        return ""
    margin = equivalence.margin
    if comparison.is_paired:
        b, a, _ = match(comparison.baseline, comparison.candidate)
        pairs = pairs_needed(margin, b, a, confidence=confidence)
        needed = pairs.reason if isinstance(pairs, Unavailable) else count(max(pairs, PAIRED_RUNS), "pair")
    else:
        b = [score.value for score in comparison.baseline.scores]
        a = [score.value for score in comparison.candidate.scores]
        runs = runs_needed(margin, b, a, confidence=confidence)
        needed = runs.reason if isinstance(runs, Unavailable) else f"{count(max(runs, VERDICT_RUNS), 'run')} of each"
    text = f"; {needed} would see a difference of the margin {margin:g} at 80% power"
    if equivalence.is_not_worse:
        text += f"; not worse than by the margin (one-sided {level_text((1 + equivalence.interval.confidence) / 2)})"
    return text


def _failure_rates(baseline: Description, candidate: Description) -> str:
    """The rates, said first, when they differ."""
    n_b, n_a = len(baseline.missing), len(candidate.missing)
    if n_b * candidate.n_runs == n_a * baseline.n_runs:
        return ""
    return f"runs without a score {n_b}/{baseline.n_runs} (baseline) v {n_a}/{candidate.n_runs} (candidate); "

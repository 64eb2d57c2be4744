"""The verdict: one word for a comparison, by the first rule that applies, and the reason in a sentence."""

from dataclasses import replace

from deviate.model.comparisons import Comparison, Description, Equivalence, Verdict, Word
from deviate.model.estimates import (
    PAIRED_ALONE_RUNS,
    PAIRED_RUNS,
    VERDICT_RUNS,
    Interval,
    Reason,
    Test,
    Unavailable,
    level_text,
)
from deviate.model.texts import count
from deviate.stats.design.power import runs_needed
from deviate.stats.estimates.sample import differences_of, spread_refusal
from deviate.stats.hypothesis.both import NEAR, p_of
from deviate.stats.hypothesis.failures import failure_bound, n_failed
from deviate.stats.hypothesis.paired import match
from deviate.stats.hypothesis.two_tests import smallest_p

SIDES = ("the baseline", "the candidate")
UNEQUAL = 2.0
"""Ratio of the numbers of runs from which it is mentioned if the two tests disagree."""


def decide(
    comparison: Comparison,
    *,
    confidence: float,
    n_family: int = 1,
    has_looks: bool = False,
    names: tuple[str, str] = SIDES,
) -> Verdict:
    """Judge the candidate in the baseline's direction and margin, by what the comparison holds.

    Its interval may have another level than `confidence`: at a declared look it is the repeated one, whose complement
    is the level of the equivalence test too.

    Args:
        confidence: its complement is the level below which the adjusted p has to be.
        n_family: comparisons that p is adjusted over. has_looks: whether looks were declared.
        names: of baseline and candidate, as sentences call them.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    rates = _failure_rates(baseline, candidate, names)
    if reason := _too_few(baseline, candidate):
        return Verdict("undecided", rates + reason)
    if undecidable := _without_answer(comparison, is_alone=n_family == 1 and not has_looks):
        return Verdict(undecidable.word, rates + undecidable.reason)
    interval, equivalence = comparison.difference_interval, comparison.equivalence
    if isinstance(interval, Unavailable):
        return Verdict("undecided", rates + interval.reason)
    if isinstance(equivalence, Equivalence) and equivalence.is_within:
        if unfair := unfair_loss(comparison, "equivalent", confidence, names):
            return Verdict("undecided", unfair)
        sentence = _equivalent(interval, equivalence) + _sameness(baseline, candidate)
        return Verdict("equivalent", rates + sentence + no_failure(candidate))
    excludes_zero = interval.low > 0 or interval.high < 0
    p_adjusted, p_upper = comparison.p_adjusted, comparison.p_upper
    if excludes_zero and not isinstance(p_upper, Unavailable) and p_upper < 1 - confidence:
        is_adjusted = n_family > 1 or has_looks
        return _decide_side(comparison, interval, rates, confidence, is_adjusted=is_adjusted, names=names)
    sentence = f"the {level_text(interval.confidence)} interval of the difference"
    more = ""
    if not excludes_zero:
        more = f"{_disagreement(comparison, interval)}{_sameness(baseline, candidate)}"
        reason = f"{sentence} contains 0{more}"
    elif not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - confidence:
        reason = f"{sentence} excludes 0, but {NEAR}"
    else:
        reason = f"{sentence} excludes 0, but p adjusted for the family is not below alpha"
        reason += _least_of_family(comparison, n_family, confidence)
    advice = _margin_advice(comparison, confidence, n_family, has_looks=has_looks)
    return Verdict("undecided", rates + reason + advice, is_plain=not excludes_zero and not rates and not more)


def needed_pairs(*, is_alone: bool) -> int:
    """Pairs that a verdict needs: fewer if there is a single comparison and no declared look."""
    return PAIRED_ALONE_RUNS if is_alone else PAIRED_RUNS


def no_failure(description: Description) -> str:
    """The bound of the failure rate if no run failed; empty otherwise, as the rates are then stated."""
    if n_failed(description):
        return ""
    return f"; no failure in {count(description.n_runs, 'run')}: {failure_bound(description.n_runs)}"


def _disagreement(comparison: Comparison, interval: Interval) -> str:
    """A sentence with both p-values if only one test rejects, with the measured property that may explain it."""
    t_test, permutation = comparison.both_tests
    if isinstance(t_test, Unavailable) or isinstance(permutation, Unavailable):
        return ""
    alpha = 1 - interval.confidence
    if (t_test.p_value < alpha) == (permutation.p_value < alpha):
        return ""
    name = "paired t" if comparison.is_paired else "Welch"
    other = "sign flips" if comparison.is_paired else "permutation"
    clause = f"; the two tests disagree: {name} p {_p(t_test)}, {other} p {_p(permutation)}"
    causes = [_far(side) for side in (comparison.baseline, comparison.candidate)]
    n_b, n_a = comparison.baseline.n, comparison.candidate.n
    if not comparison.is_paired and max(n_b, n_a) >= UNEQUAL * min(n_b, n_a):
        causes.append(f"{n_b} against {n_a} runs")
    causes = [cause for cause in causes if cause]
    return f"{clause} ({', '.join(causes)})" if causes else clause


def _p(test: Test) -> str:
    return "< .001" if test.p_value < 0.001 else f"= {f'{test.p_value:.3f}'.removeprefix('0')}"


def _far(description: Description) -> str:
    """The sentence `2 of 40 runs lie far below the rest`; empty if none does."""
    median = description.median
    if not description.outliers or isinstance(median, Unavailable):
        return ""
    far = [score.value for score in description.scores if score.replicate in description.outliers]
    where = "below" if max(far) < median else "above" if min(far) > median else "from"
    verb = "lies" if len(far) == 1 else "lie"
    return f"{len(far)} of {count(description.n, 'run')} {verb} far {where} the rest"


def _least_of_family(comparison: Comparison, n_family: int, confidence: float) -> str:
    """A sentence on the smallest possible p if it rules out a verdict in a family of this size."""
    if comparison.is_paired:
        n_b = n_a = len(match(comparison.baseline, comparison.candidate)[0])
        runs = count(n_b, "pair")
    else:
        n_b, n_a = comparison.baseline.n, comparison.candidate.n
        runs = f"{n_b} v {n_a} runs"
    least = smallest_p(n_b, n_a, is_paired=comparison.is_paired)
    if n_family * least < 1 - confidence:
        return ""
    return f": the smallest possible p of {runs} is {p_of(least)}, in a family of {n_family}"


def _sameness(baseline: Description, candidate: Description) -> str:
    """A sentence if scores are equal pair by pair although they spread: the change may not have reached the runs.

    Not "identical", which is a verdict on runs without any spread: these could have differed.
    """
    b, a, _ = match(baseline, candidate)
    if len(b) < len(baseline.scores) or len(a) < len(candidate.scores) or list(b) != list(a):
        return ""
    return f"; both scores of all {len(b)} replicates are equal: does the change reach the script?"


def _without_answer(comparison: Comparison, *, is_alone: bool) -> Verdict | None:
    """What is said where there is no spread to judge by, or too few runs or pairs; None where there is enough."""
    b, a = comparison.baseline.values, comparison.candidate.values
    if (no_spread := spread_refusal(b, a)) is not None:
        return _without_spread(no_spread, b, a)
    if not comparison.is_paired:
        if min(len(a), len(b)) < VERDICT_RUNS:
            return Verdict("undecided", f"needs {VERDICT_RUNS} runs in each, has {len(b)} and {len(a)}")
        return None
    b, a, _ = match(comparison.baseline, comparison.candidate)
    if len(b) < (needed := needed_pairs(is_alone=is_alone)):
        return Verdict("undecided", f"needs {needed} pairs, has {len(b)}")
    differences = differences_of(b, a)
    if not isinstance(differences, Unavailable):
        return None
    if differences.kind is Reason.CONSTANT_DIFFERENCE:
        text = (
            f"constant difference {a[0] - b[0]:.4g} in {count(len(b), 'pair')}, no spread of the differences observed"
        )
        return Verdict("undecided", text)
    if differences.kind is Reason.IDENTICAL:
        return Verdict("identical", f"the values of all {len(b)} pairs are equal")
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
    if reason.kind is Reason.IDENTICAL:
        return Verdict("identical", f"all {len(b)} + {len(a)} values equal")
    if reason.kind is Reason.CONSTANT_DIFFERENCE:
        difference = f"{a[0] - b[0]:.4g} in {len(b)} v {len(a)} runs"
        return Verdict("undecided", f"constant difference {difference}, no spread observed")
    return Verdict("undecided", reason.reason)


def _decide_side(
    comparison: Comparison,
    interval: Interval,
    rates: str,
    confidence: float,
    *,
    is_adjusted: bool,
    names: tuple[str, str],
) -> Verdict:
    baseline = comparison.baseline
    rises = interval.low > 0
    direction, margin = baseline.metric.direction, baseline.metric.margin
    word: Word
    if direction is None:
        word = "higher" if rises else "lower"
    else:
        word = "better" if rises == (direction == "max") else "worse"
        if unfair := unfair_loss(comparison, word, confidence, names):
            return Verdict("undecided", unfair)
    p_name = "adjusted p" if is_adjusted else "p"
    reason = f"the {level_text(interval.confidence)} interval of the difference excludes 0, and {p_name} is below alpha"
    if margin is not None and min(abs(interval.low), abs(interval.high)) > margin:
        reason += f"; {word} by more than the margin {margin:g}"
    typical = comparison.superiority
    if not isinstance(typical, Unavailable) and typical != 0.5 and (typical > 0.5) != rises:
        reason += "; the means and the typical run disagree in direction"
    return Verdict(word, rates + reason)


def _fails_more(one: Description, other: Description) -> bool:
    """Whether a larger proportion of the runs of one side failed."""
    return n_failed(one) * other.n_runs > n_failed(other) * one.n_runs


def _is_confirmed(comparison: Comparison, *, is_better: bool, level: float) -> bool:
    """Whether the worst-rank analysis over all runs says the same direction."""
    test = comparison.worst_rank
    if isinstance(test, Unavailable) or test.p_value >= 1 - level:
        return False
    n_b, n_a = (description.n + n_failed(description) for description in (comparison.baseline, comparison.candidate))
    is_higher = test.statistic > n_b * n_a / 2
    return is_higher == (is_better == (comparison.metric.direction == "max"))


def unfair_loss(comparison: Comparison, word: str, confidence: float, names: tuple[str, str] = SIDES) -> str:
    """Why a word does not hold because a side owes it to its failed runs; empty if it holds.

    The better side has to fail no more often, or the worst-rank analysis over all runs to say the same. For
    "equivalent" and "not worse" the better side is the candidate, which the word lets pass.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    winner, loser = (baseline, candidate) if word == "worse" else (candidate, baseline)
    if not _fails_more(winner, loser) or _is_confirmed(comparison, is_better=word != "worse", level=confidence):
        return ""
    numbers = n_failed(baseline), n_failed(candidate)
    return f"{word} among completed runs, but {_shares(baseline, candidate, numbers, names)} failed"


def without_unfair(comparison: Comparison, confidence: float, names: tuple[str, str]) -> Comparison:
    """The comparison without the statement on its margin where that is owed to failed runs."""
    equivalence = comparison.equivalence
    if not isinstance(equivalence, Equivalence):
        return comparison
    words = [
        word
        for word, holds in (("equivalent", equivalence.is_within), ("not worse", equivalence.is_not_worse))
        if holds
    ]
    reasons = filter(None, (unfair_loss(comparison, word, confidence, names) for word in words))
    unfair = next(reasons, "")
    return replace(comparison, equivalence=Unavailable(unfair)) if unfair else comparison


def _equivalent(interval: Interval, equivalence: Equivalence) -> str:
    """Two one-sided tests. Source: Schuirmann (1987)."""
    level = level_text(equivalence.interval.confidence)
    text = f"the {level} interval of the difference lies within the margin ±{equivalence.margin:g}"
    if interval.low > 0:
        return text + "; the difference is above 0"
    if interval.high < 0:
        return text + "; the difference is below 0"
    return text


def _margin_advice(comparison: Comparison, confidence: float, n_family: int, *, has_looks: bool) -> str:
    """Advice from the user's margin on an undecided comparison; never computed from the observed difference."""
    equivalence = comparison.equivalence
    if not isinstance(equivalence, Equivalence):
        return ""
    margin, more = equivalence.margin, ""
    if comparison.is_paired:
        b, a, _ = match(comparison.baseline, comparison.candidate)
        pairs = runs_needed(margin, b, a, confidence=confidence, is_paired=True)
        least = needed_pairs(is_alone=n_family == 1 and not has_looks)
        needed = pairs.reason if isinstance(pairs, Unavailable) else count(max(pairs, least), "pair")
    else:
        runs = runs_needed(margin, comparison.baseline.values, comparison.candidate.values, confidence=confidence)
        needed = runs.reason if isinstance(runs, Unavailable) else f"{count(max(runs, VERDICT_RUNS), 'run')} of each"
        more = "" if isinstance(runs, Unavailable) else _more_runs(max(runs, VERDICT_RUNS), comparison)
    text = f"; {needed} would detect a difference of the margin {margin:g} at 80% power{more}"
    if equivalence.is_not_worse and not unfair_loss(comparison, "not worse", confidence):
        text += f"; not worse than by the margin (one-sided {level_text((1 + equivalence.interval.confidence) / 2)})"
        text += no_failure(comparison.candidate)
    return text


def _more_runs(runs: int, comparison: Comparison) -> str:
    """` (27 more of the baseline, 29 more of the candidate)`, in runs with a score; empty where none is missing."""
    sides = (("baseline", comparison.baseline), ("candidate", comparison.candidate))
    parts = [f"{runs - side.n} more of the {word}" for word, side in sides if side.n < runs]
    return f" ({', '.join(parts)})" if parts else ""


def _failure_rates(baseline: Description, candidate: Description, names: tuple[str, str]) -> str:
    """A sentence on the failure rates, placed first, if they differ."""
    n_b, n_a = len(baseline.missing), len(candidate.missing)
    if n_b * candidate.n_runs == n_a * baseline.n_runs:
        return ""
    return f"{_shares(baseline, candidate, (n_b, n_a), names)} have no score; "


def _shares(baseline: Description, candidate: Description, numbers: tuple[int, int], names: tuple[str, str]) -> str:
    """`2 of 10 runs of new and 0 of 10 of base`; `numbers` and `names` have the baseline first."""
    (n_b, n_a), (before, after) = numbers, names
    return f"{n_a} of {count(candidate.n_runs, 'run')} of {after} and {n_b} of {baseline.n_runs} of {before}"

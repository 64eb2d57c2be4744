"""The verdict: one word for a comparison, by the first rule that applies."""

from dataclasses import replace

from deviate.model.comparisons import NOT_WORSE, Comparison, Description, Equivalence, Ground, Verdict, Word
from deviate.model.estimates import PAIRED_ALONE_RUNS, PAIRED_RUNS, VERDICT_RUNS, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.design.power import runs_needed
from deviate.stats.estimates.sample import differences_of, refusal, spread_refusal
from deviate.stats.hypothesis.two_tests import smallest_p
from deviate.stats.scores import deciding_scores, n_failed


def decide(comparison: Comparison, *, confidence: float, n_family: int = 1, has_looks: bool = False) -> Verdict:
    """Judge the candidate in the baseline's direction and margin, by what the comparison holds.

    Its interval may have another level than `confidence`: at a declared look it is the repeated one, whose complement
    is the level of the equivalence test too.

    Args:
        confidence: its complement is the level below which the adjusted p has to be.
        n_family: comparisons that p is adjusted over. has_looks: whether looks were declared.
    """
    is_alone, alpha = n_family == 1 and not has_looks, 1 - confidence
    verdict = Verdict("undecided", Ground.RUNS, n_family=n_family, is_adjusted=not is_alone)
    if min(comparison.baseline.n, comparison.candidate.n) < 2:
        return verdict
    if refused := _refuse(comparison, is_alone=is_alone):
        word: Word = "identical" if refused.kind is Reason.IDENTICAL else "undecided"
        return replace(verdict, word=word, ground=Ground.REFUSED, refusal=refused)
    interval, equivalence = comparison.difference_interval, comparison.equivalence
    if isinstance(interval, Unavailable):
        return replace(verdict, ground=Ground.REFUSED, refusal=interval)
    if isinstance(equivalence, Equivalence) and equivalence.is_within:
        return _if_fair(replace(verdict, word="equivalent", ground=Ground.EQUIVALENT), comparison, confidence)
    excludes_zero = interval.low > 0 or interval.high < 0
    p_adjusted, p_upper = comparison.p_adjusted, comparison.p_upper
    if excludes_zero and not isinstance(p_upper, Unavailable) and p_upper < alpha:
        word = _word(comparison.metric.direction, rises=interval.low > 0)
        return _if_fair(replace(verdict, word=word, ground=Ground.DECIDED), comparison, confidence)
    ground, least = Ground.CONTAINS_ZERO, None
    if excludes_zero:
        is_near = not isinstance(p_adjusted, Unavailable) and p_adjusted < alpha
        ground = Ground.NEAR if is_near else Ground.FAMILY
        b, a = deciding_scores(comparison)
        least = smallest_p(len(b), len(a), is_paired=comparison.is_paired)
    return replace(
        verdict,
        ground=ground,
        needed=count_needed(comparison, confidence, is_alone=is_alone)
        if isinstance(equivalence, Equivalence)
        else verdict.needed,
        smallest_p=least if least is not None and n_family * least >= alpha else None,
    )


def _refuse(comparison: Comparison, *, is_alone: bool) -> Unavailable | None:
    """Why there is nothing to judge by: no spread, or too few runs or pairs; None where there is enough."""
    b, a = comparison.baseline.values, comparison.candidate.values
    if no_spread := spread_refusal(b, a):
        return no_spread
    if not comparison.is_paired:
        return refusal(VERDICT_RUNS, b, a)
    differences = differences_of(*deciding_scores(comparison), needed_pairs(is_alone=is_alone))
    return differences if isinstance(differences, Unavailable) else None


def _word(direction: str | None, *, rises: bool) -> Word:
    if direction is None:
        return "higher" if rises else "lower"
    return "better" if rises == (direction == "max") else "worse"


def needed_pairs(*, is_alone: bool) -> int:
    """Pairs that a verdict needs: fewer if there is a single comparison and no declared look."""
    return PAIRED_ALONE_RUNS if is_alone else PAIRED_RUNS


def count_needed(comparison: Comparison, confidence: float, *, is_alone: bool) -> int | Unavailable:
    """Runs of each side, or pairs, that would detect a difference of the margin; never computed from the observed one.

    Source: noncentral t, as in `runs_needed`.
    """
    b, a = deciding_scores(comparison)
    needed = runs_needed(comparison.metric.margin or 0.0, b, a, confidence=confidence, is_paired=comparison.is_paired)
    least = needed_pairs(is_alone=is_alone) if comparison.is_paired else VERDICT_RUNS
    return needed if isinstance(needed, Unavailable) else max(needed, least)


def _if_fair(verdict: Verdict, comparison: Comparison, confidence: float) -> Verdict:
    """The verdict, unless a side owes it to its failed runs; higher and lower say of none that it is the better one."""
    unfair = None if verdict.word in ("higher", "lower") else unfair_loss(comparison, verdict.word, confidence)
    return verdict if unfair is None else replace(verdict, word="undecided", ground=Ground.UNFAIR, refusal=unfair)


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


def unfair_loss(comparison: Comparison, word: str, confidence: float) -> Unavailable | None:
    """Why a word does not hold because a side owes it to its failed runs; None if it holds.

    The better side has to fail no more often, or the worst-rank analysis over all runs to say the same. For
    "equivalent" and "not worse" the better side is the candidate, which the word lets pass.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    winner, loser = (baseline, candidate) if word == "worse" else (candidate, baseline)
    if not _fails_more(winner, loser) or _is_confirmed(comparison, is_better=word != "worse", level=confidence):
        return None
    before, after = comparison.names
    shares = n_failed(candidate), candidate.n_runs, after, n_failed(baseline), baseline.n_runs, before
    return Unavailable(Reason.UNFAIR(word, *shares))


def without_unfair(comparison: Comparison, confidence: float) -> Comparison:
    """The comparison without the statement on its margin where that is owed to failed runs."""
    equivalence = comparison.equivalence
    if not isinstance(equivalence, Equivalence):
        return comparison
    claims = (("equivalent", equivalence.is_within), (NOT_WORSE, equivalence.is_not_worse))
    losses = (unfair_loss(comparison, word, confidence) for word, holds in claims if holds)
    return replace(comparison, equivalence=next(filter(None, losses), equivalence))

"""Why a verdict was given, in a sentence: the words for each rule, from the figures of the comparison."""

from collections.abc import Iterator

from deviate.model.comparisons import Comparison, Description, Equivalence, Ground
from deviate.model.estimates import MANY_RESAMPLES, NOT_ASKED, Interval, Unavailable, level_text
from deviate.model.margin import MARGIN_AFTER
from deviate.model.phrases import Reason
from deviate.model.texts import count
from deviate.report.format import p_text
from deviate.stats.estimates.sample import spread_refusal
from deviate.stats.scores import deciding_scores, failure_bound, match, n_failed

NEAR = f"p is too close to alpha for {MANY_RESAMPLES:,} arrangements"
UNEQUAL = 2.0
"""Ratio of the numbers of runs from which it is mentioned if the two tests disagree."""


def verdict_reason(comparison: Comparison) -> str:
    """The rule that gave the verdict, in a sentence; failure rates stand first, if they differ."""
    verdict = comparison.verdict
    look = "" if verdict.look is None else "look {} of {}: ".format(*verdict.look)
    late = f"; {MARGIN_AFTER}" if verdict.is_margin_late else ""
    if verdict.ground in (Ground.UNFAIR, Ground.WITHHELD):
        return f"{look}{verdict.refusal.reason}{late}"
    return f"{look}{_failure_rates(comparison)}{'; '.join(_clauses(comparison))}{late}"


def is_plainly_open(comparison: Comparison) -> bool:
    """Whether a verdict is undecided for no other reason than an interval that contains 0."""
    verdict = comparison.verdict
    is_open = verdict.ground is Ground.CONTAINS_ZERO and verdict.look is None
    return is_open and not _failure_rates(comparison) and not [*_disagreement(comparison), *_sameness(comparison)]


def _clauses(comparison: Comparison) -> Iterator[str]:
    verdict, interval, margin = comparison.verdict, comparison.difference_interval, comparison.metric.margin
    if verdict.ground is Ground.RUNS:
        yield _too_few(comparison)
        return
    if verdict.ground is Ground.REFUSED or isinstance(interval, Unavailable):
        yield _refused(comparison)
        return
    equivalence = comparison.equivalence
    subject = f"the {level_text(interval.confidence)} interval of the difference"
    match verdict.ground:
        case Ground.EQUIVALENT if isinstance(equivalence, Equivalence):
            level = level_text(equivalence.interval.confidence)
            yield f"the {level} interval of the difference lies within the margin ±{equivalence.margin:g}"
            if interval.low > 0 or interval.high < 0:
                yield f"the difference is {'above' if interval.low > 0 else 'below'} 0"
            yield from _sameness(comparison)
            yield from no_failure(comparison.candidate)
            return
        case Ground.DECIDED:
            yield f"{subject} excludes 0, and {_below_alpha(comparison, 1 - interval.confidence)}"
            if margin is not None and min(abs(interval.low), abs(interval.high)) > margin:
                yield f"{verdict.word} by more than the margin {margin:g}"
            typical = comparison.superiority
            if not isinstance(typical, Unavailable) and typical != 0.5 and (typical > 0.5) != (interval.low > 0):
                yield "the means and the typical run disagree in direction"
            return
        case Ground.CONTAINS_ZERO:
            yield f"{subject} contains 0"
            yield from _disagreement(comparison)
            yield from _sameness(comparison)
        case Ground.NEAR:
            yield f"{subject} excludes 0, but {NEAR}"
        case _:
            known = "" if isinstance(comparison.p_adjusted, Unavailable) else f", {p_text(comparison.p_adjusted)},"
            not_below = f"p adjusted for the family{known} is not below alpha{_smallest_p(comparison)}"
            yield f"{subject} excludes 0, but {not_below}"
    yield from _advice(comparison)


def _below_alpha(comparison: Comparison, alpha: float) -> str:
    """`p = 0.031 < 0.05`, `adjusted p < 0.001`."""
    p, adjusted = comparison.p_adjusted, "adjusted " if comparison.verdict.is_adjusted else ""
    if isinstance(p, Unavailable) or comparison.verdict.look is not None:  # which has an alpha of its own
        return f"{adjusted}p is below alpha"
    text = p_text(p)
    return f"{adjusted}{text}{f' < {alpha:.3g}' if '=' in text else ''}"


def _too_few(comparison: Comparison) -> str:
    sides = (("baseline", comparison.baseline), ("candidate", comparison.candidate))
    side, description = min(sides, key=lambda item: item[1].n)
    return f"{side}: 1 run, spread unknown" if description.n else f"{side}: {description.note}"


def _refused(comparison: Comparison) -> str:
    refusal = comparison.verdict.refusal
    if refusal.kind is Reason.CONSTANT_DIFFERENCE:
        return constant_difference(comparison)
    if refusal.kind is not Reason.IDENTICAL:
        return refusal.reason
    if spread_refusal(comparison.baseline.values, comparison.candidate.values):
        return f"all {comparison.baseline.n} + {comparison.candidate.n} values equal"
    return f"the values of all {len(deciding_scores(comparison)[0])} pairs are equal"


def constant_difference(comparison: Comparison) -> str:
    """`constant difference 0.1 in 5 v 5 runs, no spread observed`: of two sides, or pairs, that show one number."""
    b, a = deciding_scores(comparison)
    sides = comparison.baseline.values, comparison.candidate.values
    if spread_refusal(*sides):
        return f"constant difference {sides[1][0] - sides[0][0]:.4g} in {runs_of(comparison)}, no spread observed"
    return f"constant difference {a[0] - b[0]:.4g} in {count(len(b), 'pair')}, no spread of the differences observed"


def runs_of(comparison: Comparison) -> str:
    return f"{comparison.baseline.n} v {comparison.candidate.n} runs"


def no_failure(description: Description) -> Iterator[str]:
    """The bound of the failure rate if no run failed; nothing otherwise, as the rates are then stated."""
    if not n_failed(description):
        bound = f"the failure rate may be as high as {failure_bound(description.n_runs):.0%}"
        yield f"no failure in {count(description.n_runs, 'run')}: {bound}"


def _disagreement(comparison: Comparison) -> Iterator[str]:
    """Both p-values if only one test rejects, with the measured property that may explain it."""
    t_test, permutation = comparison.both_tests
    interval, (n_b, n_a) = comparison.difference_interval, (comparison.baseline.n, comparison.candidate.n)
    if isinstance(t_test, Unavailable) or isinstance(permutation, Unavailable) or not isinstance(interval, Interval):
        return
    alpha = 1 - interval.confidence
    if (t_test.p_value < alpha) == (permutation.p_value < alpha):
        return
    names = ("paired t", "sign flips") if comparison.is_paired else ("Welch", "permutation")
    p_values = (f"{name} {p_text(test.p_value)}" for name, test in zip(names, (t_test, permutation), strict=True))
    causes = [cause for side in (comparison.baseline, comparison.candidate) for cause in _far(side)]
    if not comparison.is_paired and max(n_b, n_a) >= UNEQUAL * min(n_b, n_a):
        causes.append(f"{n_b} against {n_a} runs")
    reasons = f" ({', '.join(causes)})" if causes else ""
    yield f"the two tests disagree: {', '.join(p_values)}{reasons}"


def _far(description: Description) -> Iterator[str]:
    """`2 of 40 runs lie far below the rest`; nothing if none does."""
    median = description.median
    if not description.outliers or isinstance(median, Unavailable):
        return
    far = [score.value for score in description.scores if score.replicate in description.outliers]
    where = "below" if max(far) < median else "above" if min(far) > median else "from"
    verb = "lies" if len(far) == 1 else "lie"
    yield f"{len(far)} of {count(description.n, 'run')} {verb} far {where} the rest"


def _smallest_p(comparison: Comparison) -> str:
    """The smallest possible p if it rules out a verdict in a family of this size."""
    verdict = comparison.verdict
    if verdict.smallest_p is None:
        return ""
    pairs = count(len(deciding_scores(comparison)[0]), "pair")
    runs, least = pairs if comparison.is_paired else runs_of(comparison), f"{verdict.smallest_p:.2g}"
    return f": the smallest possible p of {runs} is {least}, in a family of {verdict.n_family}"


def _sameness(comparison: Comparison) -> Iterator[str]:
    """Whether scores are equal pair by pair although they spread: the change may not have reached the runs.

    Not "identical", which is a verdict on runs without any spread: these could have differed.
    """
    b, a, unpaired = match(comparison.baseline, comparison.candidate)
    if not unpaired and b == a:
        yield f"both scores of all {len(b)} replicates are equal: does the change reach the script?"


def _advice(comparison: Comparison) -> Iterator[str]:
    """What the margin asks for, and what holds beside a verdict that is open."""
    needed, equivalence = comparison.verdict.needed, comparison.equivalence
    margin = comparison.metric.margin
    if margin is None or needed == NOT_ASKED:
        return
    runs = needed.reason if isinstance(needed, Unavailable) else f"{count(needed, 'run')} of each"
    if comparison.is_paired and isinstance(needed, int):
        runs = count(needed, "pair")
    yield f"{runs} would detect a difference of the margin {margin:g} at 80% power{_more_runs(comparison)}"
    if isinstance(equivalence, Equivalence) and equivalence.is_not_worse:
        yield f"not worse than by the margin (one-sided {level_text((1 + equivalence.interval.confidence) / 2)})"
        yield from no_failure(comparison.candidate)


def _more_runs(comparison: Comparison) -> str:
    """` (27 more of the baseline, 29 more of the candidate)`, in runs with a score; empty where none is missing."""
    needed = comparison.verdict.needed
    if isinstance(needed, Unavailable) or comparison.is_paired:
        return ""
    sides = (("baseline", comparison.baseline), ("candidate", comparison.candidate))
    parts = [f"{needed - side.n} more of the {word}" for word, side in sides if side.n < needed]
    return f" ({', '.join(parts)})" if parts else ""


def _failure_rates(comparison: Comparison) -> str:
    """Failure rates, placed first, if they differ."""
    baseline, candidate = comparison.baseline, comparison.candidate
    n_b, n_a, (before, after) = len(baseline.missing), len(candidate.missing), comparison.names
    if n_b * candidate.n_runs == n_a * baseline.n_runs:
        return ""
    runs = count(candidate.n_runs, "run")
    return f"{n_a} of {runs} of {after} and {n_b} of {baseline.n_runs} of {before} have no score; "

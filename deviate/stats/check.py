"""The rule of `check`: a candidate is worse than the margin, or not worse, only where a test shows it."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deviate.model.analysis import Direction
from deviate.model.check import CheckOutcome, CompletionCheck, ControlCheck, MetricCheck
from deviate.model.comparisons import Comparison, CompletionComparison
from deviate.model.estimates import (
    PAIRED_ALONE_RUNS,
    VERDICT_RUNS,
    Estimate,
    Interval,
    Reason,
    Test,
    Unavailable,
    level_text,
)
from deviate.model.findings import PairFindings
from deviate.model.records import Experiment
from deviate.model.texts import count
from deviate.series.repeatability import equal_words, repeatability, where
from deviate.stats.compare import deciding_scores
from deviate.stats.design.power import runs_needed
from deviate.stats.estimates.sample import Values
from deviate.stats.hypothesis.both import NEAR, ask_fit, including, interval_of_both, unfit
from deviate.stats.hypothesis.two_tests import Side
from deviate.stats.multiple.pairs import holm
from deviate.stats.verdict import needed_pairs, no_failure, unfair_loss

TOO_FEW = "needs {needed}, has {n}: with fewer a check is always undecided"


@dataclass(frozen=True, slots=True)
class Weighed:
    """A difference tested against a margin. All differences are candidate minus baseline.

    Attributes:
        interval: two-sided, at the level that was asked for. bound: one-sided at the same level. Both hold all values
            that not both tests reject.
        p_value: the larger p of both tests that it differs from the margin on the worse side: below alpha where the
            whole interval lies beyond the margin. p_upper: with the Monte-Carlo error, which decides.
        is_beyond: whether it is below alpha. is_within: whether the bound is on the good side of the margin.
    """

    interval: Interval
    bound: float
    p_value: float
    p_upper: float
    is_beyond: bool
    is_within: bool


def weigh(
    baseline: Values,
    candidate: Values,
    *,
    direction: Direction,
    margin: float = 0.0,
    confidence: float = 0.95,
    is_paired: bool = False,
) -> Weighed | Unavailable:
    """Weigh the scores of two sides by both tests, as the verdict of a report does.

    Args:
        margin: by how much worse is still all right, in units of the scores; 0 asks whether it is worse at all.

    Raises:
        ValueError: the margin is negative or no number.
    Source: Welch (1947); Student (1908); Chung & Romano (2013); one side of Schuirmann (1987) for the bound.
    """
    if not 0 <= margin < math.inf:
        raise ValueError(f"The margin must be 0 or positive, not {margin:g}.")
    if reason := unfit(PAIRED_ALONE_RUNS if is_paired else VERDICT_RUNS, baseline, candidate, is_paired=is_paired):
        return reason
    null = -margin if direction == "max" else margin
    better: Side = "above" if direction == "max" else "below"
    interval = interval_of_both(baseline, candidate, confidence=confidence, is_paired=is_paired)
    bounds = interval_of_both(baseline, candidate, confidence=2 * confidence - 1, side=better, is_paired=is_paired)
    if isinstance(interval, Unavailable):
        return interval
    if isinstance(bounds, Unavailable):
        return bounds
    worse = ask_fit(baseline, candidate, null=null, confidence=confidence, is_paired=is_paired)
    within = ask_fit(baseline, candidate, null=null, side=better, confidence=confidence, is_paired=is_paired)
    is_shown, is_within = worse.p_upper < 1 - confidence, within.p_upper < 1 - confidence
    interval = interval if is_shown else including(interval, null)
    bounds = bounds if is_within else including(bounds, null)
    bound = bounds.low if direction == "max" else bounds.high
    is_on_worse_side = (worse.sign < 0) == (direction == "max")
    return Weighed(
        interval=interval,
        bound=bound,
        p_value=worse.p if is_on_worse_side else 1.0,
        p_upper=worse.p_upper if is_on_worse_side else 1.0,
        is_beyond=is_shown and (interval.high < null if direction == "max" else interval.low > null),
        is_within=is_within and (bound > null if direction == "max" else bound < null),
    )


def check_metrics(
    pairs: Sequence[PairFindings], names: Sequence[str], *, confidence: float, partners: Collection[str] = ()
) -> tuple[MetricCheck, ...]:
    """Judge the named metrics of the baseline in every candidate.

    Holm's correction over all of them guards the word worse, for one false alarm is enough to stop a candidate. The
    word passed needs none: a gate opens only if every metric passes, which is an intersection-union test.

    Args:
        partners: labels of candidates whose runs had the seeds of the baseline's, replicate by replicate. If each of
            them scores exactly what its partner does, nothing has changed, which no interval could show.

    Raises:
        ValueError: a named metric has no direction.
    Source: Holm (1979); Berger (1982) for the intersection-union test.
    """
    checked = [
        (pair, comparison) for pair in pairs for comparison in pair.comparisons if comparison.metric.name in names
    ]
    answers = [
        _weigh(comparison, confidence, has_partners=pair.candidate in partners, n_family=len(checked))
        for pair, comparison in checked
    ]
    p_values = holm([answer if isinstance(answer, Unavailable) else answer.p_value for answer in answers])
    p_upper = holm([answer if isinstance(answer, Unavailable) else answer.p_upper for answer in answers])
    checks = []
    for (pair, comparison), weighed, p_adjusted, most in zip(checked, answers, p_values, p_upper, strict=True):
        outcome, reason = _outcome(comparison, weighed, p_adjusted, most, len(checked), confidence)
        level = confidence if isinstance(weighed, Unavailable) else weighed.interval.confidence
        is_alone = len(checked) == 1 and level == confidence
        checks.append(
            MetricCheck(
                baseline=pair.baseline,
                candidate=pair.candidate,
                comparison=comparison,
                margin=comparison.metric.margin or 0.0,
                outcome=outcome,
                reason=reason,
                bound=weighed if isinstance(weighed, Unavailable) else weighed.bound,
                bound_confidence=level,
                p_adjusted=p_adjusted,
                n_family=len(checked),
                needed=_count_needed(comparison, level, is_alone=is_alone),
            )
        )
    return tuple(checks)


def check_completion(pairs: Sequence[PairFindings], *, confidence: float) -> tuple[CompletionCheck, ...]:
    """Judge for every candidate whether fewer of its runs completed; Holm over the candidates.

    Source: Boschloo (1970); Holm (1979).
    """
    p_values: list[Estimate] = []
    for pair in pairs:
        compared = pair.completion
        test = compared if isinstance(compared, Unavailable) else compared.test
        p_values.append(test if isinstance(test, Unavailable) else test.p_value)
    checks = []
    for pair, p_adjusted in zip(pairs, holm(p_values), strict=True):
        outcome, reason = _completion_outcome(pair.completion, p_adjusted, confidence)
        checks.append(CompletionCheck(pair.baseline, pair.candidate, pair.completion, outcome, reason, p_adjusted))
    return tuple(checks)


def check_control(name: str, experiment: Experiment | None) -> ControlCheck:
    """Whether the runs of a control variant are bitwise equal; None where there is no such variant."""
    if experiment is None:
        return ControlCheck(name, "absent", "there is no control variant: add control to --variants", None)
    proof = repeatability(experiment)
    if proof.is_equal is None:
        reason = f"needs 2 completed runs, has {proof.n}"
        if proof.n > 1:
            reason = f"its {proof.n} runs reported no quality metric and no weights"
        return ControlCheck(name, "absent", reason, proof)
    if proof.is_equal:
        return ControlCheck(name, "intact", f"identical, {equal_words(proof)}", proof)
    return ControlCheck(name, "broken", f"{where(proof)}, although everything was held", proof)


def _weigh(comparison: Comparison, confidence: float, *, has_partners: bool, n_family: int) -> Weighed | Unavailable:
    """Test the scores at the level of the comparison, at a declared look that of the repeated interval."""
    direction = comparison.metric.direction
    if direction is None:
        raise ValueError(f"The metric {comparison.metric.name} has no direction.")
    interval = comparison.difference_interval
    level = interval.confidence if isinstance(interval, Interval) else confidence
    if too_few := _too_few(comparison, is_alone=n_family == 1 and level == confidence):
        return Unavailable(too_few)
    if has_partners and comparison.baseline.scores == comparison.candidate.scores:
        return Unavailable.because(Reason.UNCHANGED)
    if comparison.verdict.word == "withheld":
        return Unavailable(comparison.verdict.reason)
    if isinstance(interval, Unavailable):  # at an early look even the smallest p of few runs may exceed the level
        return interval
    b, a = deciding_scores(comparison)
    return weigh(
        b,
        a,
        direction=direction,
        margin=comparison.metric.margin or 0.0,
        confidence=level,
        is_paired=comparison.is_paired,
    )


def _too_few(comparison: Comparison, *, is_alone: bool) -> str:
    b, a = deciding_scores(comparison)
    if comparison.is_paired and len(b) < (needed := needed_pairs(is_alone=is_alone)):
        return TOO_FEW.format(needed=count(needed, "pair"), n=len(b))
    if not comparison.is_paired and min(len(b), len(a)) < VERDICT_RUNS:
        return TOO_FEW.format(needed=f"{count(VERDICT_RUNS, 'run')} in each", n=f"{len(b)} and {len(a)}")
    return ""


def _outcome(
    comparison: Comparison,
    weighed: Weighed | Unavailable,
    p_adjusted: Estimate,
    p_upper: Estimate,
    n_family: int,
    confidence: float,
) -> tuple[CheckOutcome, str]:
    if isinstance(weighed, Unavailable):
        return _outcome_untested(comparison, weighed, confidence)
    margin = comparison.metric.margin or 0.0
    level = weighed.interval.confidence
    worse = "beyond the margin" if margin else "on the worse side of 0"
    if weighed.is_beyond:
        if not isinstance(p_upper, Unavailable) and p_upper < 1 - level:
            if unfair := unfair_loss(comparison, "worse", level):
                return "undecided", unfair
            return "worse", f"the whole {level_text(level)} interval of the difference lies {worse}"
        if not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - level:
            return "undecided", f"the interval lies {worse}, but {NEAR}"
        questions = count(n_family, "question")
        return "undecided", f"the interval lies {worse}, but p adjusted for {questions} is not below alpha"
    if weighed.is_within:
        word = "not worse" if margin else "better"
        if unfair := unfair_loss(comparison, word, level):
            return "undecided", unfair
        reason = f"better: the one-sided {level_text(level)} bound is on the better side of 0"
        if margin:
            reason = f"not worse by more than the margin: the one-sided {level_text(level)} bound is within it"
        return "passed", f"{reason}{no_failure(comparison.candidate)}"
    if margin:
        return "undecided", "shown neither to be worse by more than the margin nor to be within it"
    return "undecided", "not shown to be worse; without a margin, only a better candidate passes"


def _outcome_untested(comparison: Comparison, answer: Unavailable, confidence: float) -> tuple[CheckOutcome, str]:
    if answer.kind is Reason.IDENTICAL:
        return "passed", comparison.verdict.reason
    if answer.kind is Reason.UNCHANGED:
        return (
            "passed",
            f"{answer.reason}: all {comparison.baseline.n} runs have the scores of those with the same seeds",
        )
    if answer.kind is Reason.CONSTANT_DIFFERENCE:
        return _outcome_without_spread(comparison, confidence)
    return "undecided", answer.reason


def _outcome_without_spread(comparison: Comparison, confidence: float) -> tuple[CheckOutcome, str]:
    """The outcome by sign and margin, if each side, or all pairs, show one number and there is nothing to test."""
    b, a = deciding_scores(comparison)
    difference, margin = a[0] - b[0], comparison.metric.margin or 0.0
    gain = difference if comparison.metric.direction == "max" else -difference
    word = "worse" if gain < -margin else "not worse" if margin else "better"
    if unfair := unfair_loss(comparison, word, confidence):
        return "undecided", unfair
    runs = count(len(b), "pair") if comparison.is_paired else f"{len(b)} v {len(a)} runs"
    reason = f"constant difference {difference:.4g} in {runs}, no spread observed"
    if word == "worse":
        return "worse", f"{reason}: {'beyond the margin' if margin else 'on the worse side of 0'}"
    within = "not worse by more than the margin" if margin else "on the better side of 0"
    return "passed", f"{reason}: {within}{no_failure(comparison.candidate)}"


def _count_needed(comparison: Comparison, level: float, *, is_alone: bool) -> int | Unavailable:
    """Runs needed, from the power of the one-sided bound for a true difference of 0, never of the observed one.

    Source: noncentral t, as in `runs_needed`.
    """
    margin = comparison.metric.margin
    if not margin:
        return Unavailable("no margin was given")
    b, a = deciding_scores(comparison)
    two_sided = 2 * level - 1
    needed = runs_needed(margin, b, a, confidence=two_sided, is_paired=comparison.is_paired)
    least = needed_pairs(is_alone=is_alone) if comparison.is_paired else VERDICT_RUNS
    return needed if isinstance(needed, Unavailable) else max(needed, least)


def _completion_outcome(
    completion: CompletionComparison | Unavailable, p_adjusted: Estimate, confidence: float
) -> tuple[CheckOutcome, str]:
    if isinstance(completion, Unavailable):
        return "undecided", completion.reason
    difference, test = completion.difference, completion.test
    if isinstance(difference, Unavailable):
        return "undecided", difference.reason
    if difference >= 0:
        return "passed", "at least as large a share of its runs completed"
    if min(completion.baseline.n_runs, completion.candidate.n_runs) < VERDICT_RUNS:
        sizes = f"{completion.baseline.n_runs} and {completion.candidate.n_runs}"
        return "undecided", TOO_FEW.format(needed=f"{count(VERDICT_RUNS, 'run')} in each", n=sizes)
    if isinstance(test, Test) and not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - confidence:
        return "worse", f"fewer of its runs completed ({test.name}'s exact test)"
    return "undecided", "fewer of its runs completed; with these numbers of runs, this may be chance"

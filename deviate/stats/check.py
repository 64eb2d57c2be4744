"""The rule of `check`: a candidate is worse than the margin, or not worse, only where a test shows it."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deviate.model.analysis import Direction
from deviate.model.check import CheckGround, CheckOutcome, CompletionCheck, ControlCheck, ControlOutcome, MetricCheck
from deviate.model.comparisons import NOT_WORSE, Comparison, CompletionComparison
from deviate.model.estimates import NOT_ASKED, PAIRED_ALONE_RUNS, VERDICT_RUNS, Estimate, Interval, Unavailable
from deviate.model.findings import PairFindings
from deviate.model.phrases import Reason
from deviate.model.records import Experiment
from deviate.series.repeatability import repeatability
from deviate.stats.estimates.sample import Values, too_few
from deviate.stats.hypothesis.both import ask_fit, including, interval_of_both, unfit
from deviate.stats.hypothesis.two_tests import Side
from deviate.stats.multiple.pairs import holm
from deviate.stats.scores import deciding_scores
from deviate.stats.verdict import count_needed, needed_pairs, unfair_loss

NO_MARGIN = Unavailable(Reason.NO_MARGIN)
CLAIMS = {CheckGround.BEYOND, CheckGround.WITHIN, CheckGround.CONSTANT}
"""Grounds on which one side is said to be better, which it may owe to its failed runs."""


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
        level = confidence if isinstance(weighed, Unavailable) else weighed.interval.confidence
        outcome, ground = (
            _judge_untested(comparison, weighed.kind)
            if isinstance(weighed, Unavailable)
            else _judge_weighed(weighed, p_adjusted, most)
        )
        claim = "worse" if outcome == "worse" else NOT_WORSE if comparison.metric.margin else "better"
        is_claim = outcome != "undecided" and ground in CLAIMS
        unfair = unfair_loss(comparison, claim, level) if is_claim else None
        checks.append(
            MetricCheck(
                baseline=pair.baseline,
                candidate=pair.candidate,
                comparison=comparison,
                margin=comparison.metric.margin or 0.0,
                outcome="undecided" if unfair else outcome,
                bound=weighed if isinstance(weighed, Unavailable) else weighed.bound,
                bound_confidence=level,
                p_adjusted=p_adjusted,
                n_family=len(checked),
                # The power of the one-sided bound for a true difference of 0.
                needed=count_needed(comparison, 2 * level - 1, is_alone=len(checked) == 1 and level == confidence)
                if comparison.metric.margin
                else NO_MARGIN,
                ground=CheckGround.UNFAIR if unfair else ground,
                unfair=unfair or NOT_ASKED,
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
    return tuple(
        CompletionCheck(
            pair.baseline,
            pair.candidate,
            pair.completion,
            _judge_completion(pair.completion, p_adjusted, confidence),
            p_adjusted,
        )
        for pair, p_adjusted in zip(pairs, holm(p_values), strict=True)
    )


def check_control(name: str, experiment: Experiment | None) -> ControlCheck:
    """Whether the runs of a control variant are bitwise equal; None where there is no such variant."""
    if experiment is None:
        return ControlCheck(name, "absent", None)
    proof = repeatability(experiment)
    outcome: ControlOutcome = "absent" if proof.is_equal is None else "intact" if proof.is_equal else "broken"
    return ControlCheck(name, outcome, proof)


def _weigh(comparison: Comparison, confidence: float, *, has_partners: bool, n_family: int) -> Weighed | Unavailable:
    """Test the scores at the level of the comparison, at a declared look that of the repeated interval."""
    direction = comparison.metric.direction
    if direction is None:
        raise ValueError(f"The metric {comparison.metric.name} has no direction.")
    interval = comparison.difference_interval
    level = interval.confidence if isinstance(interval, Interval) else confidence
    b, a = deciding_scores(comparison)
    pairs = needed_pairs(is_alone=n_family == 1 and level == confidence)
    few = too_few(pairs, len(b), noun="pair") if comparison.is_paired else too_few(VERDICT_RUNS, len(b), len(a))
    if few is not None:
        return few
    if has_partners and comparison.baseline.scores == comparison.candidate.scores:
        return Unavailable(Reason.UNCHANGED)
    if comparison.verdict.word == "withheld":
        return comparison.verdict.refusal
    if isinstance(interval, Unavailable):  # at an early look even the smallest p of few runs may exceed the level
        return interval
    return weigh(
        b,
        a,
        direction=direction,
        margin=comparison.metric.margin or 0.0,
        confidence=level,
        is_paired=comparison.is_paired,
    )


def _judge_weighed(weighed: Weighed, p_adjusted: Estimate, p_upper: Estimate) -> tuple[CheckOutcome, CheckGround]:
    alpha = 1 - weighed.interval.confidence
    if weighed.is_beyond:
        if not isinstance(p_upper, Unavailable) and p_upper < alpha:
            return "worse", CheckGround.BEYOND
        is_near = not isinstance(p_adjusted, Unavailable) and p_adjusted < alpha
        return "undecided", CheckGround.NEAR if is_near else CheckGround.FAMILY
    return ("passed", CheckGround.WITHIN) if weighed.is_within else ("undecided", CheckGround.OPEN)


def _judge_untested(comparison: Comparison, kind: str | None) -> tuple[CheckOutcome, CheckGround]:
    """The outcome where there is nothing to test; of a constant difference, by sign and margin."""
    if kind in (Reason.IDENTICAL, Reason.UNCHANGED):
        return "passed", CheckGround.UNTESTED
    if kind is not Reason.CONSTANT_DIFFERENCE:
        return "undecided", CheckGround.UNTESTED
    b, a = deciding_scores(comparison)
    gain = a[0] - b[0] if comparison.metric.direction == "max" else b[0] - a[0]
    return "worse" if gain < -(comparison.metric.margin or 0.0) else "passed", CheckGround.CONSTANT


def _judge_completion(
    completion: CompletionComparison | Unavailable, p_adjusted: Estimate, confidence: float
) -> CheckOutcome:
    if isinstance(completion, Unavailable) or isinstance(completion.difference, Unavailable):
        return "undecided"
    if completion.difference >= 0:
        return "passed"
    is_enough = min(completion.baseline.n_runs, completion.candidate.n_runs) >= VERDICT_RUNS
    is_shown = not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - confidence
    return "worse" if is_enough and is_shown else "undecided"

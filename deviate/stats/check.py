"""The rule of `check`: worse by more than a margin only where that is shown, not worse only where that is, too."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scipy import special

from deviate.model import (
    Comparison,
    CompletionComparison,
    Direction,
    Estimate,
    Experiment,
    Interval,
    PairFindings,
    Test,
    Unavailable,
    level_text,
)
from deviate.model.check import (
    CheckOutcome,
    CompletionCheck,
    ControlCheck,
    MetricCheck,
)
from deviate.model.minimum import PAIRED_RUNS, VERDICT_RUNS
from deviate.stats import summary
from deviate.stats.family import holm
from deviate.stats.notes import equal_words, where
from deviate.stats.paired import match
from deviate.stats.power import detectable_paired_effect, fewest, runs_for_effect
from deviate.stats.proof import repeatability
from deviate.stats.sample import Values, count, differences_of, moments, never_zero, pooled_sd, refusal, spread_refusal

TOO_FEW = "needs {needed}, has {found}: with fewer a check is always undecided"
SAME = "nothing has changed"


@dataclass(frozen=True, slots=True)
class Weighed:
    """A difference weighed against a margin. All differences are candidate minus baseline.

    Attributes:
        interval: two-sided, at the level that was asked for. bound: one-sided at the same level.
        p_value: of the test that it is worse by more than the margin, doubled: below alpha where the whole interval
            lies beyond the margin.
        is_beyond: whether it does. is_within: whether the bound is on the good side of the margin.
    """

    interval: Interval
    bound: float
    p_value: float
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
    """Weigh the scores of two sides, by Welch's t or the paired t, as the verdict of a report does.

    Args:
        margin: by how much worse is still all right, in units of the scores; 0 asks whether it is worse at all.

    Raises:
        ValueError: the margin is negative or no number.
    Source: Welch (1947); Student (1908); one side of Schuirmann (1987) for the bound.
    """
    if not 0 <= margin < math.inf:
        raise ValueError(f"The margin {margin:g} is no margin.")
    if is_paired:
        differences = differences_of(baseline, candidate, PAIRED_RUNS)
        if isinstance(differences, Unavailable):
            return differences
        d = moments(differences)
        difference, se, df, method = d.mean, d.se, d.n - 1.0, "paired t"
    else:
        if reason := refusal(VERDICT_RUNS, baseline, candidate) or spread_refusal(baseline, candidate):
            return reason
        b, a = moments(baseline), moments(candidate)
        difference, se = a.mean - b.mean, math.hypot(a.se, b.se)
        df, method = summary.welch_df(b, a), "Welch"
    half = summary.t_quantile((1 + confidence) / 2, df) * se
    one_sided = summary.t_quantile(confidence, df) * se
    interval = Interval(difference - half, difference + half, confidence, method)
    sign = 1.0 if direction == "max" else -1.0
    gain = sign * difference
    return Weighed(
        interval=interval,
        bound=sign * (gain - one_sided),
        p_value=never_zero(2 * float(special.stdtr(df, (gain + margin) / se))),
        is_beyond=gain + half < -margin,
        is_within=gain - one_sided > -margin,
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
    asked = [(pair, it) for pair in pairs for it in pair.comparisons if it.metric.name in names]
    weighed = [_weighed(comparison, confidence, has_partners=pair.candidate in partners) for pair, comparison in asked]
    p_values: list[Estimate] = [it if isinstance(it, Unavailable) else it.p_value for it in weighed]
    return tuple(
        _metric_check(pair, comparison, it, p_adjusted, len(asked), confidence)
        for (pair, comparison), it, p_adjusted in zip(asked, weighed, holm(p_values), strict=True)
    )


def check_completion(pairs: Sequence[PairFindings], *, confidence: float) -> tuple[CompletionCheck, ...]:
    """Judge for every candidate whether fewer of its runs completed; Holm over the candidates.

    Source: Boschloo (1970); Holm (1979).
    """
    p_values: list[Estimate] = []
    for pair in pairs:
        it = pair.completion
        test = it if isinstance(it, Unavailable) else it.test
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
        reason = f"2 completed runs could be compared, there {'is' if proof.n == 1 else 'are'} {proof.n}"
        if proof.n > 1:
            reason = f"its {proof.n} runs reported no quality metric and no weights"
        return ControlCheck(name, "absent", reason, proof)
    if proof.is_equal:
        return ControlCheck(name, "intact", f"identical, {equal_words(proof)}", proof)
    return ControlCheck(name, "broken", f"{where(proof)}, though everything was held", proof)


def _weighed(comparison: Comparison, confidence: float, *, has_partners: bool) -> Weighed | Unavailable:
    """The scores at the level of the comparison, which at a declared look is that of the repeated interval."""
    direction = comparison.metric.direction
    if direction is None:
        raise ValueError(f"The metric {comparison.metric.name} has no direction.")
    if too_few := _too_few(comparison):
        return Unavailable(too_few)
    if has_partners and comparison.baseline.scores == comparison.candidate.scores:
        return Unavailable(SAME)
    if comparison.verdict.word == "withheld":
        return Unavailable(comparison.verdict.reason)
    interval = comparison.difference_interval
    level = interval.confidence if isinstance(interval, Interval) else confidence
    b, a = _scores(comparison)
    return weigh(
        b,
        a,
        direction=direction,
        margin=comparison.metric.margin or 0.0,
        confidence=level,
        is_paired=comparison.is_paired,
    )


def _scores(comparison: Comparison) -> tuple[list[float], list[float]]:
    if comparison.is_paired:
        b, a, _ = match(comparison.baseline, comparison.candidate)
        return b, a
    return [it.value for it in comparison.baseline.scores], [it.value for it in comparison.candidate.scores]


def _too_few(comparison: Comparison) -> str:
    b, a = _scores(comparison)
    if comparison.is_paired and len(b) < PAIRED_RUNS:
        return TOO_FEW.format(needed=count(PAIRED_RUNS, "pair"), found=len(b))
    if not comparison.is_paired and min(len(b), len(a)) < VERDICT_RUNS:
        return TOO_FEW.format(needed=f"{count(VERDICT_RUNS, 'run')} in each", found=f"{len(b)} and {len(a)}")
    return ""


def _metric_check(
    pair: PairFindings,
    comparison: Comparison,
    weighed: Weighed | Unavailable,
    p_adjusted: Estimate,
    n_family: int,
    confidence: float,
) -> MetricCheck:
    outcome, reason = _outcome(comparison, weighed, p_adjusted, n_family)
    level = confidence if isinstance(weighed, Unavailable) else weighed.interval.confidence
    return MetricCheck(
        baseline=pair.baseline,
        candidate=pair.candidate,
        comparison=comparison,
        margin=comparison.metric.margin or 0.0,
        outcome=outcome,
        reason=reason,
        bound=weighed if isinstance(weighed, Unavailable) else weighed.bound,
        bound_confidence=level,
        p_adjusted=p_adjusted,
        n_family=n_family,
        needed=_needed(comparison, level),
    )


def _outcome(
    comparison: Comparison, weighed: Weighed | Unavailable, p_adjusted: Estimate, n_family: int
) -> tuple[CheckOutcome, str]:
    if isinstance(weighed, Unavailable):
        if weighed.reason == "identical":
            return "passed", comparison.verdict.reason
        if weighed.reason == SAME:
            return "passed", f"{SAME}: all {comparison.baseline.n} runs score what those with their seeds do"
        return "undecided", weighed.reason
    margin = comparison.metric.margin or 0.0
    level = weighed.interval.confidence
    worse = "beyond the margin" if margin else "on the worse side of 0"
    if weighed.is_beyond:
        if not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - level:
            return "worse", f"the whole {level_text(level)} interval of the difference lies {worse}"
        asked = count(n_family, "question")
        return "undecided", f"the interval lies {worse}, but p adjusted for {asked} is not below alpha"
    if weighed.is_within:
        if margin:
            return "passed", f"not worse by more than the margin: the one-sided {level_text(level)} bound is within it"
        return "passed", f"better: the one-sided {level_text(level)} bound is on the better side of 0"
    if margin:
        return "undecided", "neither worse by more than the margin nor within it is shown"
    return "undecided", "not shown to be worse; that it is not worse at all, only a better candidate can show"


def _needed(comparison: Comparison, level: float) -> int | Unavailable:
    """The power of the one-sided bound for a true difference of 0, never of the observed one.

    Source: noncentral t, as in `runs_for_effect`.
    """
    margin = comparison.metric.margin
    if not margin:
        return Unavailable("no margin was given")
    b, a = _scores(comparison)
    two_sided = 2 * level - 1
    if comparison.is_paired:
        differences = differences_of(b, a)
        if isinstance(differences, Unavailable):
            return differences
        effect = margin / moments(differences).sd
        pairs = fewest(lambda n: detectable_paired_effect(n, confidence=two_sided) <= effect)
        return pairs if isinstance(pairs, Unavailable) else max(pairs, PAIRED_RUNS)
    if reason := refusal(2, b, a) or spread_refusal(b, a):
        return reason
    runs = runs_for_effect(margin / pooled_sd(moments(b), moments(a)), confidence=two_sided)
    return runs if isinstance(runs, Unavailable) else max(runs, VERDICT_RUNS)


def _completion_outcome(
    completion: CompletionComparison | Unavailable, p_adjusted: Estimate, confidence: float
) -> tuple[CheckOutcome, str]:
    if isinstance(completion, Unavailable):
        return "undecided", completion.reason
    difference, test = completion.difference, completion.test
    if isinstance(difference, Unavailable):
        return "undecided", difference.reason
    if difference >= 0:
        return "passed", "no smaller share of its runs completed"
    if min(completion.baseline.n_runs, completion.candidate.n_runs) < VERDICT_RUNS:
        found = f"{completion.baseline.n_runs} and {completion.candidate.n_runs}"
        return "undecided", TOO_FEW.format(needed=f"{count(VERDICT_RUNS, 'run')} in each", found=found)
    if isinstance(test, Test) and not isinstance(p_adjusted, Unavailable) and p_adjusted < 1 - confidence:
        return "worse", f"fewer of its runs completed ({test.name}'s exact test)"
    return "undecided", "fewer of its runs completed, which these numbers of runs do not tell from chance"

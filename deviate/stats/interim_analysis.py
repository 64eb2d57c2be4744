"""Interim analyses: the level of intervals at a look, whether a comparison is judged, and whether runs are enough."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deviate.model.comparisons import (
    Comparison,
    CompletionComparison,
    Equivalence,
    Ground,
    Paired,
    SpreadVerdict,
    Verdict,
)
from deviate.model.design import PrecisionTarget
from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Test, Unavailable
from deviate.model.findings import Findings
from deviate.model.phrases import Method, Note, Reason, listed
from deviate.model.records import Experiment
from deviate.series.lookup import require_metric
from deviate.stats.changes import change_comparison
from deviate.stats.compare import both_p
from deviate.stats.describe import NOT_COUNTED, describe_runs
from deviate.stats.design.group_sequential import SPENDING_NAMES, SpendingPlan, at_look, repeated_p
from deviate.stats.design.precision import MIN_RUNS, forecast, half_width, is_precise_enough

EFFECTS = (
    *("difference", "cohens_d", "cohens_d_unweighted", "hedges_g", "glass_delta", "superiority", "cliffs_delta"),
    *("sd_ratio", "detectable", "detectable_interval"),
)
"""Figures of a comparison that say nothing where the two sides are different quantities."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The status of a comparison in a sequential design.

    Attributes:
        confidence: of its intervals; at a declared look that of the repeated interval.
        sentence: on the looks, for the report; empty if the number of runs was fixed in advance. plan, look: the
            declared looks, and which of them this is, from 1; None if it is none. refusal: why tests and intervals have
            to wait for a declared look, or for runs to end; empty if they need not. is_pending: whether runs have not
            ended. mark: added to them after undeclared looks. is_apart: whether the refusal says that the two sides
            cannot be compared, so that no difference is shown either.
    """

    confidence: float
    sentence: str = ""
    plan: SpendingPlan | None = None
    look: int | None = None
    refusal: str = ""
    mark: str = ""
    is_pending: bool = False
    is_apart: bool = False

    def refusing(self, reason: str, sentence: str) -> "Standing":
        """The status of one metric in which the sides cannot be compared, for a reason; the same if that is empty."""
        if not reason or self.refusal or self.mark:
            return self
        return Standing(self.confidence, sentence, refusal=reason, is_apart=True)

    def apply(self, comparison: Comparison) -> Comparison:
        """The comparison at `confidence`, with tests and intervals withheld or marked as this status requires."""
        if self.refusal:
            absent = Unavailable(self.refusal)
            effects: dict[str, Any] = dict.fromkeys(EFFECTS, absent) if self.is_apart else {}
            without = replace(change_comparison(comparison, lambda _: absent, lambda _: absent), **effects)
            return _without_verdicts(without, absent)
        if self.mark:
            marked = change_comparison(
                comparison, lambda test: _add_note(test, self.mark), lambda interval: replace(interval, note=self.mark)
            )
            return _without_verdicts(marked, Unavailable(self.mark))
        p_value, p_upper = both_p(comparison)
        t_test, permutation = comparison.both_tests
        if self.plan is None or self.look is None or isinstance(p_value, Unavailable):
            return comparison
        interval, where = comparison.difference_interval, (self.look, len(self.plan.numbers))
        if isinstance(interval, Interval):
            interval = replace(interval, method=Method.REPEATED(interval.method, *where))
        critical = Note.CRITICAL(*where, at_look(self.plan, self.look))
        t_test, permutation = (
            test if isinstance(test, Unavailable) else _add_note(test, critical) for test in (t_test, permutation)
        )
        nominal = replace(
            change_comparison(comparison, lambda test: _add_note(test, "nominal"), lambda interval: interval),
            difference_interval=interval,
            p_adjusted=repeated_p(self.plan, self.look, p_value),
            p_upper=repeated_p(self.plan, self.look, p_value if isinstance(p_upper, Unavailable) else p_upper),
        )
        if isinstance(equal := nominal.equivalence, Equivalence):
            sides = replace(equal, above=_add_note(equal.above, "nominal"), below=_add_note(equal.below, "nominal"))
            nominal = replace(nominal, equivalence=sides)
        if isinstance(nominal.paired, Paired) and nominal.is_paired:
            return replace(nominal, paired=replace(nominal.paired, t_test=t_test, sign_flips=permutation))
        return replace(nominal, welch=t_test, permutation=permutation)

    def on_completion(self, completion: CompletionComparison | Unavailable) -> CompletionComparison | Unavailable:
        """Completion rates with their test withheld or marked; at a declared look its p is nominal."""
        if isinstance(completion, Unavailable) or isinstance(completion.test, Unavailable):
            return completion
        if self.refusal:
            return replace(completion, test=Unavailable(self.refusal))
        mark = self.mark or ("nominal" if self.plan is not None else "")
        return replace(completion, test=_add_note(completion.test, mark)) if mark else completion

    def judge(self, comparison: Comparison) -> Comparison:
        """The comparison with its verdict withheld, or with the look at which it was decided."""
        if self.refusal or self.mark:
            is_answer = comparison.verdict.word == "identical" or min(comparison.baseline.n, comparison.candidate.n) < 2
            if is_answer and not self.is_pending:
                return comparison
            return replace(comparison, verdict=Verdict("withheld", Ground.WITHHELD, Unavailable(self.sentence)))
        if self.plan is None or self.look is None:
            return comparison
        return replace(comparison, verdict=replace(comparison.verdict, look=(self.look, len(self.plan.numbers))))


def standing(baseline: Experiment, candidate: Experiment, *, confidence: float, is_paired: bool = False) -> Standing:
    """The status of the comparison of two experiments, from their recorded looks.

    A side without declared looks counts with all its runs at every look of the other; if paired, only runs with a
    partner count, so that the information grows as with two growing sides.
    """
    if reason := pending([baseline, candidate]):
        return Standing(confidence, Note.WAITS(reason), refusal=reason, is_pending=True)
    if reason := unplanned([baseline, candidate]):
        return Standing(confidence, Note.WITHHELD_P(reason), mark=reason)
    declared = [experiment for experiment in (baseline, candidate) if experiment.looks]
    if not declared:
        return Standing(confidence)
    if len({(experiment.looks, experiment.spending) for experiment in declared}) > 1:
        plans = tuple(Note.PLAN(one.looks, SPENDING_NAMES[one.spending]) for one in declared)
        refusal = Reason.LOOKS_DIFFER(plans)
        return Standing(confidence, Note.WITHHELD(refusal), refusal=refusal)
    looks, n_runs = declared[0].looks, [n_counted(experiment) for experiment in declared]
    if n_runs[0] not in looks or len(set(n_runs)) > 1:
        return _between(looks, n_runs, confidence)
    fixed = next((n_counted(experiment) for experiment in (baseline, candidate) if not experiment.looks), None)
    plan = SpendingPlan(looks, declared[0].spending, confidence, None if is_paired else fixed)
    look = looks.index(n_runs[0]) + 1
    critical = at_look(plan, look)
    sentence = Note.LOOK(look, len(looks), looks, SPENDING_NAMES[plan.spending], critical, 1 - critical)
    return Standing(1 - critical, sentence, plan, look)


def pending(experiments: Sequence[Experiment]) -> str:
    """`5 of 10 runs of new have ended`, where runs are still to come; empty where all have ended.

    To decide before would be a look that nobody declared.
    """
    waiting = [one for one in experiments if one.n_pending]
    sides = tuple(Note.ENDED(one.n_planned - one.n_pending, one.n_planned, one.name) for one in waiting)
    return Reason.PENDING(sides) if sides else ""


def unplanned(experiments: Sequence[Experiment]) -> str:
    """The mark of figures after looks that were not declared; empty where there were none."""
    n_looks = max(experiment.n_unplanned_looks for experiment in experiments)
    return Reason.UNPLANNED(n_looks) if n_looks else ""


def n_counted(experiment: Experiment) -> int:
    """The number of runs that count: failures included, lost and cancelled runs excluded."""
    return sum(run.status not in NOT_COUNTED for run in experiment.runs)


def _between(looks: Sequence[int], n_runs: Sequence[int], confidence: float) -> Standing:
    refusal = Reason.NO_LOOK(tuple(dict.fromkeys(n_runs)))
    following = next((n for n in looks if n >= max(n_runs)), None)
    is_over = following is None
    sentence = Note.WITHHELD_SINCE(refusal, looks[-1]) if is_over else Note.WITHHELD_UNTIL(refusal, following)
    return Standing(confidence, sentence, refusal=refusal)


def _without_verdicts(comparison: Comparison, reason: Unavailable) -> Comparison:
    """Remove all statements with an error rate: adjusted p, equivalence, verdict on spread."""
    is_asked = comparison.equivalence != NOT_ASKED
    spread = comparison.spread_verdict
    if isinstance(spread, SpreadVerdict):
        spread = replace(spread, word="undecided", reason=reason.reason)
    return replace(
        comparison,
        p_adjusted=reason,
        p_upper=reason,
        equivalence=reason if is_asked else comparison.equivalence,
        spread_verdict=spread,
        curve=comparison.curve if isinstance(comparison.curve, Unavailable) else reason,
    )


def _add_note(test: Test, note: str) -> Test:
    return replace(test, note=listed(test.note, note))


# Stopping rule: whether there are enough runs, and the progress towards that.

OPEN = frozenset({"undecided", "withheld"})


@dataclass(frozen=True, slots=True)
class PrecisionProgress:
    """Progress of an experiment towards a precision target; no p-value is involved.

    Attributes:
        n: runs with a score. n_forecast: total of such runs that are likely to be needed.
    """

    n: int
    mean: Estimate
    half_width: Estimate
    is_reached: bool
    n_forecast: int | Unavailable


def progress(
    experiment: Experiment, target: PrecisionTarget, *, confidence: float = 0.95, min_runs: int = MIN_RUNS
) -> PrecisionProgress:
    """The progress of an experiment, by the metric that the target names and its aggregate.

    Raises:
        InputError: the experiment has no such metric.
    """
    require_metric(target.metric, [metric.name for metric in experiment.metrics], experiment.name)
    metric = next(metric for metric in experiment.metrics if metric.name == target.metric)
    description = describe_runs(experiment, metric, confidence=confidence)
    scores = description.values
    return PrecisionProgress(
        n=len(scores),
        mean=description.mean,
        half_width=half_width(scores, confidence),
        is_reached=is_precise_enough(scores, target, confidence, min_runs=min_runs),
        n_forecast=forecast(scores, target, confidence, min_runs=min_runs),
    )


def next_look(looks: Sequence[int], n_runs: int) -> int | None:
    """The number of runs at the first declared look that comes after `n_runs`; None after the last."""
    return next((n for n in looks if n > n_runs), None)


def is_settled(findings: Findings) -> bool:
    """Whether every comparison has a headline verdict that no further look could change, so that runs can stop."""
    headlines = [pair.headline for pair in findings.pairs]
    return bool(headlines) and all(headline is not None and headline.verdict.word not in OPEN for headline in headlines)

"""One experiment described in one metric, and compared with others: estimates, tests, effect sizes, and the verdict."""

import enum
from dataclasses import dataclass
from typing import Final, Literal

from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Score, Test, Unavailable
from deviate.model.plan import SelectedMetric

# One experiment described: a metric over its runs, how many of them completed, when they reached a target.


@dataclass(frozen=True, slots=True)
class Completion:
    """How many runs completed. `n_runs` counts every run that ended for reasons of its own.

    Attributes:
        interval: Clopper-Pearson, of the rate.
        outcomes: number of runs by outcome, completed first: (("completed", 9), ("diverged", 1)).
    """

    n_completed: int
    n_runs: int
    rate: Estimate
    interval: Interval | Unavailable
    outcomes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Attainment:
    """When the runs reached a target value of a metric; a run that ended before is right-censored there.

    Attributes:
        target: in units of the metric.
        steps: per run (replicate, main-loop steps done when the target was reached or the run ended, whether it was
            reached); steps count from 1.
        seconds: the same in seconds since the start of the run; empty where times are not on record.
        median_steps, median_seconds: Kaplan-Meier median; unavailable where fewer than half of the runs got there.
        survival: Kaplan-Meier curve over steps, (step, share of runs that are not there yet), beginning at (0, 1).
        note: what a reader must know: which failed runs are taken as not there yet when last seen.
    """

    target: float
    n_reached: int
    steps: tuple[tuple[int, int, bool], ...]
    seconds: tuple[tuple[int, float, bool], ...]
    median_steps: Estimate
    median_steps_interval: Interval | Unavailable
    median_seconds: Estimate
    median_seconds_interval: Interval | Unavailable
    survival: tuple[tuple[int, float], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """One metric over the runs of one experiment.

    Attributes:
        scores: finite scores of the runs that count, in order of replicate; n is their number.
        n_runs: runs that ended (failures included, lost and cancelled ones not).
        missing: replicates that gave no score, each with the reason ("crashed", "NaN at the last step", …).
        sd: ddof 1. cv: sd / |mean|; cv_interval is that of the SD over |mean|. error_cv: sd / (1 - mean) of an
            accuracy above one half, whose own CV says little near 1 (100 in place of 1 where it is in percent).
        se: of the mean. iqr: third less first quartile. mad: median absolute deviation from the median, scaled to the
            SD of normal scores. skewness: Fisher-Pearson, bias-corrected; kurtosis: excess, bias-corrected.
        outliers: replicates whose score is farther from the median than 3.5 MADs.
        tails: a warning that the interval of the SD does not hold, for the tails are heavy; empty where they are not.
        mean_bootstrap, mean_percentile, sd_bootstrap, median_bootstrap: cross-checks by resampling runs, BCa but for
            the percentile ones, labelled as such.
        n_examples: of the test set, where known. sampling_se: of an accuracy, from these examples: no number of runs
            reduces it.
        attainment: when the runs reached the target, where one was given.
        rounding_se: the smallest standard error of the mean among the sides that are compared in this metric, which
            decides the decimals of all of them; None where nothing is compared.
        missing_kinds: of the reasons in `missing`, in their order.
        aliases: names of other metrics with the same values in all runs. functions: other metrics that are a fixed
            function of this one in all runs, as "error = 100 − acc". Neither is described or compared by itself.
        note: what a reader must know: "all 5 values equal", "1 run: spread unknown", "no completed run (0/5)".
    """

    metric: SelectedMetric
    scores: tuple[Score, ...]
    n_runs: int
    missing: tuple[tuple[int, str], ...]
    mean: Estimate
    mean_interval: Interval | Unavailable
    sd: Estimate
    sd_interval: Interval | Unavailable
    cv: Estimate
    median: Estimate
    minimum: Estimate
    maximum: Estimate
    range: Estimate
    note: str = ""
    se: Estimate = NOT_ASKED
    cv_interval: Interval | Unavailable = NOT_ASKED
    error_cv: Estimate = NOT_ASKED
    quartiles: tuple[float, float] | Unavailable = NOT_ASKED
    iqr: Estimate = NOT_ASKED
    mad: Estimate = NOT_ASKED
    skewness: Estimate = NOT_ASKED
    kurtosis: Estimate = NOT_ASKED
    outliers: tuple[int, ...] = ()
    tails: str = ""
    mean_bootstrap: Interval | Unavailable = NOT_ASKED
    mean_percentile: Interval | Unavailable = NOT_ASKED
    sd_bootstrap: Interval | Unavailable = NOT_ASKED
    median_bootstrap: Interval | Unavailable = NOT_ASKED
    n_examples: int | None = None
    sampling_se: Estimate = NOT_ASKED
    attainment: Attainment | Unavailable = NOT_ASKED
    rounding_se: float | None = None
    missing_kinds: tuple[str | None, ...] = ()
    aliases: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def values(self) -> list[float]:
        """The scores without their replicates."""
        return [score.value for score in self.scores]


Word = Literal["better", "worse", "higher", "lower", "equivalent", "undecided", "identical", "withheld"]
"""`withheld`: runs were looked at when no look was declared, so that no error rate stands behind any other word."""
NOT_WORSE = "not worse"
"""What is said beside a verdict, where a margin allows it."""
LESS_STEADY: Final = "less steady"
SpreadWord = Literal["steadier", "less steady", "undecided"]


class Ground(enum.Enum):
    """The rule that gave a verdict."""

    RUNS = "a side has no score, or a single one"
    REFUSED = "there is nothing to test, or no interval"
    UNFAIR = "the better side owes it to its failed runs"
    EQUIVALENT = "the interval lies within the margin"
    DECIDED = "the interval excludes 0, and p is below alpha"
    CONTAINS_ZERO = "the interval contains 0"
    NEAR = "p is too close to alpha for the number of arrangements"
    FAMILY = "the adjusted p is not below alpha"
    WITHHELD = "no verdict may be given yet, or on these sides"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one word, and why that one (the rule that held, in a sentence).

    Attributes:
        ground: the rule, which `deviate.report.verdicts` says in a sentence.
        refusal: why there is nothing to decide by; of a verdict that is withheld, why it is.
        n_family: comparisons that p was adjusted over. is_adjusted: whether it was, for them or for declared looks.
        needed: runs of each side, or pairs, that would detect a difference of the margin; where one was given.
        smallest_p: of the permutation test, where it forbids a verdict in a family of this size.
        look: number of the declared look, from 1, and of all of them. is_margin_late: whether the margin was given
            after the runs.
    """

    word: Word
    ground: Ground
    refusal: Unavailable = NOT_ASKED
    n_family: int = 1
    is_adjusted: bool = False
    needed: int | Unavailable = NOT_ASKED
    smallest_p: float | None = None
    look: tuple[int, int] | None = None
    is_margin_late: bool = False


@dataclass(frozen=True, slots=True)
class SpreadVerdict:
    """Which side is steadier, in one word, and why that one.

    Attributes:
        ratio: of SDs, given before, within which the interval may lie; None where none was.
        is_within: whether the 90 % interval of the SD ratio, for normal scores, lies within it; that is no verdict.
    """

    word: SpreadWord
    reason: str
    ratio: float | None = None
    is_within: bool = False


@dataclass(frozen=True, slots=True)
class Paired:
    """Runs of the two sides that share their replicate, and with it the seeds that both hold, as pairs.

    Attributes:
        n: pairs with a score on both sides.
        unpaired: replicates with a score on one side only.
        correlation: Pearson, of the scores of the pairs; about 0 where sides share no noise.
        difference: mean of candidate minus baseline over the pairs.
        t_test: paired t. wilcoxon: signed rank, exact without ties and zeros, else over sign flips.
        interval: of the paired t alone. sign_flips: the permutation test of the mean difference.
    """

    n: int
    unpaired: tuple[int, ...]
    correlation: Estimate
    difference: Estimate
    interval: Interval | Unavailable
    t_test: Test | Unavailable
    wilcoxon: Test | Unavailable
    sign_flips: Test | Unavailable = NOT_ASKED


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided questions to both tests against a margin that was given before.

    Attributes:
        above, below: the test with the larger p, Welch's or the permutation test.
        p_value: the larger of the two.
        is_within: whether both questions are answered at the level of the interval, Monte-Carlo error included.
        interval: at twice the error level (90 % for 95 %); equivalence is that it lies within the margin.
        is_not_worse: whether the one-sided bound is above -margin in the metric's direction; None without a direction.
    """

    margin: float
    above: Test
    below: Test
    p_value: float
    interval: Interval
    is_not_worse: bool | None
    is_within: bool = False


@dataclass(frozen=True, slots=True)
class CurveComparison:
    """A metric against main-loop steps on both sides, at the steps that every run of both reported.

    Attributes:
        steps: where runs are compared. baseline, candidate: mean per step. baseline_half_widths,
            candidate_half_widths: of the t interval of each mean, pointwise; empty for a single run.
        difference: candidate minus baseline per step. band: simultaneous over all steps, (low, high) per step;
            infinite at steps of which nothing can be said, empty with too few runs.
        band_method: what the band is, or why there is none.
        first_difference: the first step at which the band excludes 0; None where it never does.
        area: of the mean over steps per run, both sides compared by Welch; `area_difference` with its interval.
        n_left_out: steps that some run did not report.
        note: what a reader must know: "exploratory".
        confidence: of the band and of every interval here; at a declared look that of the repeated intervals.
    """

    steps: tuple[int, ...]
    n: tuple[int, int]
    baseline: tuple[float, ...]
    candidate: tuple[float, ...]
    difference: tuple[float, ...]
    band: tuple[tuple[float, float], ...]
    band_method: str
    first_difference: int | None
    area_difference: Estimate
    area_interval: Interval | Unavailable
    area_test: Test | Unavailable
    n_left_out: int
    note: str = ""
    baseline_half_widths: tuple[float, ...] = ()
    candidate_half_widths: tuple[float, ...] = ()
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class AttainmentComparison:
    """Time to a target on both sides. `log_rank` is over steps; by permutation where runs are few."""

    target: float
    log_rank: Test | Unavailable
    log_rank_seconds: Test | Unavailable
    note: str = ""


@dataclass(frozen=True, slots=True)
class CompletionComparison:
    """Completion rates of both sides; `test` is Boschloo's exact one."""

    baseline: Completion
    candidate: Completion
    difference: Estimate
    test: Test | Unavailable


@dataclass(frozen=True, slots=True)
class FurtherFigure:
    """A statistic that has no field of its own in a comparison, such as one of another package.

    Attributes:
        name: under which it is registered; what it is and how it is shown stands there.
        interval: around an estimate, where there is a function for it.
    """

    name: str
    value: Estimate | Test
    interval: Interval | Unavailable = NOT_ASKED


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline in one metric. All differences are candidate minus baseline.

    Attributes:
        names: of baseline and candidate, as sentences call them.
        is_paired: whether pairs decide, by the paired t and the flips of their signs, as asked for before.
        difference_interval: all values that not both tests reject; from fewer runs than a verdict takes, Welch's alone.
        welch_interval: Welch's alone.
        p_adjusted: the larger p of both tests after Holm over the family of this report; equals it for the primary
            metric. At a declared look it is the repeated p: what the earlier looks may have spent
            is counted in.
        superiority: P(candidate > baseline) + P(equal) / 2; its interval is one-sided at complete separation.
        cliffs_delta: P(candidate > baseline) - P(candidate < baseline). glass_delta: difference over the SD of the
            baseline.
        levene: centred at the mean, as older reports have it; brown_forsythe at the median.
        p_upper: `p_adjusted` at the upper end of the Monte-Carlo error of the permutation test, which decides.
        permutation: of the studentized difference of means, runs exchanged between the sides.
        difference_bootstrap, sd_ratio_bootstrap, glass_delta_interval: by resampling runs, labelled as such.
        detectable: smallest difference these runs could have seen at 80 % power, in units of the metric. Its interval
            is what the uncertainty of the SD makes of it.
        equivalence: where a margin was given.
        worst_rank: Mann-Whitney U in which every failed run has the worst rank.
        curve: the metric against steps. attainment: time to the target, where one was given.
        note: what a reader must know: "measured while up to 2 other runs shared the device".
        further: figures of statistics that are registered with a label.
    """

    metric: SelectedMetric
    candidate_metric: SelectedMetric
    baseline: Description
    candidate: Description
    difference: Estimate
    difference_interval: Interval | Unavailable
    welch: Test | Unavailable
    student: Test | Unavailable
    mann_whitney: Test | Unavailable
    p_adjusted: Estimate
    cohens_d: Estimate
    cohens_d_unweighted: Estimate
    hedges_g: Estimate
    hedges_g_interval: Interval | Unavailable
    superiority: Estimate
    brown_forsythe: Test | Unavailable
    sd_ratio: Estimate
    sd_ratio_interval: Interval | Unavailable
    detectable: Estimate
    verdict: Verdict
    superiority_interval: Interval | Unavailable = NOT_ASKED
    note: str = ""
    is_paired: bool = False
    paired: Paired | Unavailable = NOT_ASKED
    equivalence: Equivalence | Unavailable = NOT_ASKED
    permutation: Test | Unavailable = NOT_ASKED
    kolmogorov_smirnov: Test | Unavailable = NOT_ASKED
    levene: Test | Unavailable = NOT_ASKED
    glass_delta: Estimate = NOT_ASKED
    glass_delta_interval: Interval | Unavailable = NOT_ASKED
    cliffs_delta: Estimate = NOT_ASKED
    cliffs_delta_interval: Interval | Unavailable = NOT_ASKED
    difference_bootstrap: Interval | Unavailable = NOT_ASKED
    sd_ratio_bootstrap: Interval | Unavailable = NOT_ASKED
    spread_verdict: SpreadVerdict | Unavailable = NOT_ASKED
    detectable_interval: Interval | Unavailable = NOT_ASKED
    worst_rank: Test | Unavailable = NOT_ASKED
    curve: CurveComparison | Unavailable = NOT_ASKED
    attainment: AttainmentComparison | Unavailable = NOT_ASKED
    welch_interval: Interval | Unavailable = NOT_ASKED
    p_upper: Estimate = NOT_ASKED
    further: tuple[FurtherFigure, ...] = ()
    names: tuple[str, str] = ("the baseline", "the candidate")

    @property
    def both_tests(self) -> tuple[Test | Unavailable, Test | Unavailable]:
        """The t-test and the permutation test that a verdict asks."""
        if not self.is_paired:
            return self.welch, self.permutation
        if isinstance(self.paired, Unavailable):
            return self.paired, self.paired
        return self.paired.t_test, self.paired.sign_flips

    @property
    def deciding_test(self) -> Test | Unavailable:
        """The one of both tests with the larger p; the t-test where there are too few runs for the other."""
        t_test, permutation = self.both_tests
        if isinstance(t_test, Unavailable) or isinstance(permutation, Unavailable):
            return t_test
        return permutation if permutation.p_value > t_test.p_value else t_test


# More than two experiments: over one metric, and over several tasks.


@dataclass(frozen=True, slots=True)
class Contrast:
    """One experiment less another in one metric, as a member of a family."""

    one: str
    other: str
    difference: Estimate
    interval: Interval | Unavailable
    p_adjusted: Estimate


@dataclass(frozen=True, slots=True)
class ManyTable:
    """One metric over three or more experiments.

    Attributes:
        names: of the experiments, the baseline first; `n` the number of scores of each.
        anova, welch_anova, kruskal_wallis: whether they differ at all.
        dunnett: each candidate less the baseline, simultaneous intervals; equal variances assumed.
        pairs: all against all; Welch with Holm over the pairs.
    """

    metric: SelectedMetric
    names: tuple[str, ...]
    n: tuple[int, ...]
    anova: Test | Unavailable
    welch_anova: Test | Unavailable
    kruskal_wallis: Test | Unavailable
    dunnett: tuple[Contrast, ...] | Unavailable
    pairs: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class Aggregated:
    """One experiment over all tasks, scores oriented so that more is better, with stratified bootstrap intervals.

    Attributes:
        iqm: mean of the middle half of all scores. gap: by how much they stay below `TaskFindings.optimum` on average.
        profile: share of scores above each of `TaskFindings.thresholds`, with a pointwise band.
        rank: mean rank over tasks, 1 is best.
    """

    name: str
    mean: Estimate
    mean_interval: Interval | Unavailable
    median: Estimate
    median_interval: Interval | Unavailable
    iqm: Estimate
    iqm_interval: Interval | Unavailable
    gap: Estimate
    gap_interval: Interval | Unavailable
    rank: Estimate
    profile: tuple[float, ...]
    profile_band: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TaskFindings:
    """Experiments over several tasks or data sets.

    Attributes:
        tasks: names of the metrics that are the tasks.
        normalisation: how scores of different tasks were made comparable, in a sentence.
        is_scaled: whether they had to be.
        friedman: whether mean ranks differ. critical_difference: of mean ranks, Nemenyi; `cliques` are groups of
            experiments whose ranks are not told apart. posthoc: all pairs, p of Nemenyi.
    """

    tasks: tuple[str, ...]
    n: tuple[tuple[int, ...], ...]
    normalisation: str
    optimum: float
    thresholds: tuple[float, ...]
    aggregated: tuple[Aggregated, ...]
    friedman: Test | Unavailable
    critical_difference: Estimate
    cliques: tuple[tuple[str, ...], ...]
    posthoc: tuple[Contrast, ...]
    note: str = ""
    is_scaled: bool = False

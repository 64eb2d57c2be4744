"""What the runs say: statistics, comparisons, verdicts."""

from dataclasses import dataclass
from typing import Literal

from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The named answer to a degenerate question: a short reason, shown in place of the number."""

    reason: str


Estimate = float | Unavailable


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval; `method` names how it was computed, e.g. "Student t"."""

    low: float
    high: float
    confidence: float
    method: str


@dataclass(frozen=True, slots=True)
class Test:
    """A hypothesis test, two-sided. `df` is None where the test has none; `note` says how: exact, permutation, ties."""

    __test__ = False

    name: str
    statistic: float
    p_value: float
    df: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """The aggregate of one run."""

    replicate: int
    value: float


@dataclass(frozen=True, slots=True)
class Description:
    """One metric over the runs of one experiment.

    Attributes:
        scores: finite scores of the runs that count, in order of replicate; n is their number.
        n_runs: runs that ended (failures included, lost and cancelled ones not).
        missing: replicates that gave no score, each with the reason ("crashed", "NaN at the last step", …).
        sd: ddof 1. cv: sd / |mean|.
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

    @property
    def n(self) -> int:
        return len(self.scores)


Word = Literal["better", "worse", "higher", "lower", "equivalent", "undecided", "identical"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one word, and why that one (the rule of statistics.md, 4, in a sentence)."""

    word: Word
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline in one metric. All differences are candidate minus baseline.

    Attributes:
        difference_interval: Welch.
        p_adjusted: Welch p after Holm over the family of this report; equals welch.p_value for the primary metric.
        superiority: P(candidate > baseline) + P(equal) / 2; its interval is one-sided at complete separation.
        detectable: smallest difference these runs could have seen at 80 % power, in units of the metric.
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
    superiority_interval: Interval | Unavailable = Unavailable("not computed")


@dataclass(frozen=True, slots=True)
class ExperimentFindings:
    """One experiment described: primary metric first, then by coefficient of variation, undefined last."""

    experiment: Experiment
    descriptions: tuple[Description, ...]


@dataclass(frozen=True, slots=True)
class PairFindings:
    """One candidate against the baseline.

    Attributes:
        comparisons: primary metric first, then in the order of the baseline's descriptions.
        headline: the comparison of the primary metric; None when no primary metric could be told.
        unmatched_baseline, unmatched_candidate: names of metrics that only one side has.
    """

    baseline: str
    candidate: str
    comparisons: tuple[Comparison, ...]
    headline: Comparison | None
    unmatched_baseline: tuple[str, ...]
    unmatched_candidate: tuple[str, ...]
    family: str = ""


Agreement = Literal["equal", "differ", "not seen"]
"""Whether the runs were tested on the same examples, by a hash of the evaluation data; "not seen" in at least one."""
WeightsAgreement = Literal["equal", "differ", "not reached"]


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two runs that are compared bit for bit differ first.

    Attributes:
        step: of the main loop; None outside it.
        values: what each reported there; None where one reported nothing.
    """

    metric: str
    step: int | None
    replicates: tuple[int, int]
    values: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Repeatability:
    """Whether the completed runs of one variant are bitwise equal in quality metrics and final weights.

    Attributes:
        n: runs that were compared.
        is_equal: None when there are fewer than two, or nothing that could be compared.
        n_metrics: quality metrics that were compared, step by step.
        parting: the first difference in a metric; None when there is none, though weights may still differ.
        weights: at the latest moment that all runs have.
    """

    variant: str
    n: int
    is_equal: bool | None
    n_metrics: int
    parting: Parting | None
    weights: WeightsAgreement
    evaluation: Agreement


NoiseKind = Literal["script", "nothing", "streams", "implementation", "mixed", "configuration", "one-bit"]
"""What a variant varies: what the script leaves free, nothing, random streams, how kernels compute, both of them, the
configuration (thread counts, oneDNN: no noise), or one bit of one weight."""


@dataclass(frozen=True, slots=True)
class NoiseRow:
    """The spread that one variant shows in one metric.

    Attributes:
        scores: the scores behind the SD; of a one-bit variant those whose flip was not absorbed. n is their number.
        ratio: SD over the SD of the reference variant. share: the square of it, a share of the variance, given where
            the reference varies all that this variant varies.
        is_isolated: whether the control variant shows that what is held here is held; None when there is no control,
            or when the variant isolates nothing.
        note: what stands in place of figures: "no implementation noise observed, 5 runs bitwise equal".
    """

    variant: str
    kind: NoiseKind
    varied: tuple[str, ...]
    scores: tuple[Score, ...]
    sd: Estimate
    sd_interval: Interval | Unavailable
    ratio: Estimate
    ratio_interval: Interval | Unavailable
    share: Estimate
    share_interval: Interval | Unavailable
    is_isolated: bool | None
    note: str = ""

    @property
    def n(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class NoiseTable:
    """One metric over the variants.

    Attributes:
        reference: the variant that the ratios refer to; None when none of them varies anything.
        excess: variance of `algo+impl` less those of `algo` and `impl`, with its sign, in squared units of the metric:
            variances need not add up.
    """

    metric: SelectedMetric
    reference: str | None
    rows: tuple[NoiseRow, ...]
    excess: Estimate
    excess_interval: Interval | Unavailable


@dataclass(frozen=True, slots=True)
class Absorption:
    """What became of single flipped bits: an absorbed one left metrics and final weights bitwise as they were.

    Attributes:
        n_runs: completed runs. n_flipped: those with a flip on record.
        absorbed: replicates whose flip was absorbed.
        n_unknown: flips of which it cannot be told, because metrics show no effect and weights were not reached.
        against: the variant that shows the outcome without a flip; None when there is no such run, and runs with
            different flips that end alike are taken for absorbed: there may be more.
    """

    variant: str
    n_runs: int
    n_flipped: int
    absorbed: tuple[int, ...]
    n_unknown: int
    against: str | None


@dataclass(frozen=True, slots=True)
class Overhead:
    """What determinism costs: mean wall time of a variant with kernels held over that of one with kernels free.

    Attributes:
        n_held, n_free: runs behind each mean; the first replicate of each is left out, for it warms up.
    """

    held: str
    free: str
    n_held: int
    n_free: int
    ratio: Estimate
    interval: Interval | Unavailable
    note: str = ""


@dataclass(frozen=True, slots=True)
class NoiseFindings:
    """Where the spread comes from.

    Attributes:
        tables: one per quality metric; empty for a single variant.
        control: whether the runs of the control variant are bitwise equal; "absent" when there are not two of them.
        statements: sentences that say what the figures mean, and what may not be claimed.
    """

    tables: tuple[NoiseTable, ...]
    repeatability: tuple[Repeatability, ...]
    control: Literal["intact", "broken", "absent"]
    absorption: tuple[Absorption, ...]
    overhead: Overhead | None
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything a report says, computed once.

    Attributes:
        experiments: the baseline first.
        pairs: one per candidate; empty for a single experiment, and for variants of one that are only described.
        primary: name of the primary metric, None when it could not be told (then a warning says how to name one).
        warnings: sentences for the user, each with what to do.
        noise: None where experiments are compared.
        evaluation: over the runs of all experiments that do not vary the split.
    """

    experiments: tuple[ExperimentFindings, ...]
    pairs: tuple[PairFindings, ...]
    primary: str | None
    confidence: float
    analysis_seed: int
    warnings: tuple[str, ...] = ()
    noise: NoiseFindings | None = None
    evaluation: Agreement = "not seen"

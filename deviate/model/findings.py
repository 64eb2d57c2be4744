"""What the runs say: descriptions and comparisons of experiments, where the spread comes from."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from deviate.model.comparisons import Comparison, Completion, CompletionComparison, Description, ManyTable, TaskFindings
from deviate.model.design import Planning
from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Score, Unavailable
from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import Experiment
from deviate.model.stability import StabilityFindings


@dataclass(frozen=True, slots=True)
class ExperimentFindings:
    """One experiment described: primary metric first, then results, losses, times and the rest."""

    experiment: Experiment
    descriptions: tuple[Description, ...]
    completion: Completion | Unavailable = NOT_ASKED


@dataclass(frozen=True, slots=True)
class PairFindings:
    """One candidate against the baseline.

    Attributes:
        comparisons: primary metric first, then in the order of the baseline's descriptions.
        headline: the comparison of the primary metric; None when no primary metric could be told.
        unmatched_baseline, unmatched_candidate: names of metrics that only one side has.
        looks: at which declared look the comparison stands and how p and intervals account for it, or why its verdict
            is withheld; empty where no looks were declared and none was taken.
    """

    baseline: str
    candidate: str
    comparisons: tuple[Comparison, ...]
    headline: Comparison | None
    unmatched_baseline: tuple[str, ...]
    unmatched_candidate: tuple[str, ...]
    family: str = ""
    looks: str = ""
    completion: CompletionComparison | Unavailable = NOT_ASKED


class Doubt(enum.Enum):
    """Why no metric can be told to be the primary one."""

    SEVERAL = "several metrics are declared primary"
    ORDER = "their order tells nothing"
    NO_RESULT = "no result was reported"
    NO_METRIC = "there are no metrics"


@dataclass(frozen=True, slots=True)
class PrimaryQuestion:
    """Why no metric can be told to be the primary one, and the metrics of which one may be named."""

    reason: Doubt
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Basis:
    """What findings were asked with, for the sentences beside them.

    Attributes:
        matches: metric of the baseline to the metric of the candidates it is compared with.
        is_paired: whether runs of the same replicate were to be pairs.
        question: None where a metric is primary, or none has to be.
        never_reported: metrics that are left out, because no run reported them.
        idle_margin: a margin that was given, and no metric is primary; None otherwise.
        undirected: metrics of the baseline whose best value was asked for, and that have no direction.
    """

    matches: Mapping[str, str] = field(default_factory=dict)
    is_paired: bool = False
    question: PrimaryQuestion | None = None
    never_reported: tuple[str, ...] = ()
    idle_margin: float | None = None
    undirected: tuple[str, ...] = ()


Agreement = Literal["equal", "differ", "undecided", "not seen"]
"""Whether the runs were tested on the same examples, by a hash of the evaluation data; "not seen" in at least one.
"undecided": other inputs, of which nothing shows that they are examples and not what the model computed itself."""
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
            or when the variant isolates nothing. False when a run drew numbers that deviate does not route.
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
class Study:
    """Variants of one experiment with their proofs, in the same order; `reference` is the one that ratios refer to."""

    described: tuple[ExperimentFindings, ...]
    kinds: tuple[NoiseKind, ...]
    proofs: tuple[Repeatability, ...]
    absorbed: tuple[Absorption | None, ...]
    control: Literal["intact", "broken", "absent"]
    reference: Experiment | None

    @property
    def experiments(self) -> list[Experiment]:
        return [findings.experiment for findings in self.described]

    @property
    def is_single(self) -> bool:
        return len(self.described) == 1


@dataclass(frozen=True, slots=True)
class NoiseFindings:
    """Where the spread comes from.

    Attributes:
        study: the variants that sentences are about; None where nothing is said of them.
        tables: one per quality metric; empty for a single variant.
        control: whether the runs of the control variant are bitwise equal; "absent" when there are not two of them.
        statements: sentences that say what the figures mean, and what may not be claimed.
    """

    study: Study | None
    tables: tuple[NoiseTable, ...]
    repeatability: tuple[Repeatability, ...]
    control: Literal["intact", "broken", "absent"]
    absorption: tuple[Absorption, ...]
    overhead: Overhead | None
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything a report says, computed once.

    Attributes:
        experiments: the baseline first.
        pairs: one per candidate; empty for a single experiment, and for variants of one that are only described.
        primary: name of the primary metric, None when it could not be told (then a warning says how to name one).
        primary_choice: why it is the primary one; None where there is none.
        noise: None where experiments are compared.
        many: one per metric, where three or more experiments are compared.
        tasks: where metrics were named as tasks.
        evaluation: over the runs of all experiments that do not vary the split.
        planning: one per candidate with the primary metric, or one for a single experiment or study.
        stability: from captured outputs and weights.
        basis: what they were asked with.
    """

    experiments: tuple[ExperimentFindings, ...]
    pairs: tuple[PairFindings, ...]
    primary: str | None
    confidence: float
    analysis_seed: int
    noise: NoiseFindings | None = None
    evaluation: Agreement = "not seen"
    many: tuple[ManyTable, ...] = ()
    tasks: TaskFindings | None = None
    planning: tuple[Planning, ...] = ()
    stability: StabilityFindings = field(default_factory=StabilityFindings)
    primary_choice: PrimaryChoice | None = None
    basis: Basis = field(default_factory=Basis)

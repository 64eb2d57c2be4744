"""What captured outputs and weights say about how alike runs are, beyond their scores."""

from dataclasses import dataclass
from typing import Literal

from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Unavailable
from deviate.model.records import Alignment, OutputKind


@dataclass(frozen=True, slots=True)
class ConvergenceRow:
    """Time and steps of each run to convergence by one criterion.

    Attributes:
        criterion: in words, as "within 1% of the best val_acc".
        steps: of the main loop, from 1, one per run in order of replicate; None where a run did not get there.
        seconds: since the start of the run, alike.
        seconds_relative_range, steps_relative_range: (max - min) / min over the runs that got there.
        scores: what the metric whose convergence it is was then, alike; None too where it was not reported until then.
    """

    criterion: str
    steps: tuple[int | None, ...]
    seconds: tuple[float | None, ...]
    seconds_range: Estimate
    seconds_mean: Estimate
    seconds_sd: Estimate
    seconds_relative_range: Estimate
    steps_relative_range: Estimate
    scores: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Convergence:
    """How long the runs of one experiment take, and to converge.

    Attributes:
        metric: whose convergence it is. step_seconds: mean seconds of a main-loop step, one per run.
        step_seconds_sd: over runs, ddof 1.
    """

    experiment: int
    metric: str
    replicates: tuple[int, ...]
    step_seconds: tuple[float, ...]
    step_seconds_mean: Estimate
    step_seconds_sd: Estimate
    step_seconds_relative_range: Estimate
    rows: tuple[ConvergenceRow, ...]


@dataclass(frozen=True, slots=True)
class WeakModels:
    """The same spread of one metric with and without the runs beyond a value that was named.

    Attributes:
        experiment: index among the experiments of the findings.
        rule: in words. excluded: replicates.
        range_all, sd_all: of all runs, in units of the metric, ddof 1. range_kept, sd_kept: without the excluded ones.
    """

    experiment: int
    metric: str
    rule: str
    excluded: tuple[int, ...]
    range_all: Estimate
    sd_all: Estimate
    range_kept: Estimate
    sd_kept: Estimate


MeasureName = Literal[
    "churn",
    "majority-agreement",
    "unstable-examples",
    "pearson",
    "spearman",
    "cka",
    "ensemble-accuracy",
    "ensemble-cross-entropy",
    "accuracy-sd",
    "cross-entropy-sd",
    "ece",
    "ece-sd",
    "weight-distance",
]
"""churn: share of examples on which two runs disagree, mean over pairs.
majority-agreement: share of examples on which a run predicts what most runs do, mean over runs.
unstable-examples: share on which not all runs agree.
pearson, spearman: correlation of flattened outputs, mean over pairs. cka: linear, of outputs, mean over pairs.
ensemble-…: of the mean output of two runs, less that of each, mean over pairs and members.
accuracy-sd, cross-entropy-sd: over runs, ddof 1.
ece: expected calibration error, mean over runs; ece-sd: over runs, ddof 1.
weight-distance: L2 of weights normalised to length 1, mean over pairs, in [0, 2]."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure over runs, as a share, a correlation or a distance, never in percent.

    Attributes:
        interval: from resampling or leaving out runs, never pairs.
    """

    name: MeasureName
    value: Estimate
    interval: Interval | Unavailable


@dataclass(frozen=True, slots=True)
class ClassStability:
    """One class of the evaluation set.

    Attributes:
        label: the class, from 0. n_examples: of it in the set.
        accuracies: share predicted right, one per run in order of replicate.
        range: largest less smallest. sd: ddof 1. ratio: sd over that of the accuracy over all classes.
        sampling_sd: root of p (1 - p) / n_examples at the mean accuracy p: what another test set would add;
            Unavailable where examples are parts of others, as pixels are, and not independent.
    """

    label: int
    n_examples: int
    accuracies: tuple[float, ...]
    mean: Estimate
    range: Estimate
    sd: Estimate
    sd_interval: Interval | Unavailable
    ratio: Estimate
    sampling_sd: Estimate


@dataclass(frozen=True, slots=True)
class GroupMeasure:
    """Accuracy, false positive rate or false negative rate of one sub-group over runs, as shares.

    Attributes:
        sd: ddof 1. ratio: sd over that of all examples. ratio_interval: bootstrap over runs, which both share.
    """

    mean: Estimate
    sd: Estimate
    ratio: Estimate
    ratio_interval: Interval | Unavailable


@dataclass(frozen=True, slots=True)
class GroupStability:
    """One sub-group of the evaluation set; the first of a table is all examples.

    Attributes:
        column, value: where the group stands: the column and what it holds; "" and "All" for all examples.
        n_positive, n_negative: examples whose true class is, and is not, the positive one; None without two classes.
        share: of all examples.
    """

    column: str
    value: str
    n_examples: int
    n_positive: int | None
    n_negative: int | None
    share: float
    accuracy: GroupMeasure
    false_positive_rate: GroupMeasure | Unavailable
    false_negative_rate: GroupMeasure | Unavailable


@dataclass(frozen=True, slots=True)
class UnstableExample:
    """An example on which runs disagree.

    Attributes:
        position: its place in the order of the first run, from 0.
        flip_rate: share of pairs of runs that disagree on it.
        votes: class and number of runs that predict it, most first.
    """

    position: int
    truth: int | None
    flip_rate: float
    votes: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class StepDivergence:
    """How far runs are apart after a step of the main loop. What is not on record there is Unavailable."""

    step: int
    churn: Measure
    weight_distance: Measure


@dataclass(frozen=True, slots=True)
class Reduction:
    """What an ensemble of one run's own outputs does to variability: snapshots of it, or augmented copies of its input.

    Attributes:
        name: "snapshots" or that of the augmentation, or "snapshots+flip" for both.
        n_members: outputs behind each averaged one; None for an augmentation that deviate does not know.
        accuracies: one per run.
        measures: accuracy-sd, cross-entropy-sd, churn, pearson, ensemble-accuracy of the averaged outputs.
        reduction: mean of the five relative reductions against the single model, as a share.
            Source: Summers & Dinneen (2021), Table 6.
    """

    name: str
    n_members: int | None
    accuracies: tuple[float, ...]
    measures: tuple[Measure, ...]
    reduction: Estimate
    reduction_interval: Interval | Unavailable


@dataclass(frozen=True, slots=True)
class SetStability:
    """How alike the runs of one experiment are on one evaluation set.

    Attributes:
        experiment: index among the experiments of the findings.
        n_classes: None where outputs are no scores of classes.
        accuracies, cross_entropies: one per run in order of replicate; empty without truth (or without probabilities).
        mean_accuracy_sampling_sd: binomial, of the mean accuracy: what another test set would add; no runs reduce it.
        disagreement: (R, R), share of examples on which two runs disagree; empty where outputs are no classes.
        classes: by SD, widest first; empty without truth.
        expected_largest_sd: that the widest class would have on average if all were equally steady for their size and
            accuracy, chance alone; expected_largest_range alike.
        groups: all examples first; empty where none were named. group_notes: sentences about them.
        unstable: the least stable examples, most flipped first, at most 20.
        steps: in order; empty where no steps were kept.
        notes: of alignment and of what was taken for granted.
    """

    experiment: int
    name: str
    replicates: tuple[int, ...]
    n_examples: int
    n_classes: int | None
    kind: OutputKind
    alignment: Alignment
    measures: tuple[Measure, ...]
    accuracies: tuple[float, ...] = ()
    cross_entropies: tuple[float, ...] = ()
    mean_accuracy_sampling_sd: Estimate = NOT_ASKED
    disagreement: tuple[tuple[float, ...], ...] = ()
    classes: tuple[ClassStability, ...] = ()
    expected_largest_sd: Estimate = NOT_ASKED
    expected_largest_range: Estimate = NOT_ASKED
    groups: tuple[GroupStability, ...] = ()
    group_notes: tuple[str, ...] = ()
    unstable: tuple[UnstableExample, ...] = ()
    steps: tuple[StepDivergence, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerDistance:
    """L2 of one layer's weights normalised to length 1, mean over pairs; in [0, 2]."""

    name: str
    n_weights: int
    distance: Measure


@dataclass(frozen=True, slots=True)
class WeightStability:
    """How far apart the final weights of one experiment's runs are.

    Attributes:
        distances: (R, R) over all weights. layers: in the order of the model, as far as the names tell.
        steps: after steps of the main loop, in order: step and distance.
    """

    experiment: int
    replicates: tuple[int, ...]
    distance: Measure
    distances: tuple[tuple[float, ...], ...]
    layers: tuple[LayerDistance, ...]
    steps: tuple[tuple[int, Measure], ...] = ()


@dataclass(frozen=True, slots=True)
class StabilityDifference:
    """A mean over pairs of runs of one experiment less that of the first one, the baseline.

    Attributes:
        experiment: index among the experiments of the findings, from 1.
        set_name: the evaluation set that both have; empty for weights.
        difference: of churn or weight-distance; the interval combines the jackknife of both sides.
    """

    experiment: int
    set_name: str
    difference: Measure


@dataclass(frozen=True, slots=True)
class StabilityFindings:
    """Everything on stability.

    Attributes:
        sets: of every experiment, its sets in order. weights: one per experiment that has them.
        reasons: one per experiment in order: why it has no sets or weights; empty where it has what was asked for.
        differences: of every further experiment, of each set in the order of the baseline, then of weights.
    """

    sets: tuple[SetStability, ...] = ()
    weights: tuple[WeightStability, ...] = ()
    convergence: tuple[Convergence, ...] = ()
    weak: tuple[WeakModels, ...] = ()
    reasons: tuple[tuple[str, ...], ...] = ()
    differences: tuple[StabilityDifference, ...] = ()

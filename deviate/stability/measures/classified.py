"""Measures of one evaluation set: accuracy, calibration, agreement of runs, and unstable examples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from deviate.model.estimates import Unavailable
from deviate.model.records import CapturedSet, OutputKind
from deviate.model.stability import Measure, MeasureName, UnstableExample
from deviate.stability.measures.blocks import PIECE_BYTES, Floats, Labels, Matrix, on_threads, pieces
from deviate.stability.measures.intervals import jackknife, mean_measure, over_pairs, sd_measure
from deviate.stability.measures.pairwise import disagreement, ensemble_deltas, linear_cka, pearson, spearman
from deviate.stats.estimates.one_sample import SINGLE_RUN

Vector = NDArray[np.float64]
Counts = NDArray[np.int32]
N_BINS = 15
N_UNSTABLE = 20
NO_MAJORITY = Unavailable("two runs have no majority")
GROWS = Unavailable("the share of unstable examples grows with the number of runs")


@dataclass(frozen=True, eq=False)
class Classified:
    """A captured set with true classes, and its figures, each computed on first use. R runs, N examples, C classes.

    Figures that have a number per run are empty, and matrices over pairs of runs None, where outputs or truth do not
    allow them.

    Attributes:
        labels: (R, N). truth: (N,), None where it is not on record or no class. outputs: None for labels alone.
        n_classes: None where outputs are no scores of classes.
        notes: what was not used as true classes, and why.
    """

    labels: Labels | None
    truth: Labels | None
    outputs: Floats | None
    kind: OutputKind
    n_classes: int | None
    notes: tuple[str, ...] = ()

    @cached_property
    def is_right(self) -> NDArray[np.bool_] | None:
        """(R, N) whether each prediction is the true class; None without one of the two."""
        return None if self.labels is None or self.truth is None else self.labels == self.truth

    @cached_property
    def accuracies(self) -> tuple[float, ...]:
        """Share of right predictions of each run."""
        right = self.is_right
        return () if right is None or not right.shape[1] else tuple(float(share) for share in right.mean(axis=1))

    @property
    def cross_entropies(self) -> tuple[float, ...]:
        """Mean of -log of the probability of the true class, in nats, of each run."""
        return tuple(loss for loss, _ in self._of_probabilities)

    @property
    def calibration_errors(self) -> tuple[float, ...]:
        """Expected calibration error of each run, as a share."""
        return tuple(error for _, error in self._of_probabilities)

    @cached_property
    def _of_probabilities(self) -> tuple[tuple[float, float], ...]:
        """Cross-entropy and calibration error of each run; the logarithms behind both are too large to be kept."""
        truth, right = self.truth, self.is_right
        if self.outputs is None or truth is None or right is None or not len(truth):
            return ()

        def measure(run: tuple[Floats, NDArray[np.bool_]]) -> tuple[float, float]:
            outputs, is_right = run
            of_truth, largest = log_probabilities(outputs, self.kind, truth)
            return float(-of_truth.mean()), calibration_error(np.exp(largest), is_right)

        return tuple(on_threads(measure, list(zip(self.outputs, right, strict=True))))

    @cached_property
    def n_alike(self) -> Counts | None:
        """(R, N) runs, including itself, with the same prediction as each run."""
        return None if self.labels is None else count_alike(self.labels)

    @cached_property
    def churn(self) -> Matrix | None:
        return None if self.labels is None else disagreement(self.labels)

    @cached_property
    def pearson(self) -> Matrix | None:
        return None if self.outputs is None else pearson(self.outputs)

    @cached_property
    def gains(self) -> tuple[Matrix, Matrix] | None:
        """Of ensembles of two: in accuracy, and in cross-entropy."""
        if self.outputs is None or self.truth is None:
            return None
        return ensemble_deltas(self.outputs, self.kind, self.truth)


def classify(captured: CapturedSet) -> Classified:
    """A captured set with its true classes, if they are classes."""
    if captured.labels is None or captured.kind == "values":
        return Classified(None, None, captured.outputs, captured.kind, None)
    truth, notes = captured.truth, []
    if truth is not None and not np.issubdtype(truth.dtype, np.integer) and truth.dtype != bool:
        whole = np.issubdtype(truth.dtype, np.floating) and bool(np.isfinite(truth).all() and (truth % 1 == 0).all())
        if not whole:
            truth, notes = None, ["The true values are not whole numbers, so they are not read as classes."]
    classes = None if truth is None else truth.astype(np.int64)
    if captured.outputs is not None:
        n_classes = int(captured.outputs.shape[-1])
    else:
        n_classes = 1 + int(max(captured.labels.max(initial=0), -1 if classes is None else classes.max(initial=0)))
    if classes is not None and len(classes) and not (classes.min() >= 0 and classes.max() < n_classes):
        notes.append(f"Some true labels are outside the classes 0 … {n_classes - 1}, so there is no accuracy.")
        classes = None
    return Classified(captured.labels, classes, captured.outputs, captured.kind, n_classes, tuple(notes))


def log_probabilities(outputs: Floats, kind: OutputKind, truth: Labels) -> tuple[Vector, Vector]:
    """Logarithms of the probabilities of the true class and of the likeliest one, (N,) each; NaN where there are none.

    Logits are normalised by softmax. Probabilities are kept from 0 by the precision of their type, as scikit-learn's
    `log_loss` does.

    Args:
        outputs: (N, C), of one run.
    """
    of_truth, largest = np.empty((2, len(truth)))
    for piece in pieces(len(truth), PIECE_BYTES // (8 * outputs.shape[1])):
        scores = outputs[piece].astype(np.float64)
        if kind == "probabilities":
            scores = np.log(np.maximum(scores, np.finfo(outputs.dtype).eps))
        elif kind == "logits":
            with np.errstate(invalid="ignore"):  # infinite logits: no probabilities, reported as NaN
                scores = log_softmax(scores, axis=1)
        of_truth[piece], largest[piece] = scores[np.arange(len(scores)), truth[piece]], scores.max(axis=1)
    return of_truth, largest


def calibration_error(confidences: NDArray[np.float64], is_right: NDArray[np.bool_]) -> float:
    """Mean over examples of |accuracy - mean confidence| of their bin: 15 bins of equal width, open at the lower end.

    Args:
        confidences: (N,) probability of the predicted class, in [0, 1].
        is_right: (N,) whether it is the true one.

    Source: Guo et al. (2017), equations 2, 3 and 5.
    """
    if not np.isfinite(confidences).all():
        return float("nan")
    bins = np.clip(np.ceil(confidences * N_BINS).astype(np.int64) - 1, 0, N_BINS - 1)
    gaps = np.bincount(bins, weights=is_right - confidences, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(confidences))


def majority_agreement(n_alike: Counts, confidence: float) -> Measure:
    """Share of examples for which a run predicts what most runs do, mean over runs; of a tie each counts as most.

    The interval leaves out one run after the other, from the majority too.

    Args:
        n_alike: as `count_alike` gives it.
    """
    n_runs, n_examples = n_alike.shape
    if n_runs < 2:
        return Measure("majority-agreement", SINGLE_RUN, SINGLE_RUN)
    if n_runs == 2:
        return Measure("majority-agreement", NO_MAJORITY, NO_MAJORITY)
    most = n_alike.max(axis=0)
    # A class with k votes is predicted by k runs.
    n_most, n_below = ((n_alike == n_votes).sum(axis=0) // np.maximum(n_votes, 1) for n_votes in (most, most - 1))
    # Without one of its runs, a class that alone had most votes ties with those that had one vote less; one
    # of several that had most is no longer among them.
    n_alike_without = np.where(n_most == 1, (most - 1) * (1 + n_below), most * (n_most - 1))
    value = float((most * n_most).sum() / (n_runs * n_examples))
    without = np.where(n_alike == most, n_alike_without, most * n_most).sum(axis=1) / ((n_runs - 1) * n_examples)
    return Measure("majority-agreement", value, jackknife(value, without.tolist(), confidence))


def count_alike(labels: Labels) -> Counts:
    """The number of runs, including itself, with the same prediction as each run, (R, N)."""
    counts = np.empty(labels.shape, np.int32)
    for run, own in enumerate(labels):
        counts[run] = np.count_nonzero(labels == own, axis=0)
    return counts


def unstable_share(labels: Labels) -> Measure:
    """Proportion of examples on which not all runs agree; it grows with the number of runs."""
    if len(labels) < 2:
        return Measure("unstable-examples", SINGLE_RUN, SINGLE_RUN)
    return Measure("unstable-examples", float((labels != labels[0]).any(axis=0).mean()), GROWS)


def flip_rates(n_alike: Counts) -> NDArray[np.float64]:
    """Proportion of pairs of runs that disagree on each example, (N,); its mean is the churn.

    Args:
        n_alike: as `count_alike` gives it, of two runs or more.
    """
    n_runs = len(n_alike)
    rates: NDArray[np.float64] = (n_runs**2 - n_alike.sum(axis=0)) / (n_runs * (n_runs - 1))
    return rates


def least_stable(captured: CapturedSet, answers: Classified) -> tuple[UnstableExample, ...]:
    """The least stable examples: by proportion of disagreeing pairs, then in the order of the first run."""
    labels, n_alike = answers.labels, answers.n_alike
    if labels is None or n_alike is None or len(labels) < 2:
        return ()
    rates = flip_rates(n_alike)
    order = np.lexsort((captured.positions, -rates))[:N_UNSTABLE]
    return tuple(
        UnstableExample(
            position=int(captured.positions[at]),
            truth=None if answers.truth is None else int(answers.truth[at]),
            flip_rate=float(rates[at]),
            votes=_votes(labels[:, at]),
        )
        for at in order
        if rates[at] > 0
    )


def _votes(predicted: Labels) -> tuple[tuple[int, int], ...]:
    classes, counts = np.unique(predicted, return_counts=True)
    pairs = zip(classes.tolist(), counts.tolist(), strict=True)
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


Rule = tuple[Callable[[MeasureName, Any, float], Measure], Callable[[Classified], Any]]
"""A function of name, values and confidence level that returns the measure, and its values (None or empty: missing)."""
MEASURES: dict[MeasureName, Rule] = {
    "churn": (over_pairs, lambda answers: answers.churn),
    "majority-agreement": (
        lambda _, n_alike, confidence: majority_agreement(n_alike, confidence),
        lambda answers: answers.n_alike,
    ),
    "unstable-examples": (lambda _, labels, __: unstable_share(labels), lambda answers: answers.labels),
    "pearson": (over_pairs, lambda answers: answers.pearson),
    "spearman": (over_pairs, lambda answers: None if answers.outputs is None else spearman(answers.outputs)),
    "cka": (over_pairs, lambda answers: None if answers.outputs is None else linear_cka(answers.outputs)),
    "ensemble-accuracy": (over_pairs, lambda answers: answers.gains and answers.gains[0]),
    "ensemble-cross-entropy": (over_pairs, lambda answers: answers.gains and answers.gains[1]),
    "accuracy-sd": (sd_measure, lambda answers: answers.accuracies),
    "cross-entropy-sd": (sd_measure, lambda answers: answers.cross_entropies),
    "ece": (mean_measure, lambda answers: answers.calibration_errors),
    "ece-sd": (sd_measure, lambda answers: answers.calibration_errors),
}
"""Measures of one evaluation set, in report order."""


def measures_of(answers: Classified, names: Sequence[MeasureName], confidence: float) -> tuple[Measure, ...]:
    """The named measures in this order, as far as outputs and truth allow them."""
    measures = []
    for name in names:
        measure, figures_of = MEASURES[name]
        figures = figures_of(answers)
        if not (figures is None or (isinstance(figures, tuple) and not figures)):
            measures.append(measure(name, figures, confidence))
    return tuple(measures)

"""The outputs of a captured set as answers: right or wrong, probabilities, and every measure of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deviate.model import CapturedSet, OutputKind, Unavailable
from deviate.stability.measures.blocks import PIECE_BYTES, Floats, on_threads, pieces
from deviate.stability.measures.ensembles import ensemble_deltas
from deviate.stability.measures.intervals import NO_TRUTH
from deviate.stability.measures.pairwise import disagreement, pearson
from deviate.stats import SINGLE_RUN, Variability, moments

Integers = NDArray[np.integer]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Classified:
    """A captured set with true classes. R runs, N examples, C classes.

    Attributes:
        labels: (R, N). truth: (N,), None where it is not on record or no class. outputs: None for labels alone.
        n_classes: None where outputs are no scores of classes.
        notes: what was not used as true classes, and why.
    """

    labels: Integers | None
    truth: Integers | None
    outputs: Floats | None
    kind: OutputKind
    n_classes: int | None
    notes: tuple[str, ...] = ()

    @property
    def is_right(self) -> NDArray[np.bool_] | None:
        """(R, N) whether each prediction is the true class; None without one of the two."""
        return None if self.labels is None or self.truth is None else self.labels == self.truth


def classify(captured: CapturedSet) -> Classified:
    """A captured set with its true classes, if they are classes."""
    if captured.labels is None or captured.kind == "values":
        return Classified(None, None, captured.outputs, captured.kind, None)
    truth, notes = captured.truth, []
    if truth is not None and not np.issubdtype(truth.dtype, np.integer) and truth.dtype != bool:
        whole = np.issubdtype(truth.dtype, np.floating) and bool(np.isfinite(truth).all() and (truth % 1 == 0).all())
        if not whole:
            truth, notes = None, ["The true values are no whole numbers, so they are not taken for classes."]
    classes = None if truth is None else truth.astype(np.int64)
    if captured.outputs is not None:
        n_classes = int(captured.outputs.shape[-1])
    else:
        n_classes = 1 + int(max(captured.labels.max(initial=0), -1 if classes is None else classes.max(initial=0)))
    if classes is not None and len(classes) and not (classes.min() >= 0 and classes.max() < n_classes):
        notes.append(
            f"Some true labels are none of the classes 0 … {n_classes - 1}, so nothing is told of right or wrong."
        )
        classes = None
    return Classified(captured.labels, classes, captured.outputs, captured.kind, n_classes, tuple(notes))


def accuracies(answers: Classified) -> tuple[float, ...]:
    """Share of right predictions of each run; empty without true classes."""
    right = answers.is_right
    return () if right is None or not right.shape[1] else tuple(float(share) for share in right.mean(axis=1))


def cross_entropies(answers: Classified) -> tuple[float, ...]:
    """Mean of -log of the probability of the true class, in nats, of each run; empty without probabilities or truth."""
    truth = answers.truth
    if truth is None or not len(truth) or answers.outputs is None:
        return ()

    def loss(outputs: Floats) -> float:
        return float(-log_probabilities(outputs, answers.kind, truth)[0].mean())

    return tuple(on_threads(loss, list(answers.outputs)))


def log_probabilities(outputs: Floats, kind: OutputKind, truth: Integers) -> tuple[Vector, Vector]:
    """Logarithms of the probabilities of the true class and of the likeliest one, (N,) each; NaN where there are none.

    Logits are normalised by softmax. Probabilities are kept from 0 by the precision of their type, as scikit-learn's
    `log_loss` does.

    Args:
        outputs: (N, C), of one run.
    """
    n, n_classes = outputs.shape
    of_truth, largest = np.empty(n), np.empty(n)
    for piece in pieces(n, PIECE_BYTES // (8 * n_classes)):
        # Classes in rows: NumPy processes few long rows ten times as fast as many short ones.
        scores = np.array(outputs[piece].T, np.float64, order="C")
        if kind == "probabilities":
            scores = np.log(np.maximum(scores, np.finfo(outputs.dtype).eps))
        most = scores.max(axis=0)
        true = scores[truth[piece], np.arange(len(most))]
        if kind == "logits":
            with np.errstate(invalid="ignore"):  # infinite logits: no probabilities, reported as NaN
                scores -= most
                rest = np.log(np.exp(scores, out=scores).sum(axis=0))
                true, most = true - most - rest, -rest
        of_truth[piece], largest[piece] = true, most
    return of_truth, largest


N_BINS = 15


def calibration_errors(answers: Classified) -> tuple[float, ...]:
    """Expected calibration error of each run, as a share; empty without probabilities or true classes."""
    right, truth = answers.is_right, answers.truth
    if right is None or truth is None or answers.outputs is None or not len(truth):
        return ()

    def error(run: tuple[Floats, NDArray[np.bool_]]) -> float:
        outputs, is_right = run
        return calibration_error(np.exp(log_probabilities(outputs, answers.kind, truth)[1]), is_right)

    return tuple(on_threads(error, list(zip(answers.outputs, right, strict=True))))


def calibration_error(confidences: NDArray[np.float64], is_right: NDArray[np.bool_]) -> float:
    """Mean over examples of |accuracy - mean confidence| of their bin: 15 bins of one width, open at the lower end.

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


Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Scores, one per run, empty if there are none; (R, R) matrices, None if outputs or truth do not allow them.

    Attributes:
        gains, loss_gains: of ensembles of two, in accuracy and in cross-entropy.
    """

    accuracies: tuple[float, ...]
    cross_entropies: tuple[float, ...]
    churn: Matrix | None
    pearson: Matrix | None
    gains: Matrix | None
    loss_gains: Matrix | None


def measure_all(answers: Classified) -> Measured:
    """All measures that the outputs and the truth of a set allow."""
    gains, loss_gains = None, None
    if answers.outputs is not None and answers.truth is not None:
        gains, loss_gains = ensemble_deltas(answers.outputs, answers.kind, answers.truth)
    return Measured(
        accuracies(answers),
        cross_entropies(answers),
        None if answers.labels is None else disagreement(answers.labels),
        None if answers.outputs is None else pearson(answers.outputs),
        gains,
        loss_gains,
    )


def variability(measures: Measured, runs: NDArray[np.intp]) -> Variability | Unavailable:
    """The five measures of Summers & Dinneen (2021) of these runs alone."""
    if measures.churn is None or measures.pearson is None:
        return Unavailable("outputs are no scores of classes")
    if measures.gains is None:
        return NO_TRUTH
    if len(runs) < 2:
        return SINGLE_RUN
    pairs, upper = np.ix_(runs, runs), np.triu_indices(len(runs), 1)
    means = [float(matrix[pairs][upper].mean()) for matrix in (measures.churn, measures.pearson, measures.gains)]
    scores = [[score[run] for run in runs] for score in (measures.accuracies, measures.cross_entropies)]
    if not np.isfinite([*means, *scores[0], *scores[1]]).all():
        return Unavailable("one of the measures is no finite number")
    return Variability(moments(scores[0]).sd, moments(scores[1]).sd, *means)

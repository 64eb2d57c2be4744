"""Measures of one set that several stability figures share: scores of runs, and matrices over pairs of runs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deviate.model import Unavailable
from deviate.stability.measures.classified import Classified, accuracies, cross_entropies
from deviate.stability.measures.ensembles import ensemble_deltas
from deviate.stability.measures.figures import NO_TRUTH
from deviate.stability.measures.pairwise import disagreement, pearson
from deviate.stats import SINGLE_RUN, Variability, moments

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

"""Calibration: how far the confidence of predictions is from how often they are right."""

import numpy as np
from numpy.typing import NDArray

from deviate.stability.measures.blocks import Floats, on_threads
from deviate.stability.measures.classified import Classified, log_probabilities

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

"""What an ensemble of two runs gains over its members: in accuracy and in cross-entropy, for every pair of runs."""

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from deviate.model.records import OutputKind
from deviate.stability.measures.blocks import (
    PIECE_BYTES,
    WIDTH,
    Bools,
    Floats,
    Labels,
    Matrix,
    mirror,
    on_threads,
    pieces,
)

CACHE_BYTES = 2**20
"""Bytes processed at once, so that they stay in a core's cache."""
N_AT_ONCE, N_PREPARED = 64, 512
"""Examples whose pairs are in memory at once, and those that one thread prepares at once."""
SMALL = 2**18
"""Multiplications in a matrix product that starts no BLAS threads."""
N_FACTORS = 16
"""Examples whose likelihoods are multiplied before one logarithm is taken, which costs ten times as much. It divides
N_AT_ONCE."""
LEAST_PRODUCT = 1e-280
"""Products of probabilities above this have not lost precision to underflow."""


def ensemble_deltas(outputs: Floats, kind: OutputKind, truth: Labels) -> tuple[Matrix, Matrix]:
    """Accuracy, and cross-entropy in nats, of the mean output of two runs, less that of each, mean over both.

    The mean is of probabilities where these were put out, else of logits or, which gives the same classes and
    probabilities, of their logarithms. Its class is the first of its largest, as they are in the precision of the
    outputs, from float32 on; where two outputs together are beyond its range, halves are added. Cross-entropies are
    computed in float64.

    Args:
        outputs: (R, N, C) logits, log-probabilities or probabilities.
        truth: (N,) true classes; an example of another class than those from 0 to C - 1 is never right, and its
            cross-entropy is infinite.

    Returns:
        Two (R, R) matrices with a diagonal of 0. Gains are above 0 in accuracy, as shares, and below 0 in
        cross-entropy. NaN for runs that hold NaN or an infinite score; -inf, or NaN where the ensemble's is infinite
        too, in cross-entropy where a member gives a true class the probability 0. Logits of -inf stand for that.

    Source: Summers & Dinneen (2021).
    """
    usable = np.fromiter((bool((one < np.inf).all()) for one in outputs), bool, len(outputs))
    n = len(truth)
    scores = outputs if outputs.dtype.itemsize >= 4 else outputs.astype(np.float32)
    if n == 0:
        nothing = np.full((len(outputs), len(outputs)), np.nan)
        return nothing, nothing.copy()
    right = _right(scores, truth)
    losses = (_losses_of_probabilities if kind == "probabilities" else _losses_of_logits)(scores, truth)
    return _deltas(right / n, usable), _deltas(losses / n, usable)


def _deltas(values: Matrix, usable: Bools) -> Matrix:
    """Values of ensembles minus those of members, which are on the diagonal; only the upper triangle is used."""
    alone = np.diagonal(values)
    with np.errstate(over="ignore", invalid="ignore"):
        deltas = mirror(values - (alone[:, None] + alone) / 2)
    deltas[~usable] = deltas[:, ~usable] = np.nan
    return deltas


def _right(scores: Floats, truth: Labels) -> Matrix:
    """Number of examples for which the mean of two runs is right, in the upper triangle.

    Examples are sorted by true class, with classes in rows: the true class has the first largest score if its row is
    above all rows before it and not below any after it.
    """
    n_runs, _, n_classes = scores.shape
    limit = np.finfo(scores.dtype).max / 2
    is_huge = any(bool((np.abs(one[np.isfinite(one)]) > limit).any()) for one in scores)
    size = max(64, CACHE_BYTES // (n_runs * n_classes * scores.itemsize // 2 + 1))
    examples = [
        (label, of_class[piece])
        for label in range(n_classes)
        for of_class in [np.flatnonzero(truth == label)]
        for piece in pieces(len(of_class), size)
    ]
    totals = np.zeros((n_runs, n_runs))
    for counts in on_threads(partial(_right_of_class, scores, is_huge=is_huge), examples):
        totals += counts
    return totals


def _right_of_class(
    scores: Floats, of_class: tuple[int, npt.NDArray[np.intp]], *, is_huge: bool
) -> npt.NDArray[np.int64]:
    label, examples = of_class
    rows = np.ascontiguousarray(scores[:, examples].transpose(2, 0, 1))
    if is_huge:
        rows *= 0.5
    n_classes, n_runs, n = rows.shape
    counts = np.zeros((n_runs, n_runs), np.int64)
    width = min(n_runs, max(1, CACHE_BYTES // (n_classes * n * rows.itemsize)))
    room = np.empty((n_classes, width, n), rows.dtype)  # allocating again would cost more than the sums
    with np.errstate(invalid="ignore"):
        for run in range(n_runs):
            for columns in pieces(n_runs - run, width):
                start, stop = run + columns.start, run + columns.stop
                both = np.add(rows[:, run : run + 1], rows[:, start:stop], out=room[:, : stop - start])
                diagonal = both[label]
                is_right = np.ones(diagonal.shape, bool)
                if label > 0:
                    is_right &= both[:label].max(axis=0) < diagonal
                if label + 1 < n_classes:
                    is_right &= both[label + 1 :].max(axis=0) <= diagonal
                counts[run, start:stop] = np.count_nonzero(is_right, axis=1)
    return counts


def _losses_of_logits(scores: Floats, truth: Labels) -> Matrix:
    """Cross-entropy of the softmax of the mean of two runs, summed over examples.

    With d the logits less that of the true class, that of one example is log of the sum over classes of
    exp((d_i + d_j) / 2) = exp(d_i / 2) exp(d_j / 2): a matrix product over all pairs of runs. The sum is at least 1,
    so only the largest can get lost, and that shows.
    """
    n_runs, n, n_classes = scores.shape
    if ((truth < 0) | (truth >= n_classes)).any():
        return np.full((n_runs, n_runs), np.inf)
    most = min(N_PREPARED, PIECE_BYTES // (8 * n_runs * n_classes + 1))
    size = max(1, most // N_FACTORS) * N_FACTORS
    totals = np.zeros((n_runs, n_runs))
    for losses in on_threads(partial(_losses_of_piece, scores, truth), pieces(n, size)):
        totals += losses
    return totals


def _losses_of_piece(scores: Floats, truth: Labels, piece: slice) -> Matrix:
    n_runs, _, n_classes = scores.shape
    true = truth[None, piece, None]
    halves = scores[:, piece].astype(np.float64)
    losses = np.zeros((n_runs, n_runs))
    width = min(WIDTH, n_runs, max(1, math.isqrt(SMALL // n_classes)))
    tiles = pieces(n_runs, width)
    room = np.empty(N_AT_ONCE * width * width)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        halves -= np.take_along_axis(halves, true, axis=2)
        halves /= 2
        powers = np.exp(halves).transpose(1, 0, 2).copy()
        turned = powers.transpose(0, 2, 1).copy()
        for part in pieces(len(powers), N_AT_ONCE):
            for place, rows in enumerate(tiles):
                for columns in tiles[place:]:
                    both = _likelihoods(powers[part, rows], turned[part, :, columns], room)
                    if both.max() < np.inf:
                        losses[rows, columns] += np.log(both).sum(axis=0)
                    else:
                        losses[rows, columns] += _direct(halves[rows, part], halves[columns, part])
    return losses


def _likelihoods(first: Matrix, second: Matrix, room: Matrix) -> Matrix:
    """Inverse likelihoods of true classes for all pairs of two ranges of runs, multiplied over a few examples each."""
    n, n_rows, _ = first.shape
    n_columns = second.shape[2]
    n_groups = -(-n // N_FACTORS)
    both = room[: n_groups * N_FACTORS * n_rows * n_columns].reshape(n_groups, N_FACTORS, n_rows, n_columns)
    flat = both.reshape(-1, n_rows, n_columns)
    np.matmul(first, second, out=flat[:n])
    flat[n:] = 1.0
    grouped: Matrix = np.multiply.reduce(both, axis=1)
    return grouped


def _direct(first: Matrix, second: Matrix) -> Matrix:
    """The sum of logarithms for scores whose exponentials overflow: log-sum-exp with the maximum taken out."""
    totals = np.zeros((len(first), len(second)))
    for example in range(first.shape[1]):
        both = first[:, None, example] + second[:, example]
        largest = both.max(axis=2)
        finite = np.where(np.isfinite(largest), largest, 0.0)
        totals += np.log(np.exp(both - finite[:, :, None]).sum(axis=2)) + finite
    return totals


def _losses_of_probabilities(scores: Floats, truth: Labels) -> Matrix:
    """Cross-entropy of the mean of two runs, summed over examples; in the upper triangle."""
    n_runs, n, n_classes = scores.shape
    if ((truth < 0) | (truth >= n_classes)).any():
        return np.full((n_runs, n_runs), np.inf)
    of_truth: Matrix = scores[:, np.arange(n), truth].astype(np.float64) / 2
    begins = np.arange(0, n, N_FACTORS)
    totals = np.zeros((n_runs, n_runs))

    def against(run: int) -> None:
        with np.errstate(divide="ignore", under="ignore", invalid="ignore"):
            both = of_truth[run] + of_truth[run:]
            products = np.multiply.reduceat(both, begins, axis=1)
            is_lost = ~(products > LEAST_PRODUCT)
            totals[run, run:] = -np.log(np.where(is_lost, 1.0, products)).sum(axis=1)
            for other, group in np.argwhere(is_lost):
                factors = both[other, group * N_FACTORS : (group + 1) * N_FACTORS]
                totals[run, run + other] -= np.log(factors).sum()

    on_threads(against, range(n_runs))
    return totals

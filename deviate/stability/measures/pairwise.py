"""Similarity of outputs and of weights, and the gain of an ensemble, for every pair of runs.

Every function returns a symmetric (R, R) float64 matrix, R runs in the order given. A pair that has no number is NaN
there: where a run put out a value that is not finite, or nothing that varies. `intervals.over_pairs` says so.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from deviate.model.records import OutputKind
from deviate.stability.measures.blocks import (
    PIECE_BYTES,
    Bools,
    Centred,
    Floats,
    Labels,
    Matrix,
    among,
    finite_runs,
    mark_identical,
    mirror,
    on_threads,
    pieces,
    products,
)

Indices = npt.NDArray[np.intp]
TILE = 1024
"""Number of columns of outputs, over runs and classes, whose products are in memory at once: 8 MiB."""


def disagreement(labels: Labels) -> Matrix:
    """Churn of each pair of runs: share of examples for which they predict different classes.

    Args:
        labels: (R, N) predicted classes.

    Source: Milani Fard et al. (2016); of runs of one script: Zhuang et al. (2022).
    """
    n_runs, n = labels.shape
    if n == 0:
        return np.full((n_runs, n_runs), np.nan)
    counts = np.zeros((n_runs, n_runs))
    for i, j in combinations(range(n_runs), 2):
        counts[i, j] = counts[j, i] = np.count_nonzero(labels[i] != labels[j])
    shares: Matrix = counts / n
    return shares


def pearson(outputs: Floats) -> Matrix:
    """Correlation of outputs, all numbers of a run as one vector.

    Args:
        outputs: (R, N, ...) scores or values.

    Source: Pearson (1895); of logits: Summers & Dinneen (2021).
    """
    return _correlations(_flat(outputs, 1))


def spearman(outputs: Floats, *, ties_by_place: bool = False) -> Matrix:
    """Rank correlation of outputs, all numbers of a run as one vector; ties take the average of their ranks.

    Args:
        outputs: (R, N, ...) scores or values.
        ties_by_place: rank ties by position, as argsort does. Only for comparison with published numbers: with
            many ties, runs look more or less similar than they are.

    Source: Spearman (1904); ranks by argsort: code of Summers & Dinneen (2021).
    """
    from scipy.stats import rankdata  # slow to import, and churn needs no ranks

    flat = _flat(outputs, 1)
    ranks = np.full(flat.shape, np.nan)

    def rank(run: int) -> None:
        ranks[run] = rankdata(flat[run], method="ordinal" if ties_by_place else "average")

    on_threads(rank, np.flatnonzero(finite_runs(flat)).tolist())
    return _correlations(ranks)


def linear_cka(outputs: Floats) -> Matrix:
    """Linear centred kernel alignment, ||Y'X||² / (||X'X|| ||Y'Y||) in Frobenius norms of centred columns.

    Args:
        outputs: (R, N, C) scores, or (R, N) values.

    Source: Kornblith et al. (2019).
    """
    usable = finite_runs(outputs)
    columns = _flat(outputs if usable.all() else outputs[usable], 2)
    centred = Centred(columns)
    n_runs, _, n_classes = columns.shape
    cross = np.zeros((n_runs, n_runs))
    tiles = pieces(n_runs * n_classes, TILE)
    for place, rows in enumerate(tiles):
        for tile in tiles[place:]:
            first, second = (_is_of_run(columns, n_runs, n_classes) for columns in (rows, tile))
            part = first @ _products(centred, rows, tile) ** 2 @ second.T
            cross += part if rows == tile else part + part.T
    return among(usable, _normalise(cross, columns))


def normalised_distances(layers: Mapping[str, Floats]) -> Matrix:
    """Euclidean distance of weights, all layers as one vector normalised to length 1; in [0, 2].

    For one layer, pass that layer alone. A run whose weights are all 0 has no direction, and no distance.

    Args:
        layers: by name, (R, n) weights.

    Source: sqrt(2 - 2 cos), Zhuang et al. (2022).
    """
    from scipy.spatial.distance import cdist  # slow to import, and most records have no weights

    lengths = np.sqrt(sum(np.square(part).sum(axis=1) for part in _weight_pieces(layers)))
    usable = np.isfinite(lengths) & (lengths > 0)
    squared = np.zeros((usable.sum(), usable.sum()))
    for part in _weight_pieces(layers):  # not 2 - 2 cos: weights that are one bit apart would have the distance 0
        units = part[usable] / lengths[usable, None]
        squared += cdist(units, units, "sqeuclidean")
    return among(usable, np.sqrt(squared))


def _weight_pieces(layers: Mapping[str, Floats]) -> Iterator[Matrix]:
    """Columns of the weights in float64. Layers are read one by one to bound the memory."""
    for layer in layers.values():
        flat = _flat(layer, 1)
        for piece in pieces(max(1, flat.shape[1]), PIECE_BYTES // max(1, 8 * len(flat))):  # an empty layer has one
            yield flat[:, piece].astype(np.float64)


def _flat(numbers: npt.NDArray[Any], n_dimensions: int) -> npt.NDArray[Any]:
    """Flatten all dimensions but the first ones."""
    return numbers.reshape(*numbers.shape[:n_dimensions], math.prod(numbers.shape[n_dimensions:]))


def _correlations(flat: npt.NDArray[Any]) -> Matrix:
    """Correlations of rows; NaN where one is not finite or constant."""
    usable = finite_runs(flat)
    rows = flat if usable.all() else flat[usable]
    centred = Centred(rows[:, :, None])
    sums = np.zeros((len(rows), len(rows)))
    for piece in pieces(rows.shape[1], PIECE_BYTES // max(1, 8 * len(rows))):
        numbers = centred.piece(piece)[:, 0]
        sums += products(numbers, numbers)
    return among(usable, _normalise(sums, rows))


def _products(centred: Centred, rows: slice, columns: slice) -> Matrix:
    """Products, summed over examples, of two ranges of columns, counted through all classes of all runs."""
    totals = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
    for piece in pieces(centred.n, PIECE_BYTES // (8 * max(TILE, 2 * centred.runs.shape[2]))):
        first = _columns(centred, piece, rows)
        totals += products(first, first if rows == columns else _columns(centred, piece, columns))
    return totals


def _is_of_run(columns: slice, n_runs: int, n_classes: int) -> Matrix:
    """Indicator (R, columns): 1 if a column, counted over all classes of all runs, belongs to the run."""
    run = np.arange(columns.start, columns.stop) // n_classes
    is_of: Matrix = np.equal(run, np.arange(n_runs)[:, None]).astype(np.float64)
    return is_of


def _columns(centred: Centred, piece: slice, columns: slice) -> Matrix:
    n_classes = centred.runs.shape[2]
    runs = slice(columns.start // n_classes, -(-columns.stop // n_classes))
    block = centred.piece(piece, runs)
    begin = columns.start - runs.start * n_classes
    return block.reshape(-1, block.shape[2])[begin : begin + columns.stop - columns.start]


def _normalise(sums: Matrix, runs: npt.NDArray[Any]) -> Matrix:
    """Products over the root of the product of the self-products; NaN for runs whose self-product is 0."""
    norms = np.sqrt(np.diagonal(sums))
    norms[norms == 0] = np.nan
    alike = mirror(np.clip(sums / (norms * norms[:, None]), -1.0, 1.0))
    np.fill_diagonal(alike, norms / norms)
    mark_identical(alike, runs)
    return alike


# What an ensemble of two runs gains over its members: in accuracy and in cross-entropy, for every pair of runs.

CACHE_BYTES = 2**20
"""Bytes processed at once, so that they stay in a core's cache."""
LEAST_PRODUCT = 1e-280
"""Sums of probabilities above this have not lost precision to underflow."""


def ensemble_deltas(outputs: Floats, kind: OutputKind, truth: Labels) -> tuple[Matrix, Matrix]:
    """Accuracy and cross-entropy (in nats) of the mean output of two runs, minus the mean of the single runs.

    The mean is of probabilities where these are the outputs, else of logits or, which gives the same classes and
    probabilities, of their logarithms. Its class is the first of its largest, as they are in the precision of the
    outputs, from float32 on. Cross-entropies are computed in float64.

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
    n_runs, n, n_classes = outputs.shape
    scores = outputs if outputs.dtype.itemsize >= 4 else outputs.astype(np.float32)
    if n == 0:
        nothing = np.full((n_runs, n_runs), np.nan)
        return nothing, nothing.copy()
    of_class = [(label, np.flatnonzero(truth == label)) for label in range(n_classes)]
    size = max(64, CACHE_BYTES // (n_runs * n_classes * scores.itemsize // 2 + 1))
    parts = [(label, examples[piece]) for label, examples in of_class for piece in pieces(len(examples), size)]
    right = sum(on_threads(partial(_right, scores), parts), start=np.zeros((n_runs, n_runs)))
    if ((truth < 0) | (truth >= n_classes)).any():
        losses = np.full((n_runs, n_runs), np.inf)
    else:
        width = max(n_runs, n_classes) * n_runs + 1
        of_piece = _probability_losses if kind == "probabilities" else _logit_losses
        batches = [(scores[:, piece], truth[piece]) for piece in pieces(n, PIECE_BYTES // (8 * width))]
        losses = sum(on_threads(of_piece, batches), start=np.zeros((n_runs, n_runs)))
    return _deltas(right / n, usable), _deltas(losses / n, usable)


def _deltas(values: Matrix, usable: Bools) -> Matrix:
    """Values of ensembles minus those of members, which are on the diagonal; only the upper triangle is used."""
    alone = np.diagonal(values)
    with np.errstate(over="ignore", invalid="ignore"):
        deltas = mirror(values - (alone[:, None] + alone) / 2)
    deltas[~usable] = deltas[:, ~usable] = np.nan
    return deltas


def _right(scores: Floats, part: tuple[int, Indices]) -> Matrix:
    """Number of examples of one class for which the mean of two runs is right, in the upper triangle.

    The true class has the first largest score if its row is above all rows before it and not below any after it.
    """
    label, examples = part
    rows = np.ascontiguousarray(scores[:, examples].transpose(2, 0, 1))  # few long rows are quicker than many short
    counts = np.zeros((len(scores), len(scores)))
    with np.errstate(over="ignore", invalid="ignore"):
        for run in range(len(scores)):
            both = rows[:, run : run + 1] + rows[:, run:]
            is_right = (both[:label] < both[label]).all(axis=0) & (both[label + 1 :] <= both[label]).all(axis=0)
            counts[run, run:] = np.count_nonzero(is_right, axis=1)
    return counts


def _logit_losses(batch: tuple[Floats, Labels]) -> Matrix:
    """Cross-entropy of the softmax of the mean of two runs, summed over examples.

    The sum over classes of exp((a + b) / 2) = exp(a / 2) exp(b / 2) is a matrix product over all pairs of runs. Where
    it underflows, as for runs that are sure of different classes, the logarithms are added instead.
    """
    scores, truth = batch
    halves = scores.transpose(1, 0, 2).astype(np.float64) / 2
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        halves -= halves.max(axis=2, keepdims=True)
        powers = np.exp(halves)
        both = powers @ powers.transpose(0, 2, 1)
        logs = np.log(both)
        is_lost = both < LEAST_PRODUCT
        if is_lost.any():
            example, run, other = np.nonzero(is_lost)
            logs[is_lost] = logsumexp(halves[example, run] + halves[example, other], axis=1)
        of_truth = np.take_along_axis(halves, truth[:, None, None], axis=2).sum(axis=0)
        losses: Matrix = logs.sum(axis=0) - of_truth - of_truth.T
    return losses


def _probability_losses(batch: tuple[Floats, Labels]) -> Matrix:
    """Cross-entropy of the mean of two runs, summed over examples."""
    scores, truth = batch
    halves = scores[:, np.arange(len(truth)), truth].astype(np.float64) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        losses: Matrix = -np.log(halves[:, None] + halves).sum(axis=2)
    return losses

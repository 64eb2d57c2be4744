"""Similarity of outputs and of weights, and the gain of an ensemble, for every pair of runs.

Every function returns a symmetric (R, R) float64 matrix, R runs in the order given. A pair that has no number is NaN
there: where a run put out a value that is not finite, or nothing that varies. `jackknife.over_pairs` names that.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from deviate.model.records import OutputKind
from deviate.stability.measures.blocks import (
    PIECE_BYTES,
    WIDTH,
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
Exponents = npt.NDArray[np.intc]
"""Exponents as `numpy.frexp` returns them and `numpy.ldexp` takes them on all platforms."""

TILE = 1024
"""Number of columns of outputs, over runs and classes, whose products are in memory at once: 8 MiB."""
NEAR = 1e-3
"""Squared distances below this lose digits as 2 - 2 cos."""


def disagreement(labels: Labels) -> Matrix:
    """Churn of each pair of runs: share of examples for which they predict different classes.

    Args:
        labels: (R, N) predicted classes.

    Source: Milani Fard et al. (2016); of runs of one script: Zhuang et al. (2022).
    """
    n_runs, n = labels.shape
    if n == 0:
        return np.full((n_runs, n_runs), np.nan)
    narrow = labels.astype(_narrowest(labels))
    counts = np.zeros((n_runs, n_runs))
    for i, j in combinations(range(n_runs), 2):
        counts[i, j] = counts[j, i] = np.count_nonzero(narrow[i] != narrow[j])
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
    flat = _flat(outputs, 1)
    # Up to 2^23 numbers twice a rank is an integer that float32 holds.
    ranks = np.full(flat.shape, np.nan, np.float32 if flat.shape[1] < 2**23 else np.float64)

    def rank(run: int) -> None:
        order, doubled = _doubled_ranks(flat[run], ties_by_place=ties_by_place)
        ranks[run, order] = doubled

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
    all_largest, all_exponents, all_sums = zip(
        *(_layer_products(_flat(layer, 1)) for layer in layers.values()), strict=True
    )
    largest, exponents = np.max(all_largest, axis=0), np.max(all_exponents, axis=0)
    usable = np.isfinite(largest) & (largest > 0)
    sums = np.zeros((len(usable), len(usable)))
    for layer_exponents, layer_sums in zip(all_exponents, all_sums, strict=True):
        below = layer_exponents - exponents
        sums += np.ldexp(layer_sums, below[:, None] + below)
    lengths = np.sqrt(np.where(usable, np.diagonal(sums), 1.0))
    squared = np.clip(2 - 2 * sums / (lengths * lengths[:, None]), 0.0, 4.0)
    near = np.argwhere(np.triu(squared < NEAR, 1) & usable & usable[:, None])
    if len(near):
        squared[near[:, 0], near[:, 1]] = 0.0
        for layer in layers.values():
            for numbers in _scale_pieces(_flat(layer, 1), exponents, usable):
                units = numbers / lengths[:, None]
                for i, j in near:
                    apart = units[i] - units[j]
                    squared[i, j] += apart @ apart
    return among(usable, np.sqrt(mirror(squared)[np.ix_(usable, usable)]))


def _layer_products(layer: Floats) -> tuple[Matrix, Exponents, Matrix]:
    """The largest weight of each run, its exponent of two, and the products of the scaled runs.

    Layers are read one by one to bound the memory.
    """
    largest = np.abs(layer).max(axis=1, initial=0).astype(np.float64)
    usable = np.isfinite(largest)
    exponents = np.clip(np.frexp(np.where(usable, largest, 0.0))[1], -1022, 1022)
    exponents[largest == 0] = -1022
    sums = np.zeros((len(layer), len(layer)))
    for numbers in _scale_pieces(layer, exponents, usable):
        sums += products(numbers, numbers)
    return largest, exponents, sums


def _scale_pieces(layer: Floats, exponents: Exponents, usable: Bools) -> Iterator[Matrix]:
    """Pieces in float64, divided by powers of two, so that no square leaves the range of floats."""
    scales = np.ldexp(1.0, -exponents)[:, None]
    for piece in pieces(layer.shape[1], PIECE_BYTES // max(1, 8 * len(layer))):
        yield np.where(usable[:, None], layer[:, piece], 0.0).astype(np.float64) * scales


def _flat(numbers: npt.NDArray[Any], n_dimensions: int) -> npt.NDArray[Any]:
    """Flatten all dimensions but the first ones."""
    return numbers.reshape(*numbers.shape[:n_dimensions], math.prod(numbers.shape[n_dimensions:]))


def _narrowest(labels: Labels) -> npt.DTypeLike:
    """The smallest type that distinguishes these labels: casts wrap modulo its range, which covers their span."""
    span = int(labels.max(initial=0)) - int(labels.min(initial=0))
    return np.uint8 if span < 2**8 else np.uint16 if span < 2**16 else labels.dtype


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


def _doubled_ranks(numbers: Floats, *, ties_by_place: bool) -> tuple[Indices, Indices]:
    """The sort order of numbers, and twice the rank of each in that order, from 2; ties share their mean rank."""
    n = len(numbers)
    doubled = np.arange(2, 2 * n + 2, 2)
    order = np.argsort(numbers)
    ordered = numbers[order]
    is_tied = np.zeros(n + 1, np.int8)
    np.equal(ordered[1:], ordered[:-1], out=is_tied[1:n].view(bool))
    if not is_tied.any():
        return order, doubled
    if ties_by_place:
        return np.argsort(numbers, kind="stable"), doubled
    steps = np.diff(is_tied)
    begins, ends = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    lengths = ends - begins + 1
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    doubled[np.repeat(begins, lengths) + within] = np.repeat(begins + ends + 2, lengths)
    return order, doubled


# What an ensemble of two runs gains over its members: in accuracy and in cross-entropy, for every pair of runs.

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
    """Accuracy and cross-entropy (in nats) of the mean output of two runs, minus the mean of the single runs.

    The mean is of probabilities where these are the outputs, else of logits or, which gives the same classes and
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

"""Pairs of runs as plots: on how many examples two disagree, how far apart their weights are."""

import itertools
import math
from collections.abc import Sequence
from statistics import median

from deviate.model import SetStability, WeightStability
from deviate.report.format import counted, decimals, name_text, number
from deviate.report.parts.stability.measure_labels import PLAIN, SHARE, Words
from deviate.report.plots import MatrixPlot

MOST_RUNS, MOST_TEXTS = 100, 8
"""Runs of a matrix, and runs of one whose cells have text."""
Matrix = tuple[tuple[float, ...], ...]


def disagreement_plot(it: SetStability, anchor: str, labels: Sequence[str]) -> MatrixPlot | None:
    """None where fewer than two runs have classes."""
    heading = f"{name_text(it.name)}, {labels[it.experiment]}"
    return _plot(
        it.disagreement,
        it.replicates,
        key=f"{anchor}-pairs-{it.experiment}",
        title=f"{heading}: share of examples on which two runs disagree",
        axis="% of examples on which two runs disagree",
        index=it.experiment,
        words=SHARE,
    )


def distance_plot(it: WeightStability, labels: Sequence[str]) -> MatrixPlot | None:
    return _plot(
        it.distances,
        it.replicates,
        key=f"stability-weights-{it.experiment}",
        title=f"{labels[it.experiment]}: distance of the final weights of two runs",
        axis="distance of the weights of two runs",
        index=it.experiment,
        words=PLAIN,
    )


def _plot(
    matrix: Matrix, replicates: Sequence[int], *, key: str, title: str, axis: str, index: int, words: Words
) -> MatrixPlot | None:
    if len(matrix) < 2:
        return None
    n_left_out, n = max(0, len(matrix) - MOST_RUNS), min(len(matrix), MOST_RUNS)
    values = tuple(tuple(words.scale * it for it in row[:n]) for row in matrix[:n])
    every = itertools.combinations(range(n), 2)
    pairs = {(i, j): values[i][j] for i, j in every if math.isfinite(values[i][j])}
    if not pairs:
        return None
    low, high = min(pairs, key=lambda it: pairs[it]), max(pairs, key=lambda it: pairs[it])
    places = max(0, decimals((pairs[high] - pairs[low]) or abs(pairs[high])) or 0)

    def told(value: float) -> str:
        return number(value, places)

    def named(pair: tuple[int, int]) -> str:
        return f"{told(pairs[pair])} (replicates {replicates[pair[0]]} and {replicates[pair[1]]})"

    more = f" The first {n} runs are drawn; {n_left_out} are not." if n_left_out else ""
    n_unknown = math.comb(n, 2) - len(pairs)
    more += f" Empty, for want of a finite number: {counted(n_unknown, 'pair')}." if n_unknown else ""
    texts = tuple(tuple(told(it) if math.isfinite(it) else "" for it in row) for row in values)
    return MatrixPlot(
        key=key,
        title=title,
        description=f"{axis}: {counted(len(pairs), 'pair')} of {n} runs, median {told(median(pairs.values()))}, "
        f"least {named(low)}, most {named(high)}.{more}",
        caption=f"A cell is a pair of runs, by replicate; the stronger its colour, the farther apart.{more}",
        axis=axis,
        index=index,
        names=tuple(str(it) for it in replicates[:n]),
        values=values,
        texts=texts if n <= MOST_TEXTS else (),
        low=told(pairs[low]),
        high=told(pairs[high]),
    )

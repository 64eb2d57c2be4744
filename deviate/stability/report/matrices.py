"""Pairs of runs as plots: share of examples on which two disagree, distance of their weights."""

import itertools
import math
from collections.abc import Sequence
from statistics import median

from deviate.model import SetStability, WeightStability
from deviate.report import MatrixPlot, counted, decimals, name_text, number
from deviate.stability.report.measure_labels import PLAIN, SHARE, Words

MOST_RUNS, MOST_TEXTS = 100, 8
"""Runs of a matrix, and runs of one whose cells have text."""
Matrix = tuple[tuple[float, ...], ...]


def disagreement_plot(captured: SetStability, anchor: str, labels: Sequence[str]) -> MatrixPlot | None:
    """Plot of disagreement; None if fewer than two runs have classes."""
    heading = f"{name_text(captured.name)}, {labels[captured.experiment]}"
    return _plot(
        captured.disagreement,
        captured.replicates,
        key=f"{anchor}-pairs-{captured.experiment}",
        title=f"{heading}: share of examples on which two runs disagree",
        axis="% of examples on which two runs disagree",
        index=captured.experiment,
        words=SHARE,
    )


def distance_plot(weight_stability: WeightStability, labels: Sequence[str]) -> MatrixPlot | None:
    return _plot(
        weight_stability.distances,
        weight_stability.replicates,
        key=f"stability-weights-{weight_stability.experiment}",
        title=f"{labels[weight_stability.experiment]}: distance of the final weights of two runs",
        axis="distance of the weights of two runs",
        index=weight_stability.experiment,
        words=PLAIN,
    )


def _plot(
    matrix: Matrix, replicates: Sequence[int], *, key: str, title: str, axis: str, index: int, words: Words
) -> MatrixPlot | None:
    if len(matrix) < 2:
        return None
    n_left_out, n = max(0, len(matrix) - MOST_RUNS), min(len(matrix), MOST_RUNS)
    values = tuple(tuple(words.scale * value for value in row[:n]) for row in matrix[:n])
    every = itertools.combinations(range(n), 2)
    pairs = {(i, j): values[i][j] for i, j in every if math.isfinite(values[i][j])}
    if not pairs:
        return None
    low, high = min(pairs, key=lambda pair: pairs[pair]), max(pairs, key=lambda pair: pairs[pair])
    places = max(0, decimals((pairs[high] - pairs[low]) or abs(pairs[high])) or 0)

    def format_value(value: float) -> str:
        return number(value, places)

    def name_pair(pair: tuple[int, int]) -> str:
        return f"{format_value(pairs[pair])} (replicates {replicates[pair[0]]} and {replicates[pair[1]]})"

    more = f" The first {n} runs are drawn; {n_left_out} are not." if n_left_out else ""
    n_unknown = math.comb(n, 2) - len(pairs)
    more += f" Empty, for want of a finite number: {counted(n_unknown, 'pair')}." if n_unknown else ""
    texts = tuple(tuple(format_value(value) if math.isfinite(value) else "" for value in row) for row in values)
    return MatrixPlot(
        key=key,
        title=title,
        description=f"{axis}: {counted(len(pairs), 'pair')} of {n} runs, "
        f"median {format_value(median(pairs.values()))}, least {name_pair(low)}, most {name_pair(high)}.{more}",
        caption=f"A cell is a pair of runs, by replicate; the stronger its colour, the farther apart.{more}",
        axis=axis,
        index=index,
        names=tuple(str(replicate) for replicate in replicates[:n]),
        values=values,
        texts=texts if n <= MOST_TEXTS else (),
        low=format_value(pairs[low]),
        high=format_value(pairs[high]),
    )

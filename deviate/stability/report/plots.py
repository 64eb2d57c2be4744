"""Plots of pairs of runs and of steps: disagreement on examples, distance of weights."""

import itertools
import math
from collections.abc import Sequence
from statistics import median

from deviate.model import Findings, Interval, Measure, SetStability, Unavailable, WeightStability
from deviate.report import MatrixPlot, StepLine, StepsPlot, counted, decimals, name_text, number
from deviate.stability.report.measure_labels import MEASURES, PLAIN, SHARE, Words, measure_text

MOST_RUNS, MOST_TEXTS = 100, 8
"""Runs of a matrix, and runs of one whose cells have text."""
Matrix = tuple[tuple[float, ...], ...]
Steps = Sequence[tuple[int, Measure]]


def disagreement_plot(captured: SetStability, anchor: str, labels: Sequence[str]) -> MatrixPlot | None:
    """Plot of disagreement; None if fewer than two runs have classes."""
    heading = f"{name_text(captured.name)}, {labels[captured.experiment]}"
    return _matrix_plot(
        captured.disagreement,
        captured.replicates,
        key=f"{anchor}-pairs-{captured.experiment}",
        title=f"{heading}: share of examples on which two runs disagree",
        axis="% of examples on which two runs disagree",
        index=captured.experiment,
        words=SHARE,
    )


def distance_plot(weight_stability: WeightStability, labels: Sequence[str]) -> MatrixPlot | None:
    return _matrix_plot(
        weight_stability.distances,
        weight_stability.replicates,
        key=f"stability-weights-{weight_stability.experiment}",
        title=f"{labels[weight_stability.experiment]}: distance of the final weights of two runs",
        axis="distance of the weights of two runs",
        index=weight_stability.experiment,
        words=PLAIN,
    )


def _matrix_plot(
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


def churn_plot(sets: Sequence[SetStability], anchor: str, title: str, labels: Sequence[str]) -> StepsPlot | None:
    lines = [
        (captured.experiment, len(captured.replicates), [(one.step, one.churn) for one in captured.steps])
        for captured in sets
    ]
    return _steps_plot(
        lines, labels, f"{anchor}-steps", f"{title}: churn by step", "% of examples on which two runs disagree"
    )


def weight_steps(findings: Findings) -> list[tuple[int, int, Steps]]:
    """Index and number of runs of an experiment, and the distances of its weights by step."""
    steps_of_weights = {
        weight_stability.experiment: (len(weight_stability.replicates), weight_stability.steps)
        for weight_stability in findings.stability.weights
        if weight_stability.steps
    }
    for captured in findings.stability.sets:
        steps = tuple((one.step, one.weight_distance) for one in captured.steps)
        if captured.experiment not in steps_of_weights and any(_has_value(measure) for _, measure in steps):
            steps_of_weights[captured.experiment] = (len(captured.replicates), steps)
    return [(index, n, steps) for index, (n, steps) in sorted(steps_of_weights.items())]


def weight_plot(findings: Findings, labels: Sequence[str]) -> StepsPlot | None:
    return _steps_plot(
        weight_steps(findings),
        labels,
        "stability-weights-steps",
        "Distance of weights by step",
        "distance of the weights of two runs",
    )


def _steps_plot(
    curves: Sequence[tuple[int, int, Steps]], labels: Sequence[str], key: str, title: str, axis: str
) -> StepsPlot | None:
    """A plot; None if no experiment has a value at a step."""
    drawn = [(index, n, [step for step in steps if _has_value(step[1])]) for index, n, steps in curves]
    drawn = [curve for curve in drawn if curve[2]]
    if not drawn:
        return None
    text = "; ".join(f"{labels[index]}: {_describe(steps)}" for index, _, steps in drawn)
    has_band = any(isinstance(estimate.interval, Interval) for _, _, steps in drawn for _, estimate in steps)
    band = "; band: pointwise interval over runs" if has_band else ""
    return StepsPlot(
        key=key,
        title=title,
        description=f"Mean over pairs of runs. {text}.",
        caption=f"Mean over all pairs of runs after a step of the main loop{band}.",
        axis=axis,
        lines=tuple(_line(index, n, steps, labels[index]) for index, n, steps in drawn),
    )


def _describe(steps: Steps) -> str:
    first, last = steps[0], steps[-1]
    parts = [
        f"{measure_text(estimate)} at step {step}" for step, estimate in ([first, last] if len(steps) > 1 else [first])
    ]
    return ", ".join(parts)


def _line(index: int, n: int, steps: Steps, label: str) -> StepLine:
    scale = MEASURES[steps[0][1].name].scale
    return StepLine(
        index=index,
        label=label,
        note=f"n = {n}",
        steps=tuple(step for step, _ in steps),
        values=tuple(
            math.nan if isinstance(estimate.value, Unavailable) else scale * estimate.value for _, estimate in steps
        ),
        band=tuple(
            (scale * estimate.interval.low, scale * estimate.interval.high)
            if isinstance(estimate.interval, Interval)
            else (math.nan, math.nan)
            for _, estimate in steps
        ),
    )


def _has_value(measure: Measure) -> bool:
    return not isinstance(measure.value, Unavailable)

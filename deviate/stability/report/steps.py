"""Divergence of runs over steps as plots: churn, and distance of weights."""

import math
from collections.abc import Sequence

from deviate.model import Findings, Interval, Measure, SetStability, Unavailable
from deviate.report import StepLine, StepsPlot
from deviate.stability.report.measure_labels import MEASURES, measure_text

Steps = Sequence[tuple[int, Measure]]


def churn_plot(sets: Sequence[SetStability], anchor: str, title: str, labels: Sequence[str]) -> StepsPlot | None:
    lines = [
        (captured.experiment, len(captured.replicates), [(one.step, one.churn) for one in captured.steps])
        for captured in sets
    ]
    return _plot(
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
        if captured.experiment not in steps_of_weights and any(_is_known(measure) for _, measure in steps):
            steps_of_weights[captured.experiment] = (len(captured.replicates), steps)
    return [(index, n, steps) for index, (n, steps) in sorted(steps_of_weights.items())]


def weight_plot(findings: Findings, labels: Sequence[str]) -> StepsPlot | None:
    return _plot(
        weight_steps(findings),
        labels,
        "stability-weights-steps",
        "Distance of weights by step",
        "distance of the weights of two runs",
    )


def _plot(
    curves: Sequence[tuple[int, int, Steps]], labels: Sequence[str], key: str, title: str, axis: str
) -> StepsPlot | None:
    """A plot; None if no experiment has a value at a step."""
    drawn = [(index, n, [step for step in steps if _is_known(step[1])]) for index, n, steps in curves]
    drawn = [curve for curve in drawn if curve[2]]
    if not drawn:
        return None
    text = "; ".join(f"{labels[index]}: {_spoken(steps)}" for index, _, steps in drawn)
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


def _spoken(steps: Steps) -> str:
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


def _is_known(measure: Measure) -> bool:
    return not isinstance(measure.value, Unavailable)

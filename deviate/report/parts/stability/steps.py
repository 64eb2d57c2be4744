"""How runs part with the steps, as plots: churn, and distance of weights."""

import math
from collections.abc import Sequence

from deviate.model import Findings, Interval, Measure, SetStability, Unavailable
from deviate.report.parts.stability.measure_labels import MEASURES, measure_text
from deviate.report.plots import StepLine, StepsPlot

Steps = Sequence[tuple[int, Measure]]


def churn_plot(sets: Sequence[SetStability], anchor: str, title: str, labels: Sequence[str]) -> StepsPlot | None:
    lines = [(it.experiment, len(it.replicates), [(one.step, one.churn) for one in it.steps]) for it in sets]
    return _plot(
        lines, labels, f"{anchor}-steps", f"{title}: churn by step", "% of examples on which two runs disagree"
    )


def weight_steps(findings: Findings) -> list[tuple[int, int, Steps]]:
    """Index and number of runs of an experiment, and the distances of its weights after steps."""
    own = {it.experiment: (len(it.replicates), it.steps) for it in findings.stability.weights if it.steps}
    for it in findings.stability.sets:
        steps = tuple((one.step, one.weight_distance) for one in it.steps)
        if it.experiment not in own and any(_is_known(measure) for _, measure in steps):
            own[it.experiment] = (len(it.replicates), steps)
    return [(index, n, steps) for index, (n, steps) in sorted(own.items())]


def weight_plot(findings: Findings, labels: Sequence[str]) -> StepsPlot | None:
    return _plot(
        weight_steps(findings),
        labels,
        "stability-weights-steps",
        "Distance of weights by step",
        "distance of the weights of two runs",
    )


def _plot(
    found: Sequence[tuple[int, int, Steps]], labels: Sequence[str], key: str, title: str, axis: str
) -> StepsPlot | None:
    """None where no experiment has a figure at a step."""
    drawn = [(index, n, [it for it in steps if _is_known(it[1])]) for index, n, steps in found]
    drawn = [it for it in drawn if it[2]]
    if not drawn:
        return None
    told = "; ".join(f"{labels[index]}: {_spoken(steps)}" for index, _, steps in drawn)
    has_band = any(isinstance(it.interval, Interval) for _, _, steps in drawn for _, it in steps)
    band = "; band: pointwise interval over runs" if has_band else ""
    return StepsPlot(
        key=key,
        title=title,
        description=f"Mean over pairs of runs. {told}.",
        caption=f"Mean over all pairs of runs after a step of the main loop{band}.",
        axis=axis,
        lines=tuple(_line(index, n, steps, labels[index]) for index, n, steps in drawn),
    )


def _spoken(steps: Steps) -> str:
    first, last = steps[0], steps[-1]
    told = [f"{measure_text(it)} at step {step}" for step, it in ([first, last] if len(steps) > 1 else [first])]
    return ", ".join(told)


def _line(index: int, n: int, steps: Steps, label: str) -> StepLine:
    scale = MEASURES[steps[0][1].name].scale
    return StepLine(
        index=index,
        label=label,
        note=f"n = {n}",
        steps=tuple(step for step, _ in steps),
        values=tuple(math.nan if isinstance(it.value, Unavailable) else scale * it.value for _, it in steps),
        band=tuple(
            (scale * it.interval.low, scale * it.interval.high)
            if isinstance(it.interval, Interval)
            else (math.nan, math.nan)
            for _, it in steps
        ),
    )


def _is_known(measure: Measure) -> bool:
    return not isinstance(measure.value, Unavailable)

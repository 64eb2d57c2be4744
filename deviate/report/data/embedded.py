"""Curves as data in the page, thinned until they fit, with a sentence on what was left out."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from deviate.model.findings import Findings
from deviate.model.records import Series
from deviate.report.data.published import plain
from deviate.report.figures.bundle import line_of, thin

MOST_CHARACTERS = 400_000
FEWEST_POINTS, MOST_POINTS = 12, 400
"""Of a curve; with fewer it says nothing of its course, and whole metrics are left out instead."""
PER_POINT, PER_CURVE = 14, 90
DIGITS = 5


@dataclass(frozen=True, slots=True)
class _Curve:
    metric: str
    experiment: str
    variant: str
    replicate: int
    series: Series


def embedded_curves(findings: Findings) -> tuple[str, str]:
    """Curves as JSON text in one line, with a sentence that describes them; both are empty without curves.

    If they do not fit, only the sentence is there, which says so.

    `curves` has a list of steps and one of values for each metric and run, where several values within a step repeat it
    in the order in which they were reported, `thinned_to` how many points are left of
    the longest, and `left_out` the metrics that found no room. Values have five significant digits, null for what is
    not finite; curves.csv beside the page has all of all.
    """
    by_metric = _by_metric(findings)
    if not by_metric:
        return ("", "")
    kept = list(by_metric)
    while kept:
        n_points = _room(kept, by_metric)
        text = _document(kept, n_points, by_metric) if n_points else ""
        if 0 < len(text) <= MOST_CHARACTERS:
            longest = max(len(curve.series.values) for name in kept for curve in by_metric[name])
            return (text, _note(len(kept), len(by_metric), is_thinned=longest > n_points))
        kept.pop()
    return ("", "The curves of all runs are too large for this page.")


def _note(n_kept: int, n_metrics: int, *, is_thinned: bool) -> str:
    note = f"The curves of all runs are in this page too (element deviate-curves), with {DIGITS} significant digits"
    if n_kept < n_metrics:
        note += f", but for {n_metrics - n_kept} of {n_metrics} metrics, for which there is no room"
    return f"{note}{'; long ones are thinned to their lowest and highest values' if is_thinned else ''}."


def _by_metric(findings: Findings) -> dict[str, list[_Curve]]:
    """Curves by metric: the primary metric first, then in the order of the first experiment that has the metric."""
    curves_of: dict[str, list[_Curve]] = {}
    for item in findings.experiments:
        experiment = item.experiment
        for metric in sorted(experiment.metrics, key=lambda one: one.name != findings.primary):
            for run in experiment.runs:
                series = run.series.get(metric.name)
                if series is not None and len(series.values):
                    curve = _Curve(metric.name, experiment.name, experiment.variant, run.replicate, series)
                    curves_of.setdefault(metric.name, []).append(curve)
    return {name: curves for name, curves in curves_of.items() if any(len(curve.series.values) > 1 for curve in curves)}


def _room(kept: Sequence[str], by_metric: dict[str, list[_Curve]]) -> int:
    """Points of a curve for which there is room; 0 where that is too few."""
    lengths = [len(curve.series.values) for name in kept for curve in by_metric[name]]
    room = (MOST_CHARACTERS // len(lengths) - PER_CURVE) // PER_POINT
    return 0 if room < min(FEWEST_POINTS, max(lengths)) else max(FEWEST_POINTS, min(MOST_POINTS, room))


def _document(kept: Sequence[str], n_points: int, by_metric: dict[str, list[_Curve]]) -> str:
    document = {
        "thinned_to": n_points,
        "digits": DIGITS,
        "left_out": [plain(name) for name in by_metric if name not in kept],
        "curves": [_curve(curve, n_points) for name in kept for curve in by_metric[name]],
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"


def _curve(curve: _Curve, n_points: int) -> dict[str, object]:
    line = thin(line_of(curve.series), n_points)
    return {
        "metric": plain(curve.metric),
        "experiment": plain(curve.experiment),
        "variant": plain(curve.variant),
        "replicate": curve.replicate,
        "steps": [math.floor(step) for step in line.x],
        "values": [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in line.y.tolist()],
    }

"""Remarks beside scores: values that were not finite before the end, and runs that shared a device."""

import math
from collections.abc import Iterable, Sequence

from deviate.model.estimates import value_text
from deviate.model.records import Run, Series
from deviate.model.texts import count


def non_finite_note(runs: Sequence[Run], metric: str) -> str:
    """The note `NaN at step 3 in 2 of 5 runs`, of runs that end with a finite value; empty if all values are finite."""
    completed = [run for run in runs if run.status == "completed" and metric in run.series]
    hits = [hit for run in completed if (hit := _first(run.series[metric])) is not None]
    if not hits:
        return ""
    names = " or ".join(dict.fromkeys(name for name, _ in hits))
    steps = [step for _, step in hits if step is not None]
    if not steps:
        place = "outside the main loop"
    elif min(steps) == max(steps):
        place = f"at step {steps[0]}"
    else:
        place = f"first at steps {min(steps)} to {max(steps)}"
    return f"{names} {place} in {len(hits)} of {count(len(completed), 'run')}"


def _first(series: Series) -> tuple[str, int | None] | None:
    """The first value that is not finite, and its step; None if there is none, or the series ends with one."""
    values = series.values
    if not len(values) or not math.isfinite(values[-1]) or math.isfinite(sum(values)):
        return None
    places = zip(series.steps, values, strict=True)
    return next(((value_text(value), step) for step, value in places if not math.isfinite(value)), None)


# Times that were measured while other runs shared the device.


def contention(runs: Iterable[Run]) -> str:
    """The note `measured while up to 2 other runs shared the device`; empty if no run shared it."""
    sharing = [run for run in runs if run.n_sharing > 0]
    if not sharing:
        return ""
    shared = "device" if any(run.device for run in sharing) else "machine"
    return f"measured while up to {count(max(run.n_sharing for run in sharing), 'other run')} shared the {shared}"

"""The main-loop series of a run as arrays."""

import numpy as np
from numpy.typing import NDArray

from deviate.model import Series

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def main_loop(series: Series) -> tuple[Integers, Floats, Floats]:
    """Steps, values and times within the main loop; times are empty if not recorded."""
    steps = np.asarray(series.steps)
    values = np.asarray(series.values, dtype=np.float64)
    times = np.asarray(series.times, dtype=np.float64)
    if steps.dtype == object:
        is_inside = np.array([step is not None for step in series.steps], dtype=bool)
        steps, values = steps[is_inside], values[is_inside]
        times = times[is_inside] if len(times) else times
    return steps.astype(np.int64), values, times

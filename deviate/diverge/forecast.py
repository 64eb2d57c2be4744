"""How long a pair of runs will take, from what the updates of the first pair took."""

import math
from collections.abc import Sequence

from deviate.diverge.findings import Trace
from deviate.diverge.levels import Window
from deviate.diverge.requests import Pair

LEAST_LIMIT_S = 600.0
"""Added to the duration of the first level for the default limit: slow levels of short runs are worth it."""
ROUNDED_S = (60.0, 300.0, 600.0, 1800.0, 3600.0)
"""A proposed limit is a multiple of the largest of these that is at most a quarter of it."""


def elapsed_s(pair: Pair, *, is_parallel: bool) -> float:
    """Time that a pair took."""
    return (max if is_parallel else sum)(run.wall_time_s for run in pair.runs)


def default_limit_s(first: Pair, *, is_parallel: bool) -> float:
    """As long as the first level took, and ten minutes."""
    return elapsed_s(first, is_parallel=is_parallel) + LEAST_LIMIT_S


def estimate_pair_s(
    first: Pair, window: Window, factor: float | None, *, is_parallel: bool, start: int = 0, n_probed: int = 0
) -> float | None:
    """Estimated duration of a pair; None if the first pair has no updates.

    Args:
        first: the pair of the first level.
        is_parallel: whether both runs run at a time.
        factor: time of an update in the window relative to the first level; None if not measured.
        start: number of updates in the checkpoint from which the runs go on.
        n_probed: updates after the window in which the costs of deeper levels are measured.
    """
    durations = []
    for run, side in zip(first.runs, first.traces, strict=True):
        trace = max(side, key=lambda trace: trace.n_steps, default=None)
        if trace is None or not trace.seconds:
            return None
        after_s = max(0.0, run.wall_time_s - trace.seconds[-1]) if window.until is None else 0.0
        durations.append(_run_s(trace, window, factor or 1.0, start, n_probed) + after_s)
    return max(durations) if is_parallel else sum(durations)


def _run_s(trace: Trace, window: Window, factor: float, start: int, n_probed: int) -> float:
    begin_s = trace.seconds[0]
    before_s = _until_s(trace.seconds, window.first) - _until_s(trace.seconds, start)
    end = len(trace.seconds) if window.until is None else window.until
    inside_s = _until_s(trace.seconds, end) - _until_s(trace.seconds, window.first)
    probed_s = _until_s(trace.seconds, end + n_probed) - _until_s(trace.seconds, end)
    return begin_s + max(0.0, before_s) + factor * (max(0.0, inside_s) + probed_s)


def _until_s(seconds: Sequence[float], n_steps: int) -> float:
    """Time from the end of the first update to the end of the update after which `n_steps` are complete."""
    return seconds[min(n_steps, len(seconds)) - 1] - seconds[0] if n_steps > 0 else 0.0


def proposed_limit(estimate_s: float) -> str:
    """A limit that allows an estimated duration, with room for an error of a quarter, as the option takes it.

    >>> proposed_limit(70), proposed_limit(1000), proposed_limit(10800)
    ('2m', '25m', '4h')
    """
    wanted_s = 1.25 * estimate_s
    unit_s = max((unit for unit in ROUNDED_S if 4 * unit <= wanted_s), default=ROUNDED_S[0])
    minutes = math.ceil(wanted_s / unit_s) * int(unit_s) // 60
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"

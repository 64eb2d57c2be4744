"""Measures the first difference: runs another pair that stores the numbers of the first differing record."""

import dataclasses

import numpy as np

from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import Difference, Ulps
from deviate.diverge.ladder import Climbed, level_of
from deviate.diverge.read_traces import kept_arrays
from deviate.diverge.requests import DivergeRequest, Execute, Pair, run_pair, trace_capture
from deviate.diverge.ulps import float_form, ulps
from deviate.diverge.windows import Window

WITHOUT_SIZE = frozenset({"state", "loss", "metric"})
"""Kinds whose records have no numbers, or bring them along."""
MOST_SIZED = 2
"""Pairs, at most: noise may show in another record first."""


def of_values(difference: Difference) -> Difference:
    """Add the size to a difference of values."""
    if difference.values is None or difference.ulps is not None:
        return difference
    one, other = (np.asarray(side_values, dtype=float_form(*difference.values)) for side_values in difference.values)
    return dataclasses.replace(difference, ulps=ulps(one, other))


def measure_size(request: DivergeRequest, climbed: Climbed, execute: Execute) -> tuple[Difference | None, str]:
    """The first difference of a rung with its size, and the reason if it has none; empty if it has.

    Args:
        climbed: a rung beyond the first, with a difference.

    Raises:
        InputError, RunError, RecordError, KeyboardInterrupt: as `run_pair`.
    """
    climbed_difference = climbed.findings.difference
    if (
        climbed_difference is None
        or climbed_difference.kind in WITHOUT_SIZE
        or climbed_difference.only_in is not None
        or climbed_difference.phase == "order"
    ):
        return climbed_difference, ""
    window = Window(climbed.findings.first, climbed.findings.until)
    wanted = climbed_difference
    for number in range(1, MOST_SIZED + 1):
        head = f"{wanted.kind}|{wanted.name}|{wanted.ordinal}"
        level = level_of(climbed_difference.rung)
        suffix = ".size" + (f"-{number}" if number > 1 else "")
        recorded = trace_capture(level, window, (), has_sums=bool(request.tolerance), kept_record=head)
        pair = run_pair(request, suffix, recorded, execute)
        pair_difference = compare_traces(
            *pair.traces, climbed_difference.rung, tolerance_ulps=request.tolerance
        ).difference
        if pair_difference is None or pair_difference.step is None:
            continue
        if (pair_difference.kind, pair_difference.name, pair_difference.ordinal) == (
            wanted.kind,
            wanted.name,
            wanted.ordinal,
        ):
            size = size_of(pair_difference, pair)
            if size is not None:
                difference = climbed_difference if wanted is climbed_difference else pair_difference
                return dataclasses.replace(difference, ulps=size), ""
            return climbed_difference, "the numbers of what differs first could not be kept"
        if pair_difference.kind in WITHOUT_SIZE or pair_difference.only_in is not None:
            continue
        wanted = pair_difference
    return climbed_difference, "its size was not measured: further pairs parted elsewhere first, or not at all"


def size_of(difference: Difference, pair: Pair) -> Ulps | None:
    """The size of a difference whose numbers both runs have stored; None if one has not."""
    key = (difference.rank, difference.step or 0)
    mine, theirs = (kept_arrays(run.folder).get(key) for run in pair.runs)
    if mine is None or theirs is None:
        return None
    try:
        return ulps(mine, theirs, difference.form)
    except ValueError:  # of another type or shape
        return None

"""How large the first difference is: one more pair that keeps the numbers of the record that differs first."""

import dataclasses

import numpy as np

from deviate.diverge.compare import compare_traces
from deviate.diverge.ladder import Climbed, level_of
from deviate.diverge.requests import Asked, CarryOut, Pair, run_pair, traced
from deviate.diverge.ulps import float_form, ulps
from deviate.diverge.windows import Window
from deviate.model.divergence import Difference, Ulps
from deviate.records import kept_arrays

WITHOUT_SIZE = frozenset({"state", "loss", "metric"})
"""Kinds whose records have no numbers, or bring them along."""
MOST_SIZED = 2
"""Pairs, at most: noise may show in another record first."""


def of_values(found: Difference) -> Difference:
    """A difference of a value with its size."""
    if found.values is None or found.ulps is not None:
        return found
    one, other = (np.asarray(it, dtype=float_form(*found.values)) for it in found.values)
    return dataclasses.replace(found, ulps=ulps(one, other))


def sized(asked: Asked, climbed: Climbed, carry_out: CarryOut) -> tuple[Difference | None, str]:
    """The first difference of a rung with its size, and why it has none; empty where it has.

    Args:
        climbed: a rung beyond the first, with a difference.

    Raises:
        InputError, RunError, RecordError, KeyboardInterrupt: as `run_pair`.
    """
    found = climbed.findings.difference
    if found is None or found.kind in WITHOUT_SIZE or found.only_in is not None or found.phase == "order":
        return found, ""
    window = Window(climbed.findings.first, climbed.findings.until)
    wanted = found
    for number in range(1, MOST_SIZED + 1):
        kept = f"{wanted.kind}|{wanted.name}|{wanted.ordinal}"
        level = level_of(found.rung)
        suffix = ".size" + (f"-{number}" if number > 1 else "")
        recorded = traced(level, window, (), has_sums=bool(asked.tolerance), kept=kept)
        pair = run_pair(asked, suffix, recorded, carry_out)
        own = compare_traces(*pair.traces, found.rung, tolerance_ulps=asked.tolerance).difference
        if own is None or own.step is None:
            continue
        if (own.kind, own.name, own.ordinal) == (wanted.kind, wanted.name, wanted.ordinal):
            size = size_of(own, pair)
            if size is not None:
                told = found if wanted is found else own
                return dataclasses.replace(told, ulps=size), ""
            return found, "the numbers of what differs first could not be kept"
        if own.kind in WITHOUT_SIZE or own.only_in is not None:
            continue
        wanted = own
    return found, "its size was not measured: further pairs parted elsewhere first, or not at all"


def size_of(found: Difference, pair: Pair) -> Ulps | None:
    """The size of a difference whose numbers both runs have kept; None where one of them has not."""
    key = (found.rank, found.step or 0)
    mine, theirs = (kept_arrays(run.folder).get(key) for run in pair.runs)
    if mine is None or theirs is None:
        return None
    try:
        return ulps(mine, theirs, found.form)
    except ValueError:  # of another type or shape
        return None

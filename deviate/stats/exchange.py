"""Exchanging runs between two sides: all ways where they are few, else a sample of them."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
N_RESAMPLES = 9999
TOLERANCE = 1e-9
"""Of the scale of a statistic: sums over other orders of the same numbers differ by rounding."""


@dataclass(frozen=True, slots=True)
class Exchanges:
    """Ways to deal runs to two sides.

    Attributes:
        members: row by row which of the runs (the candidate's first) are dealt to the candidate, as 0 and 1.
        is_exact: whether these are all ways.
    """

    members: Floats
    is_exact: bool

    @property
    def note(self) -> str:
        n = len(self.members)
        return f"exact permutation, {n} arrangements" if self.is_exact else f"permutation, {n} resamples"

    def p_value(self, statistics: Floats, observed: float) -> float:
        """Share of ways at least as extreme as what was observed, which counts as one of them.

        Source: Phipson & Smyth (2010): a sampled p is never 0.
        """
        n_as_extreme = int((statistics >= observed - TOLERANCE * max(1.0, abs(observed))).sum())
        if self.is_exact:
            return n_as_extreme / len(statistics)
        return (n_as_extreme + 1) / (len(statistics) + 1)


def exchanges(n_candidate: int, n_baseline: int, *, rng: np.random.Generator, most: int = N_RESAMPLES) -> Exchanges:
    """All ways where there are at most `most`, else as many drawn at random."""
    n = n_candidate + n_baseline
    if math.comb(n, n_candidate) <= most:
        chosen = np.array(list(itertools.combinations(range(n), n_candidate)))
        is_exact = True
    else:
        chosen = rng.random((most, n)).argpartition(n_candidate, axis=1)[:, :n_candidate]
        is_exact = False
    members = np.zeros((len(chosen), n))
    np.put_along_axis(members, chosen, 1.0, axis=1)
    return Exchanges(members, is_exact)

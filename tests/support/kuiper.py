"""Two statistics of a third party: a test, and an estimate with its interval."""

import math
from collections.abc import Sequence

import numpy as np

from deviate.model.estimates import Estimate, Test, Unavailable
from deviate.stats.estimates.effect import superiority, superiority_interval
from deviate.stats.registry import statistic

ENTRY = """@article{kuiper1960,
  author = {Kuiper, Nicolaas H.},
  title = {{Tests concerning random points on a circle}},
  journal = {Indagationes Mathematicae},
  volume = {63},
  pages = {38--47},
  year = {1960},
}"""


@statistic(
    n_samples=2, minimum=5, shift="ignores", scale="ignores", group="Ranks", label="Kuiper test", kind="test",
    letter="V", method="distances above and below, added", cites=(ENTRY,),
)  # fmt: skip
def kuiper(baseline: Sequence[float], candidate: Sequence[float]) -> Test | Unavailable:
    """Whether two distributions are one: the largest distances of the distribution functions, above and below, added.

    Source: Kuiper (1960); p after Stephens (1970).
    """
    if min(len(baseline), len(candidate)) < 5:
        return Unavailable(f"needs 5 runs in each, has {len(baseline)} and {len(candidate)}")
    places = np.sort([*baseline, *candidate])
    shares = [np.searchsorted(np.sort(side), places, side="right") / len(side) for side in (baseline, candidate)]
    distance = float(np.max(shares[1] - shares[0]) + np.max(shares[0] - shares[1]))
    root = math.sqrt(len(baseline) * len(candidate) / (len(baseline) + len(candidate)))
    scaled = (root + 0.155 + 0.24 / root) * distance
    terms = ((4 * (j * scaled) ** 2 - 1) * math.exp(-2 * (j * scaled) ** 2) for j in range(1, 101))
    return Test("Kuiper", distance, min(1.0, 2 * sum(terms)) if scaled > 0.4 else 1.0)


@statistic(
    n_samples=2, minimum=5, shift="ignores", scale="ignores", name="vargha_delaney", group="Ranks",
    label="Vargha–Delaney A", interval=superiority_interval, cites=("vargha2000",),
)  # fmt: skip
def vargha_delaney(baseline: Sequence[float], candidate: Sequence[float]) -> Estimate:
    """P(candidate > baseline) + P(equal) / 2.

    Source: Vargha & Delaney (2000).
    """
    return superiority(baseline, candidate)

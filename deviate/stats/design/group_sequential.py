"""Declared looks: the critical p of each, so that all looks together have an error rate of 5 %.

Tests of differences at growing numbers of runs give statistics with the covariance of independent increments of
information. An error-spending function says which share of alpha each look may use; the bounds follow by recursive
numerical integration, and are given as nominal p-values, which t-tests of few runs meet nearly as well as z-tests.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from scipy import special

from deviate.errors import InputError
from deviate.model.estimates import VERDICT_RUNS
from deviate.model.records import Spending

MOST_LOOKS = 50
SPENDING_NAMES: dict[Spending, str] = {"obrien-fleming": "O'Brien-Fleming", "pocock": "Pocock"}
_WORDS: dict[str, Spending] = {"obrien-fleming": "obrien-fleming", "obf": "obrien-fleming", "pocock": "pocock"}
_FARTHEST = 37.0
"""Beyond this many standard deviations a tail is below the range of floats."""
_WIDEST = 9.0
_SMALLEST_P = 1e-250

Array = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class SpendingPlan:
    """A group-sequential design: the looks declared before the first run, and how alpha is spent over them.

    Attributes:
        numbers: runs of each side at every look, rising; the last one is the planned number of runs.
        confidence: its complement is the error that all looks may make together, two-sided.
        fixed: runs of the other side if it is complete and does not grow; None if both grow.
    """

    numbers: tuple[int, ...]
    spending: Spending = "obrien-fleming"
    confidence: float = 0.95
    fixed: int | None = None

    @property
    def fractions(self) -> tuple[float, ...]:
        """Information fraction at each look: 1 / (1 / n_A + 1 / n_B), for equal spread, over that of the last look."""
        information = [1 / (1 / n + 1 / (self.fixed or n)) for n in self.numbers]
        return tuple(value / information[-1] for value in information)


def parse_looks(text: str, n_runs: int | None = None, *, confidence: float = 0.95) -> SpendingPlan:
    """Parse `5,10,20`, or `4` for equal steps up to `n_runs`; the prefix `pocock:` spends alpha evenly.

    Raises:
        InputError: it is neither, or a look comes too early to be judged.
    """
    name, colon, listed = text.strip().lower().rpartition(":")
    numbers = [int(digits) for digits in re.findall(r"[0-9]+", listed)]
    if not re.fullmatch(r"\s*[0-9]+(\s*,\s*[0-9]+)*\s*,?\s*", listed) or (colon and name.strip() not in _WORDS):
        raise InputError(
            f"The looks {text!r} are neither numbers of runs nor a number of looks.",
            'Write --looks 5,10,20 or, with --runs 20, --looks 4; --looks "pocock:5,10,20" for Pocock spending.',
        )
    if "," not in listed:
        numbers = _equal_steps(numbers[0], n_runs)
    if any(later <= earlier for earlier, later in itertools.pairwise(numbers)):
        raise InputError(
            f"The looks {text!r} do not increase.", "Write the numbers of runs in increasing order, each once."
        )
    if not 0 < len(numbers) <= MOST_LOOKS:
        raise InputError(f"{len(numbers)} looks are too many.", f"Declare at most {MOST_LOOKS}.")
    if numbers[0] < VERDICT_RUNS:
        raise InputError(
            f"The first look would come at {numbers[0]} runs, but no verdict is given below {VERDICT_RUNS}.",
            f"Begin at {VERDICT_RUNS} runs or later: fewer looks, or more runs.",
        )
    return SpendingPlan(tuple(numbers), _WORDS[name.strip()] if colon else "obrien-fleming", confidence)


def at_look(plan: SpendingPlan, k: int) -> float:
    """Critical p at look `k`, counted from 1: a two-sided p below it decides.

    Its complement is the confidence of the repeated interval.
    Source: Pocock (1977) for nominal p-values of t-tests; Jennison & Turnbull (1984) for repeated intervals.
    """
    bounds = spending_bounds(plan.fractions[:k], 1 - plan.confidence, plan.spending)
    return 2 * float(special.ndtr(-bounds[k - 1]))


def repeated_p(plan: SpendingPlan, k: int, p_value: float) -> float:
    """The smallest overall error at which a nominal two-sided p at look `k` decides.

    It is below alpha where p is below `at_look(plan, k)`; families are adjusted by Holm's method over these.
    Source: Jennison & Turnbull (1984).
    """
    p = max(p_value, _SMALLEST_P)
    fractions = plan.fractions[:k]

    # The bound of look k falls as alpha grows, so the p is the one alpha at which the bound equals the observed z. A
    # logarithm, for such alphas reach from 1e-250 to 1.
    def excess(log_alpha: float) -> float:
        bound = spending_bounds(fractions, math.exp(log_alpha), plan.spending)[k - 1]
        return bound + float(special.ndtri(p / 2))

    # One look alone would make p the answer; earlier looks spend a part of alpha, so the answer is no smaller.
    low, high = math.log(p), math.log(0.999)
    if p >= 0.999 or excess(high) > 0:
        return 1.0
    if excess(low) <= 0:
        return p
    return min(1.0, math.exp(float(scipy.optimize.brentq(excess, low, high, xtol=1e-10))))


def spend_error(fraction: float, alpha: float, spending: Spending) -> float:
    """Two-sided error that may have been made when this fraction of the information is there.

    Source: Lan & DeMets (1983); each side spends half of alpha, as in DeMets & Lan (1994).
    """
    # Both functions give alpha at the fraction 1; of O'Brien and Fleming, either side has two tails of alpha / 4.
    if spending == "pocock":
        return alpha * math.log(1 + (math.e - 1) * fraction)
    return 4 * float(special.ndtr(special.ndtri(alpha / 4) / math.sqrt(fraction)))


@lru_cache(maxsize=4096)
def spending_bounds(fractions: tuple[float, ...], alpha: float, spending: Spending) -> tuple[float, ...]:
    """Critical |z| at each look so that the error spent by each look is that of the spending function.

    Source: Lan & DeMets (1983), with the recursion of Armitage, McPherson & Rowe (1969).
    """
    path = _Path()
    bounds: list[float] = []
    before = 0.0
    for index, fraction in enumerate(fractions):
        total = spend_error(fraction, alpha, spending)
        # Paths that crossed before have left: the bound spends what the function adds since the last look.
        bound = path.find_bound(fraction, total - before)
        before = total
        bounds.append(bound)
        if index + 1 < len(fractions):
            path.go_on(fraction, bound, fractions[index + 1])
    return tuple(bounds)


def crossing(fractions: Sequence[float], bounds: Sequence[float], *, drift: float = 0.0) -> tuple[float, ...]:
    """Probability that |z| is beyond its bound at each look for the first time.

    Args:
        drift: mean of z at the last look; 0 under no difference.
    """
    path = _Path(drift)
    chances = []
    for index, (fraction, bound) in enumerate(zip(fractions, bounds, strict=True)):
        chances.append(path.beyond(fraction, bound))
        if index + 1 < len(fractions):
            path.go_on(fraction, bound, fractions[index + 1])
    return tuple(chances)


class _Path:
    """The distribution of the score z sqrt(t) on paths that have not crossed a bound yet, as masses at nodes.

    The score is a Brownian motion in the information: from one look to the next it gains a normal increment whose
    variance is the gain of information, and which is independent of the path. So its density at a look is that at the
    look before, cut off at the bound and convolved with the increment.
    Gauss-Legendre nodes are dense relative to the next increment, so that sums over them are integrals to about 1e-9.
    Source: Armitage, McPherson & Rowe (1969).
    """

    def __init__(self, drift: float = 0.0) -> None:
        self._drift = drift
        self._fraction = 0.0
        self._nodes: Array = np.zeros(1)
        self._masses: Array = np.ones(1)

    def beyond(self, fraction: float, bound: float) -> float:
        """Mass that is beyond the bound at this fraction of the information."""
        step = math.sqrt(fraction - self._fraction)
        limit = bound * math.sqrt(fraction)
        centres = self._nodes + self._drift * (fraction - self._fraction)
        tails = special.ndtr((-limit - centres) / step) + special.ndtr((centres - limit) / step)
        return float(self._masses @ tails)

    def find_bound(self, fraction: float, error: float) -> float:
        """The bound beyond which this mass is; 0 or the farthest where none between them has so little or so much."""
        if self.beyond(fraction, _FARTHEST) >= error:
            return _FARTHEST
        if self.beyond(fraction, 0.0) <= error:
            return 0.0
        return float(scipy.optimize.brentq(lambda z: self.beyond(fraction, z) - error, 0.0, _FARTHEST, xtol=1e-12))

    def go_on(self, fraction: float, bound: float, following: float) -> None:
        """Truncate at the bound, with nodes suited to the step to the following look."""
        step = math.sqrt(fraction - self._fraction)
        # Beyond 9 SDs there is no mass that 1e-9 would see; a bound of 37 would only spread the nodes.
        limit = min(bound, _WIDEST) * math.sqrt(fraction)
        # Eight nodes in each SD of the next increment: looks close to each other need more.
        n_nodes = max(64, math.ceil(8 * limit / math.sqrt(following - fraction)))
        at, weights = legendre(n_nodes)
        nodes = at * limit
        centres = self._nodes + self._drift * (fraction - self._fraction)
        density = np.exp(-0.5 * ((nodes[:, None] - centres[None, :]) / step) ** 2) @ self._masses
        self._masses = limit * weights * density / (step * math.sqrt(2 * math.pi))
        self._nodes, self._fraction = nodes, fraction


@lru_cache(maxsize=64)
def legendre(n_nodes: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature from -1 to 1."""
    at, weights = special.roots_legendre(n_nodes)
    return at, weights


def _equal_steps(n_looks: int, n_runs: int | None) -> list[int]:
    if n_runs is None or n_looks < 1:
        raise InputError(
            f"{n_looks} looks need a number of runs.", "Add --runs, or write the numbers: --looks 5,10,20."
        )
    return [math.ceil(n_runs * (k + 1) / n_looks) for k in range(min(n_looks, MOST_LOOKS + 1))]

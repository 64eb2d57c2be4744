"""The two tests behind every decision, Welch's and the studentized permutation test, and the interval of both.

Neither is enough alone. The permutation test is exact where runs are exchangeable under the null; Welch's is right
where the sides spread unequally and scores are near normal. Welch alone calls equal methods different in a third of
the comparisons of 5 with 40 runs of which a tenth collapses, the permutation test alone in 9 % of 5 with 20 runs whose
SDs are 3 and 1. So a value is rejected only if both reject it, the p of a comparison is the larger one, and the
interval holds all values that not both reject.

Functions take many comparisons at once, one per row, so that a simulation asks the very code that decides a verdict.
Arrangements depend on the numbers of runs alone: no decision depends on the analysis seed.

Source: Welch (1947); Janssen (1997) and Chung & Romano (2013) for the studentized permutation test; Student (1908).
"""

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deviate.model.estimates import MANY_RESAMPLES, N_RESAMPLES
from deviate.stats.hypothesis.permutation import (
    CELLS,
    MOST_ARRANGEMENTS,
    Matrix,
    Vector,
    arrangements,
    flips,
    parts,
    products,
    sums_of,
)

N_ERRORS = 3.0
"""Monte-Carlo standard errors within which a p is too close to alpha to decide."""
ROUNDING = 1e-9
"""Two t values that differ by less, relative to the larger of 1 and |t|, are equal."""
NO_SPREAD = 1e-12
"""Sums of scores scaled to 1 that are below this are only rounding."""
FARTHEST = 1e6
"""A difference of means in units of the largest deviation, beyond which no further arrangement counts."""
PRECISION = 1e-4
"""Precision of bisection for the ends of an interval, in standard errors."""

Side = Literal["both", "above", "below"]
"""The alternative: that the difference is not the null value, is above it, or below it."""
OPPOSITE: dict[Side, Side] = {"both": "both", "above": "below", "below": "above"}


@dataclass(frozen=True, slots=True)
class PValues:
    """P-values of comparisons, one entry for each.

    Attributes:
        welch: of Welch's t-test, or of the paired t-test. permutation: of the studentized permutation test, or of the
            sign flips of the differences.
        error: three Monte-Carlo standard errors of `permutation`; 0 where all arrangements were tried.
        t, df: of the t-test.
    """

    welch: Vector
    permutation: Vector
    error: Vector
    t: Vector
    df: Vector

    @property
    def sign(self) -> Vector:
        return np.sign(self.t)

    @property
    def p(self) -> Vector:
        return np.maximum(self.welch, self.permutation)

    @property
    def p_upper(self) -> Vector:
        """The p that decides: as large as the Monte-Carlo error allows."""
        return np.maximum(self.welch, np.minimum(1.0, self.permutation + self.error))


def ask(
    baseline: Vector,
    candidate: Vector,
    null: float | Vector = 0.0,
    *,
    alpha: float,
    side: Side = "both",
    is_paired: bool = False,
    is_decision_only: bool = False,
) -> PValues:
    """Ask both tests whether the difference of means, candidate minus baseline, is the null value.

    Args:
        baseline, candidate: a row for each comparison, a column for each run; with spread on one side at least.
        null: one for all comparisons, or one for each. The candidate's scores are shifted by it before they are
            exchanged.
        alpha: p-values that cannot be told from it by 9,999 arrangements get 99,999.
        is_paired: whether runs in the same column are pairs.
        is_decision_only: leaves the permutation test out where Welch's does not reject, for then both do not. Its p is
            then Welch's. Most of many comparisons under the null need no permutation so.
    """
    if not is_paired and candidate.shape[1] > baseline.shape[1]:  # so that exchanged sides give the same p
        mirrored = ask(
            candidate,
            baseline,
            -np.asarray(null, dtype=np.float64),
            alpha=alpha,
            side=OPPOSITE[side],
            is_decision_only=is_decision_only,
        )
        return replace(mirrored, t=-mirrored.t)
    nulls = np.broadcast_to(np.asarray(null, dtype=np.float64), (len(candidate),))
    sides = _sides(np.asarray(baseline, dtype=np.float64), np.asarray(candidate, dtype=np.float64), is_paired=is_paired)
    t = sides.t(nulls)
    p_welch = _t_tail(t, sides.df, side)
    p_value, error = p_welch.copy(), np.zeros(len(p_welch))
    is_asked = p_welch < alpha if is_decision_only else np.ones(len(p_welch), dtype=np.bool_)
    if is_asked.any():
        p_value[is_asked], error[is_asked] = sides.select(is_asked).permutation(nulls[is_asked], side, N_RESAMPLES)
    # More arrangements only where they could decide: where Welch's p is not below alpha, both never reject together.
    is_open = (p_value - error < alpha) & (p_value + error >= alpha) & (p_welch < alpha)
    if (error > 0).any() and is_open.any():
        near = sides.select(is_open)
        p_value[is_open], error[is_open] = near.permutation(nulls[is_open], side, MANY_RESAMPLES)
    return PValues(p_welch, p_value, error, t, sides.df)


def limits(
    baseline: Vector,
    candidate: Vector,
    *,
    alpha: float,
    side: Side = "both",
    is_paired: bool = False,
    n_resamples: int = N_RESAMPLES,
) -> tuple[float, float]:
    """Ends of the interval of all values that not both tests reject at a level; infinite where there is no end.

    Args:
        baseline, candidate: scores of one comparison.
        alpha: of the test at each value. A two-sided interval of level 1 - alpha for the side `both`; for `above` and
            `below` each end is a bound of its own, so that the level is 1 - 2 alpha.
    """
    b, a = (np.asarray(values, dtype=np.float64)[None, :] for values in (baseline, candidate))
    if not is_paired and len(candidate) > len(baseline):
        low, high = limits(candidate, baseline, alpha=alpha, side=side, n_resamples=n_resamples)
        return -high, -low
    sides = _sides(b, a, is_paired=is_paired)
    low, high = (sides.limit(direction, alpha, n_resamples, is_one_sided=side != "both") for direction in (-1.0, 1.0))
    return low, high


def smallest_p(n_baseline: int, n_candidate: int, *, is_paired: bool = False) -> float:
    """The smallest two-sided p that the permutation test of so many runs, or pairs, can have."""
    if is_paired:
        n_ways, n_extreme = 2**n_baseline, 2
    else:
        n_ways, n_extreme = math.comb(n_baseline + n_candidate, n_baseline), 1 + (n_baseline == n_candidate)
    return n_extreme / n_ways if n_ways <= MOST_ARRANGEMENTS else 1 / (N_RESAMPLES + 1)


def is_exact(n_baseline: int, n_candidate: int, *, is_paired: bool = False) -> bool:
    """Whether all arrangements are tried."""
    n_ways = 2**n_baseline if is_paired else math.comb(n_baseline + n_candidate, n_baseline)
    return n_ways <= MOST_ARRANGEMENTS


class _Comparisons:
    """Comparisons by their differences and standard errors in units of `scale`, an entry for each."""

    scale: Vector
    difference: Vector
    se: Vector
    df: Vector

    def select(self, which: NDArray[np.bool_]) -> Self:
        """Some of the comparisons."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(other, name, value[which])
        return other

    def t(self, nulls: Vector) -> Vector:
        """The t of Welch's or of the paired test at each null value."""
        return np.asarray((self.difference - nulls / self.scale) / self.se, dtype=np.float64)


class _Runs(_Comparisons):
    """Comparisons of runs that are not paired: rows of scores, centred and scaled, each side in order.

    Centred, sums do not lose the digits of scores far from 0; in order, no p depends on the order of runs.
    """

    def __init__(self, baseline: Vector, candidate: Vector) -> None:
        self.n_b, self.n_a = baseline.shape[1], candidate.shape[1]
        self.sums: Vector | None = None  # permutation sums, for both limits of one comparison
        b, a = np.sort(baseline, axis=1), np.sort(candidate, axis=1)
        finest = 2 * np.spacing(np.maximum(np.abs(b).max(axis=1), np.abs(a).max(axis=1)))
        mean_b, mean_a = b.mean(axis=1), a.mean(axis=1)
        b, a = b - mean_b[:, None], a - mean_a[:, None]
        self.scale = np.maximum(np.abs(b).max(axis=1), np.abs(a).max(axis=1))
        self.difference = (mean_a - mean_b) / self.scale
        self.b, self.a = b / self.scale[:, None], a / self.scale[:, None]
        self.square_b, self.square_a = (self.b**2).sum(axis=1), (self.a**2).sum(axis=1)
        # With equally many runs each arrangement stands for its mirror image, so a sample of them depends on which side
        # goes first. The side that spreads more does, whichever is the candidate; the third moment decides a tie.
        cubes = (self.a**3).sum(axis=1) > (self.b**3).sum(axis=1)
        self.is_second = (self.square_b > self.square_a) | ((self.square_b == self.square_a) & cubes)
        variance_b = self.square_b / (self.n_b * (self.n_b - 1))
        variance_a = self.square_a / (self.n_a * (self.n_a - 1))
        self.se = np.sqrt(variance_a + variance_b)
        # In units of t: what the scores themselves are rounded to, summed over all runs.
        self.rounding = ROUNDING + (self.n_a + self.n_b) * finest / self.scale / self.se
        share = variance_a / (variance_a + variance_b)
        self.df = 1 / (share**2 / (self.n_a - 1) + (1 - share) ** 2 / (self.n_b - 1))

    def permutation(self, nulls: Vector, side: Side, n_resamples: int) -> tuple[Vector, Vector]:
        """P-values and three of their Monte-Carlo standard errors."""
        distance = np.clip(self.difference - nulls / self.scale, -FARTHEST, FARTHEST)
        n_a, n_b = self.n_a, self.n_b
        n = n_a + n_b
        # The candidate's scores minus the null value, all centred: the sum of one side then determines both means.
        first, second = self.a + distance[:, None] * n_b / n, self.b - distance[:, None] * n_a / n
        if n_a == n_b:
            is_second = self.is_second[:, None]
            first, second = np.where(is_second, second, first), np.where(is_second, first, second)
        pooled = np.concatenate([first, second], axis=1)
        # The sum of squares of all runs is the same in every arrangement: within both sides, and between them.
        total = self.square_a + self.square_b + distance**2 * n_a * n_b / n
        rows, is_exact = arrangements(n_a, n_b, n_resamples)
        t = np.abs(distance) / self.se
        least = np.maximum(t - self.rounding * np.maximum(1.0, t), 0.0)
        needed, beyond_a, beyond_total = _studentize(n_a, n_b, least)
        above, below = (np.zeros(len(t), dtype=np.int64) for _ in range(2))
        # With equally many runs the coefficient of the side's squares is 0: t* depends on its sum alone.
        squares = pooled**2 if n_a != n_b else pooled
        nothing = np.maximum(NO_SPREAD, self.rounding * self.se)
        for ways, where in _blocks(rows, len(t)):
            sums = products(ways, pooled[where])
            counted = needed[where] * sums**2
            if n_a != n_b:
                counted -= beyond_a[where] * products(ways, squares[where])
            # The observed arrangement must count as its own equal, whatever rounding makes of either side.
            is_beyond = counted >= (beyond_total * total)[where] * (1 - 1e-13)
            # A side sum that is only rounding is a t of 0, whatever is left of the variances.
            is_beyond &= (np.abs(sums) > nothing[where]) | (least[where] == 0)
            above[where] += (is_beyond & (sums > 0)).sum(axis=0)
            below[where] += (is_beyond & (sums <= 0)).sum(axis=0)
        return _shares(above, below, distance, side, len(rows), is_exact=is_exact, is_mirrored=n_a == n_b)

    def limit(self, direction: float, alpha: float, n_resamples: int, *, is_one_sided: bool) -> float:
        """The outer of both tests' limits, in units of the scores."""
        tail = alpha if is_one_sided else alpha / 2
        half = float(special.stdtrit(self.df[0], 1 - tail) * self.se[0])
        if self.n_a == self.n_b:
            half = max(half, self._balanced_limit(direction, 2 * tail, n_resamples))
        else:
            half = self._searched_limit(direction, half, alpha, n_resamples, is_one_sided=is_one_sided)
        return float((self.difference[0] + direction * half) * self.scale[0])

    def _balanced_limit(self, direction: float, alpha: float, n_resamples: int) -> float:
        """The limit for equally many runs on both sides, where t depends on the difference of means alone.

        The sum of squares of all runs is fixed, so a larger |sum| of one side is a larger |t*|. That sum is linear in
        the distance from the observed difference. An arrangement therefore has |t*| >= |t| up to a distance that is
        known for each, and the limit is one of these distances.
        """
        n = self.n_a
        if self.is_second[0]:
            direction = -direction
        rows, is_exact = arrangements(n, n, n_resamples)
        if self.sums is None:
            first, second = (self.b[0], self.a[0]) if self.is_second[0] else (self.a[0], self.b[0])
            self.sums = sums_of(rows, np.concatenate([first, second]))
        sums, n_own = self.sums, _n_first(n, n, n_resamples)
        # If both sides have the same scores neither goes first: the interval is symmetric.
        directions = (1.0, -1.0) if np.array_equal(self.a, self.b) else (direction,)
        return max(
            _limit_of_distances(direction * sums, n_own - n / 2, n / 2, alpha, is_exact=is_exact)
            for direction in directions
        )

    def _searched_limit(
        self, direction: float, half: float, alpha: float, n_resamples: int, *, is_one_sided: bool
    ) -> float:
        """Bisection of the p of the permutation test, from Welch's limit outwards.

        Inside Welch's limit nothing has to be searched: Welch's test alone keeps a value there in the interval.
        """
        p_at = self._p_along(direction, n_resamples, is_one_sided=is_one_sided)
        if p_at(half) < alpha:
            return half
        low, high = half, 1.5 * half
        while p_at(high) >= alpha:
            low, high = high, 1.5 * high
            if high > 1e6 * half:
                return math.inf
        width = PRECISION * float(self.se[0])
        while high - low > width:
            middle = (low + high) / 2
            low, high = (middle, high) if p_at(middle) >= alpha else (low, middle)
        return high

    def _p_along(self, direction: float, n_resamples: int, *, is_one_sided: bool) -> Callable[[float], float]:
        """Permutation p at a null value at this distance from the difference; sums are linear in the distance."""
        n_a, n_b, se = self.n_a, self.n_b, float(self.se[0])
        # A shift of the candidate's runs, centred again: they move by 1 - share, those of the baseline by -share. So a
        # side with n_own of the candidate's runs moves by n_own - share n_a in sum, and its squares by a quadratic. All
        # terms are summed once; p at another distance then costs no matrix product.
        share = n_a / (n_a + n_b)
        values = np.concatenate([self.a[0], self.b[0]])
        scores = np.concatenate([self.a[0], np.zeros(n_b)])
        rows, is_exact = arrangements(n_a, n_b, n_resamples)
        sums, squares, own_sums = (sums_of(rows, column) for column in (values, values**2, scores))
        n_own = _n_first(n_a, n_b, n_resamples)
        moved, crossed = n_own - share * n_a, own_sums - share * sums
        spread = n_own * (1 - 2 * share) + share**2 * n_a
        total, rounding = float(self.square_a[0] + self.square_b[0]), float(self.rounding[0])

        def p_at(distance: float) -> float:
            shift = direction * distance
            t = distance / se
            needed, beyond_a, beyond_total = _studentize(n_a, n_b, np.array([t - rounding * max(1.0, t)]))
            side_sums = sums - shift * moved
            side_squares = squares - 2 * shift * crossed + shift**2 * spread
            whole = total + shift**2 * n_a * n_b / (n_a + n_b)
            is_beyond = needed * side_sums**2 - beyond_a * side_squares >= beyond_total * whole * (1 - 1e-13)
            is_beyond &= np.abs(side_sums) > NO_SPREAD
            if is_one_sided:
                is_beyond &= direction * side_sums < 0
            extra = 0 if is_exact else 1
            return float((is_beyond.sum() + extra) / (len(rows) + extra))

        return p_at


class _Pairs(_Comparisons):
    """Comparisons of pairs: rows of differences, centred and scaled, in order."""

    def __init__(self, differences: Vector, finest: Vector | None = None) -> None:
        self.n = differences.shape[1]
        ordered = np.sort(differences, axis=1)
        finest = 2 * np.spacing(np.abs(ordered).max(axis=1)) if finest is None else finest
        mean = ordered.mean(axis=1)
        ordered = ordered - mean[:, None]
        self.scale = np.abs(ordered).max(axis=1)
        self.difference = mean / self.scale
        self.values = ordered / self.scale[:, None]
        self.se = np.sqrt((self.values**2).sum(axis=1) / (self.n * (self.n - 1)))
        self.rounding = ROUNDING + self.n * finest / self.scale / self.se
        self.df = np.full(len(differences), self.n - 1.0)

    def permutation(self, nulls: Vector, side: Side, n_resamples: int) -> tuple[Vector, Vector]:
        """P-values and three Monte-Carlo standard errors; t increases with the sum, as sign flips keep the squares."""
        distance = np.clip(self.difference - nulls / self.scale, -FARTHEST, FARTHEST)
        values = self.values + distance[:, None]
        observed = np.abs(distance) * self.n
        rounding = self.rounding * np.maximum(self.se * self.n, observed)
        rows, is_exact = flips(self.n, n_resamples)
        above, below = (np.zeros(len(values), dtype=np.int64) for _ in range(2))
        for ways, where in _blocks(rows, len(values)):
            sums = 2 * products(ways, values[where]) - values[where].sum(axis=1)
            above[where] += (sums >= (observed - rounding)[where]).sum(axis=0)
            # Near a difference of 0 a sum is as extreme on both sides; it is counted once.
            below[where] += ((sums <= (rounding - observed)[where]) & (sums < (observed - rounding)[where])).sum(axis=0)
        return _shares(above, below, distance, side, len(rows), is_exact=is_exact, is_mirrored=True)

    def limit(self, direction: float, alpha: float, n_resamples: int, *, is_one_sided: bool) -> float:
        """The outer of both tests' limits, in units of the scores."""
        tail = alpha if is_one_sided else alpha / 2
        half = float(special.stdtrit(self.n - 1, 1 - tail) * self.se[0])
        rows, is_exact = flips(self.n, n_resamples)
        sums, n_own = sums_of(rows, self.values[0]), rows.sum(axis=1, dtype=np.float64)
        turned = 2 * sums - float(self.values[0].sum())
        distance = _limit_of_distances(direction * turned, 2 * n_own - self.n, self.n, 2 * tail, is_exact=is_exact)
        return float((self.difference[0] + direction * max(half, distance)) * self.scale[0])


def _sides(baseline: Vector, candidate: Vector, *, is_paired: bool) -> _Runs | _Pairs:
    if is_paired:
        largest = np.maximum(np.abs(baseline).max(axis=1), np.abs(candidate).max(axis=1))
        return _Pairs(candidate - baseline, 4 * np.spacing(largest))
    return _Runs(baseline, candidate)


def _t_tail(t: Vector, df: Vector, side: Side) -> Vector:
    if side == "both":
        return np.asarray(2 * special.stdtr(df, -np.abs(t)), dtype=np.float64)
    return np.asarray(special.stdtr(df, -t if side == "above" else t), dtype=np.float64)


def _studentize(n_a: int, n_b: int, least: Vector) -> tuple[Vector, Vector, Vector]:
    """Coefficients of |t*| >= least without a division, for scores whose total is 0.

    With the sum s and the sum of squares q of one side, and Q of all, the other side has the sum -s and the squares
    Q - q. So t* has the numerator s (1/n_a + 1/n_b). Its squared standard error, (q - s^2/n_a) / (n_a (n_a - 1)) plus
    the same of the other side, is x q + y Q - z s^2. Squared and sorted by q, Q and s, |t*| >= least reads
    s^2 (1/n_a + 1/n_b)^2 + least^2 z s^2 - least^2 x q >= least^2 y Q; the three coefficients are returned.
    """
    square = least**2
    x = 1 / (n_a * (n_a - 1)) - 1 / (n_b * (n_b - 1))
    y = 1 / (n_b * (n_b - 1))
    z = 1 / (n_a**2 * (n_a - 1)) + 1 / (n_b**2 * (n_b - 1))
    return (1 / n_a + 1 / n_b) ** 2 + square * z, square * x, square * y


def _shares(
    above: NDArray[np.int64],
    below: NDArray[np.int64],
    distance: Vector,
    side: Side,
    n_rows: int,
    *,
    is_exact: bool,
    is_mirrored: bool,
) -> tuple[Vector, Vector]:
    """P from the numbers of arrangements as extreme on either side, and three Monte-Carlo standard errors.

    A sample counts what was observed as one of it. Mirrored arrangements stand for two, with t and -t.
    Source: Phipson & Smyth (2010).
    """
    extra = 0 if is_exact else 1
    both = (above + below + extra) / (n_rows + extra)
    if side == "both":
        p_value = both
    else:
        is_right = (distance > 0) == (side == "above")
        far, opposite = (above, below) if side == "above" else (below, above)
        shares = both / 2 if is_mirrored else (far + extra) / (n_rows + extra)
        other = both / 2 if is_mirrored else (opposite + extra) / (n_rows + extra)
        # On the wrong side p is 1 less the other tail, which both hold the observed arrangement: it is added back.
        p_value = np.where(is_right, shares, 1.0 - other + 1 / (n_rows * (1 + is_mirrored)))
    p_value = np.minimum(p_value, 1.0)
    error = np.zeros(len(p_value)) if is_exact else N_ERRORS * np.sqrt(p_value * (1 - p_value) / n_rows)
    return p_value, error


def _limit_of_distances(sums: Vector, moved: Vector, most: float, alpha: float, *, is_exact: bool) -> float:
    """The largest distance at which the proportion of counted arrangements is at least alpha.

    At a distance u an arrangement counts where |sums - u moved| >= u most, and |moved| <= most. Solved for u: up to
    sums / (most + moved) for a sum above 0, up to -sums / (most - moved) for one below.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.where(sums > 0, sums / (most + moved), -sums / (most - moved))
    distances[np.isnan(distances)] = 0.0
    distances[(np.abs(moved) > most - 0.25) & (np.abs(sums) <= NO_SPREAD * most)] = math.inf  # the observed arrangement
    extra = 0 if is_exact else 1
    # p is at least alpha as long as this many arrangements count, so the limit is the distance of the last of them.
    n_least = math.ceil(alpha * (len(distances) + extra) - 1e-9) - extra
    if n_least <= 0:
        return math.inf
    return float(np.partition(distances, len(distances) - n_least)[len(distances) - n_least])


@lru_cache(maxsize=16)
def _n_first(n_candidate: int, n_baseline: int, n_resamples: int) -> Vector:
    """How many runs of the first side stay there in each arrangement."""
    rows, _ = arrangements(n_candidate, n_baseline, n_resamples)
    return np.asarray(rows[:, :n_candidate].sum(axis=1, dtype=np.float64))


def _blocks(rows: Matrix, n_comparisons: int) -> Iterator[tuple[Vector, slice]]:
    """Rows as floats in blocks with few enough comparisons that their product stays small."""
    for part in parts(rows):
        ways = part.astype(np.float64)
        step = max(1, CELLS // len(ways))
        for start in range(0, n_comparisons, step):
            yield ways, slice(start, start + step)

"""Quantities that restate another one: fixed functions, found in what was recorded.

A function is one that all values follow, up to the digits of single precision or the decimals to which they are
rounded, and that unrelated values would follow with a chance of less than one in 100,000. The chance counts the
decimals of the values: a few counts or rounded shares easily lie on a line by accident.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLOAT = 2.0**-21
"""Relative error of a few operations in single precision."""
MOST_BENT = 1e-2
"""Distance from the line through both ends, as a share of the range, beyond which no line is tried."""
MOST_ROUNDED = 1e-3
"""Rounding, as a share of the range of the values, up to which it may explain why they miss a function."""
CHANCE = 1e-5
FEWEST_DISTINCT = 3
MOST_DECIMALS = 6
DIGITS = (1, 2, 3, 4, 6, 9, 17)
PLAIN = ((1.0, 0.0), (-1.0, 1.0), (-1.0, 100.0), (100.0, 0.0), (0.01, 0.0), (-100.0, 100.0), (-0.01, 1.0))
"""Factors and constants of shares, percentages and their complements, which are tried first."""


@dataclass(frozen=True, slots=True)
class FixedFunction:
    """`y = a x + b`, `y = exp(x)` or `y = log(x)`.

    Attributes:
        n_free: how many numbers were fitted.
        x_rounding, y_rounding: by how much rounding may have moved a value.
    """

    kind: Literal["linear", "exp", "log"]
    a: float = 1.0
    b: float = 0.0
    n_free: int = 0
    x_rounding: float = 0.0
    y_rounding: float = 0.0

    @property
    def is_rising(self) -> bool:
        return self.kind != "linear" or self.a > 0

    def text(self, x: str) -> str:
        """The function of something called `x`: `100 − acc`, `5 × acc`, `exp(loss)`."""
        if self.kind != "linear":
            return f"{self.kind}({x})"
        if self.a < 0 and self.b:
            return f"{self.b:.6g} − {x}" if self.a == -1 else f"{self.b:.6g} − {-self.a:.6g} × {x}"
        scaled = x if self.a == 1 else f"−{x}" if self.a == -1 else f"{self.a:.6g} × {x}".replace("-", "−", 1)
        if not self.b:
            return scaled
        return f"{scaled} {'+' if self.b > 0 else '−'} {abs(self.b):.6g}"

    def holds(self, x: Floats, y: Floats) -> bool:
        """Whether all pairs follow it; values that are not finite must be so on both sides."""
        is_finite = np.isfinite(x)
        if not np.array_equal(is_finite, np.isfinite(y)):
            return False
        x, y = x[is_finite], y[is_finite]
        distance, tolerance = self._distance(x, y)
        return bool(np.all(distance <= tolerance))

    def chance(self, x: Floats, y: Floats) -> float:
        """How often unrelated values of this range and these decimals would follow it; all must be finite."""
        _, first = np.unique(x, return_index=True)
        x, y = x[first], y[first]
        size = float(np.ptp(x if self.kind == "log" else y))
        if len(x) < FEWEST_DISTINCT or not size:
            return 1.0
        _, tolerance = self._distance(x, y)
        finest = rounding_of(x if self.kind == "log" else y)
        shares = np.minimum(1.0, 2 * np.maximum(tolerance, finest) / size)
        if max(self.x_rounding, self.y_rounding) and float(tolerance.max()) > MOST_ROUNDED * size:
            return 1.0
        return float(np.exp(np.log(shares).mean() * (len(x) - self.n_free)))

    def _distance(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """How far values are from the function, and how far they may be."""
        if self.kind == "log":
            inverse = FixedFunction("exp", x_rounding=self.y_rounding, y_rounding=self.x_rounding)
            return inverse._distance(y, x)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kind == "exp":
                distance = np.abs(y - np.exp(x))
                tolerance = self.y_rounding + np.abs(y) * (FLOAT * (1 + np.abs(x)) + self.x_rounding)
            else:
                scaled = self.a * x
                distance = np.abs(y - scaled - self.b)
                moved = self.y_rounding + abs(self.a) * self.x_rounding
                tolerance = moved + FLOAT * (np.abs(y) + np.abs(scaled) + abs(self.b))
        return distance, tolerance


def rounding_of(values: Floats) -> float:
    """Half a unit of the last decimal to which all values are rounded; 0 where they have more than 6 decimals."""
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled))):
            return float(0.5 * 10.0**-decimals)
    return 0.0


def find_function(x: Floats, y: Floats) -> FixedFunction | None:
    """The simplest function that all pairs follow, and hardly by chance; None if there is none.

    Pairs that are not finite on both sides are passed over.
    """
    if len(x) != len(y):
        return None
    is_finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_finite], y[is_finite]
    if not len(x) or min(len(np.unique(x)), len(np.unique(y))) < FEWEST_DISTINCT:
        return None
    roundings = {(0.0, 0.0): None, (rounding_of(x), rounding_of(y)): None}
    for x_rounding, y_rounding in roundings:
        for function in _candidates(x, y):
            rounded = replace(function, x_rounding=x_rounding, y_rounding=y_rounding)
            if rounded.holds(x, y) and rounded.chance(x, y) < CHANCE:
                return rounded
    return None


def _candidates(x: Floats, y: Floats) -> Iterator[FixedFunction]:
    yield FixedFunction("exp")
    yield FixedFunction("log")
    low, high = int(np.argmin(x)), int(np.argmax(x))
    with np.errstate(over="ignore", invalid="ignore"):
        a = float((y[high] - y[low]) / (x[high] - x[low]))
        bent = np.abs(y - y[low] - a * (x - x[low]))
        is_line = math.isfinite(a) and a != 0 and bool(np.all(bent <= MOST_BENT * np.ptp(y)))
    if not is_line:
        return
    yield from (FixedFunction("linear", factor, constant) for factor, constant in PLAIN)
    for digits in DIGITS:
        factor = float(f"{a:.{digits}g}")
        yield FixedFunction("linear", factor, 0.0, n_free=1)
        constant = float(np.median(y - factor * x))
        if math.isfinite(constant):
            yield FixedFunction("linear", factor, float(f"{constant:.{digits}g}"), n_free=2)
    # In single precision the ends may be the least exact of all, and small values the most: the best line of all
    # values, each with the weight of its precision.
    with np.errstate(all="ignore"):
        weights = np.maximum(np.abs(y), FLOAT * np.ptp(y)) ** -2.0
        weights /= weights.sum()
        x_mean, y_mean = weights @ x, weights @ y
        distances = x - x_mean
        factor = float(weights @ (distances * (y - y_mean)) / (weights @ distances**2))
        constant = float(y_mean - factor * x_mean)
    if math.isfinite(factor) and factor != 0 and math.isfinite(constant):
        yield FixedFunction("linear", factor, constant, n_free=2)

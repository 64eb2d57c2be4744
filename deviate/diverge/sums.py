"""What two environments may differ by: values in ulps, tensors by their sums.

Another processor, another device or another version of a library rounds otherwise, so that checksums say nothing. Of a
tensor x the trace tells S = sum of x_i and A = sum of |x_i| in double precision. If every element of one tensor is at
most t ulps from that of the other, then, with e = 2^(1-p) of a type of p bits and its smallest number s,

    |x_i - y_i| <= ((1 + e)^t - 1) |x_i| + t s,

for the step from a normal number to the next larger one is at most e times that number, and the step from a subnormal
one is s. Summed up, and with the rounding of two sums of n numbers in double precision, in whatever order,

    |S_x - S_y| <= ((1 + e)^t - 1 + 4 n 2^-53) max(A_x, A_y) + n t s,

and the same for |A_x - A_y|. What breaks either bound is beyond the tolerance for certain; what keeps both may still
be, as differences of both signs cancel, and as one element of many weighs little: its own difference shows beyond about
n t ulps. So a difference that is found is one, and the first one that is found may come some steps late.

Source: rounding of sums: Higham (2002), Accuracy and Stability of Numerical Algorithms, equation 4.4, with
n u / (1 - n u) <= 2 n u.
"""

import math
import re

from deviate.diverge.findings import TraceRecord
from deviate.diverge.ulps import value_ulps

PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""Bits of the significand, the hidden one included. Source: IEEE 754-2019, table 3.5; bfloat16 has those of its half of
a float32."""
SMALLEST = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}
"""Exponent of two of the smallest subnormal number."""
MOST_GROWTH = 700.0
"""Exponent up to which e to its power is a double."""


def is_within(first: TraceRecord, second: TraceRecord, tolerance_ulps: int) -> bool:
    """Whether two records may be of numbers that differ by at most so many ulps of their type.

    Integers, and records with a checksum alone, have no tolerance.
    """
    if first.form != second.form:
        return False
    one, other = first.more.get("value"), second.more.get("value")
    if isinstance(one, int | float) and isinstance(other, int | float):
        return are_within(one, other, tolerance_ulps, first.form)
    mine, theirs = first.more.get("sums"), second.more.get("sums")
    if not isinstance(mine, list | tuple) or not isinstance(theirs, list | tuple):
        return False
    bound = bound_of_sums(first.form, max(float(mine[1]), float(theirs[1])), tolerance_ulps)
    return all(
        _is_near(float(value), float(other_value), bound) for value, other_value in zip(mine, theirs, strict=True)
    )


def are_within(one: float, other: float, tolerance_ulps: int, form: str = "float32") -> bool:
    """Whether two values are at most so many ulps of a type apart; two NaN are.

    Args:
        form: type, with or without a shape. Single precision, in which most of what is reported was computed, unless
            it says double: a mean of losses in single precision is no number of that type any more.
    """
    kind = form.partition("[")[0]
    wide = PRECISION["float32"] - PRECISION.get(kind, PRECISION["float32"])  # one ulp of float32 in ulps of the type
    apart = value_ulps(one, other, "float64" if kind == "float64" else "float32")
    return apart is not None and apart <= tolerance_ulps << max(0, wide)


def bound_of_sums(form: str, magnitude: float, tolerance_ulps: int) -> float:
    """Upper bound for the difference of S and of A between tensors whose elements are at most so many ulps apart.

    Args:
        form: type and shape; of a type without a tolerance the bound is 0.
        magnitude: the larger A.
    """
    kind, _, shape = form.partition("[")
    if kind not in PRECISION or not math.isfinite(magnitude):
        return 0.0
    n = math.prod(int(size) for size in re.findall(r"\d+", shape))
    growth = tolerance_ulps * math.log1p(2.0 ** (1 - PRECISION[kind]))
    spread = math.expm1(min(growth, MOST_GROWTH))
    return (spread + 4 * n * 2.0**-53) * magnitude + n * tolerance_ulps * 2.0 ** SMALLEST[kind]


def _is_near(one: float, other: float, bound: float) -> bool:
    if not math.isfinite(one) or not math.isfinite(other):
        return one == other or (math.isnan(one) and math.isnan(other))
    return abs(one - other) <= bound

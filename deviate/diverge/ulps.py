"""Size of a difference in ulps: the number of representable floats from one value to the other, and tolerances in them.

The bits of a float of IEEE 754, read as a whole number with the sign in front, rise with the number that they stand
for; zeros of both signs lie together. So the distance is a difference of whole numbers, the same within a binade and
across its ends, below the smallest normal number, and across zero. It counts steps of `numpy.nextafter`.

Source: Goldberg (1991), What every computer scientist should know about floating-point arithmetic, section 1.2; the
order of the bits: IEEE 754-2019, 3.4 and 5.10.
"""

import math
import re
import struct
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from deviate.diverge.findings import Ulps
from deviate.diverge.traces import TraceRecord

Array = npt.NDArray[Any]
FloatForm = Literal["float32", "float64"]
BFLOAT16 = "bfloat16"


def ulps(first: npt.ArrayLike, second: npt.ArrayLike, form: str = "") -> Ulps:
    """ULP distance of two arrays of one type and shape, element by element.

    Elements differ where their bits do. The distance of complex numbers is the larger one of both parts.

    Args:
        form: type and shape as the trace gives them; needed where NumPy has no such type: bits of bfloat16 come as
            uint16. By default the type of the arrays.

    Raises:
        ValueError: the types or the shapes are not the same.
    """
    one, other = np.atleast_1d(np.asarray(first)), np.atleast_1d(np.asarray(second))
    if one.dtype != other.dtype or one.shape != other.shape:
        raise ValueError(f"{one.dtype}{one.shape} against {other.dtype}{other.shape}: no elements to compare")
    form = form or f"{one.dtype}[{','.join(map(str, np.shape(first)))}]"
    is_bfloat16 = form.startswith(BFLOAT16) and one.dtype.itemsize == 2
    one, other = np.ascontiguousarray(one).reshape(-1), np.ascontiguousarray(other).reshape(-1)
    differ = np.flatnonzero((_bits(one) != _bits(other)).any(axis=1))
    is_float = is_bfloat16 or (one.dtype.kind in "fc" and _parts(one).dtype.itemsize <= 8)
    if not differ.size:
        return Ulps(0 if is_float else None, 0, one.size, 0.0, 0.0, form)
    mine, theirs = one[differ], other[differ]
    if not is_float:
        return Ulps(None, differ.size, one.size, *_sizes(mine, theirs), form)
    steps = _steps(_parts(mine), _parts(theirs))
    if is_bfloat16:
        mine, theirs = _wide(mine), _wide(theirs)
    numbers, other_numbers = _parts(mine), _parts(theirs)
    are_nan = np.isnan(numbers) & np.isnan(other_numbers)
    are_comparable = (np.isfinite(numbers) & np.isfinite(other_numbers)) | are_nan
    most = int(np.where(are_nan, np.uint64(0), steps).max()) if are_comparable.all() else None
    return Ulps(most, differ.size, one.size, *_sizes(mine, theirs), form)


def value_ulps(first: float, second: float, form: FloatForm | None = None) -> Ulps:
    """ULP distance of two reported values; of two NaN it is 0.

    Args:
        form: in ulps of what; None for that of `float_form`.
    """
    kind = form or float_form(first, second)
    with np.errstate(over="ignore"):
        return ulps(np.asarray(first, dtype=kind), np.asarray(second, dtype=kind))


def float_form(*values: float) -> FloatForm:
    """The precision of values: single precision if each of them is exactly a number of that type.

    Python knows double precision alone, so that a loss computed in single precision is reported as a double whose last
    29 bits are zero. That a value computed in double precision ends so by chance has a probability of 2^-29; whole
    numbers and a few fractions such as 0.5 do, and for these both answers are right. NaN and infinities fit everywhere.
    """
    return "float32" if all(_is_single(value) for value in values) else "float64"


def _is_single(value: float) -> bool:
    try:
        return value != value or struct.unpack("f", struct.pack("f", value))[0] == value  # noqa: PLR0124  (NaN)
    except OverflowError:
        return False


def _parts(array: Array) -> Array:
    """The numbers; for complex ones the real parts followed by the imaginary parts."""
    return array.view(f"f{array.dtype.itemsize // 2}") if array.dtype.kind == "c" else array


def _bits(array: Array) -> Array:
    """Bits to compare for each element: (n, 1), for complex numbers (n, 2)."""
    parts = _parts(array)
    needs_bit_view = parts.dtype.kind not in "biu" and parts.dtype.itemsize <= 8
    bits = parts.view(f"u{parts.dtype.itemsize}") if needs_bit_view else parts
    return bits.reshape(len(array), 2 if array.dtype.kind == "c" else 1)


def _order_bits(array: Array) -> npt.NDArray[np.int64]:
    """Bits as integers in the order of the floats."""
    size = array.dtype.itemsize
    bits = array.view(f"i{size}").astype(np.int64)
    return np.where(bits < 0, -(bits & ((1 << (8 * size - 1)) - 1)), bits)


def _steps(one: Array, other: Array) -> npt.NDArray[np.uint64]:
    mine, theirs = _order_bits(one), _order_bits(other)
    larger, smaller = np.maximum(mine, theirs), np.minimum(mine, theirs)
    return larger.view(np.uint64) - smaller.view(np.uint64)  # up to 2^64 - 2^53, which wraps around to the right result


def _wide(bits: Array) -> npt.NDArray[np.float32]:
    """Source: bfloat16 is the first half of a float32."""
    return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _sizes(one: Array, other: Array) -> tuple[float, float]:
    """Largest absolute difference, and that divided by the larger magnitude; infinite if only one value is finite."""
    if one.dtype.kind in "biu":  # exact, also beyond 2^53
        mine, theirs = one.astype(object), other.astype(object)
        apart = abs(mine - theirs)
        at = int(apart.argmax())
        return float(apart[at]), apart[at] / max(abs(mine[at]), abs(theirs[at]))
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    mine, theirs = one.astype(wide), other.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(mine - theirs)
    same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    apart = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
    at = int(apart.argmax())
    largest = float(apart[at])
    magnitude = max(abs(complex(mine[at])), abs(complex(theirs[at])))
    if not largest:
        return 0.0, 0.0
    return largest, largest / magnitude if np.isfinite(largest) else float("inf")


# What two environments may differ by: values in ulps, tensors by their sums.
#
# Another processor, another device or another version of a library rounds otherwise, so that checksums say nothing. Of
# a tensor x the trace tells S = sum of x_i and A = sum of |x_i| in double precision. If every element of one tensor is
# at most t ulps from that of the other, then, with e = 2^(1-p) of a type of p bits and its smallest number s,
#
#     |x_i - y_i| <= ((1 + e)^t - 1) |x_i| + t s,
#
# for the step from a normal number to the next larger one is at most e times that number, and the step from a
# subnormal one is s. Summed up, and with the rounding of two sums of n numbers in double precision, in whatever order,
#
#     |S_x - S_y| <= ((1 + e)^t - 1 + 4 n 2^-53) max(A_x, A_y) + n t s,
#
# and the same for |A_x - A_y|. What breaks either bound is beyond the tolerance for certain; what keeps both may still
# be, as differences of both signs cancel, and as one element of many weighs little: its own difference shows beyond
# about n t ulps. So a difference that is found is one, and the first one that is found may come some steps late.
#
# Source: rounding of sums: Higham (2002), Accuracy and Stability of Numerical Algorithms, equation 4.4, with n u / (1
# - n u) <= 2 n u.

PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""Bits of the significand, including the hidden one. Source: IEEE 754-2019, table 3.5; bfloat16 is the first half of a
float32."""
SMALLEST = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}
"""Binary exponent of the smallest subnormal number."""
MOST_GROWTH = 700.0
"""Largest x for which exp(x) is a finite double."""


def is_within(first: TraceRecord, second: TraceRecord, tolerance_ulps: int) -> bool:
    """Whether two records may be of numbers that differ by at most so many ulps of their type.

    Integers, and records with a checksum alone, have no tolerance.
    """
    if first.form != second.form:
        return False
    if first.value is not None and second.value is not None:
        return are_within(first.value, second.value, tolerance_ulps, first.form)
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
    apart = value_ulps(one, other, "float64" if kind == "float64" else "float32").most
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

"""Size of a difference in ulps: the number of representable floats from one value to the other.

The bits of a float of IEEE 754, read as a whole number with the sign in front, rise with the number that they stand
for; zeros of both signs lie together. So the distance is a difference of whole numbers, the same within a binade and
across its ends, below the smallest normal number, and across zero. It counts steps of `numpy.nextafter`.

Source: Goldberg (1991), What every computer scientist should know about floating-point arithmetic, section 1.2; the
order of the bits: IEEE 754-2019, 3.4 and 5.10.
"""

import struct
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from deviate.diverge.findings import Ulps

Array = npt.NDArray[Any]
FloatForm = Literal["float32", "float64"]
BFLOAT16 = "bfloat16"


def ulps(first: npt.ArrayLike, second: npt.ArrayLike, form: str = "") -> Ulps:
    """ULP distance of two arrays of one type and shape, element by element.

    Elements differ where their bits do. The distance of complex numbers is the larger one of both parts.

    Args:
        form: type and shape as the trace gives them; needed where NumPy has no such type: bits of bfloat16 come as
            uint16. Without it, it is told from the arrays.

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


def value_ulps(first: float, second: float, form: FloatForm | None = None) -> int | None:
    """ULP distance of two reported values; 0 if both are NaN, None if only one is finite.

    Args:
        form: in ulps of what; None for that of `float_form`.
    """
    kind = np.float32 if (form or float_form(first, second)) == "float32" else np.float64
    with np.errstate(over="ignore"):
        return ulps(kind(first), kind(second)).most


def float_form(*values: float) -> FloatForm:
    """In which type values are told apart: single precision where each of them is exactly a number of that type.

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
    if one.dtype.kind in "biu":
        return _whole_sizes(one, other)
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


def _whole_sizes(one: Array, other: Array) -> tuple[float, float]:
    """Sizes for different integers, which double precision would not distinguish beyond 2^53."""
    kind = np.uint64 if one.dtype.kind in "bu" else np.int64
    mine, theirs = one.astype(kind), other.astype(kind)
    apart = np.maximum(mine, theirs).view(np.uint64) - np.minimum(mine, theirs).view(np.uint64)
    at = int(apart.argmax())
    largest = int(apart[at])
    return float(largest), largest / max(abs(int(mine[at])), abs(int(theirs[at])))

"""Size of a difference in ulps: how many numbers of a floating-point type lie between two, one of the two included.

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

from deviate.model.divergence import Ulps

Array = npt.NDArray[Any]
FloatForm = Literal["float32", "float64"]
BFLOAT16 = "bfloat16"


def ulps(first: npt.ArrayLike, second: npt.ArrayLike, form: str = "") -> Ulps:
    """How far two arrays of one type and shape are apart, element by element.

    Elements differ where their bits do. Complex numbers are as far apart as the farther of their two parts.

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
    differ = np.flatnonzero(_bits(one) != _bits(other)) if one.dtype.kind != "c" else _complex_differ(one, other)
    if not differ.size:
        return Ulps(0 if _is_float(one, is_bfloat16=is_bfloat16) else None, 0, one.size, 0.0, 0.0, form)
    mine, theirs = one[differ], other[differ]
    if not _is_float(one, is_bfloat16=is_bfloat16):
        largest, relative = _sizes(mine, theirs)
        return Ulps(None, differ.size, one.size, largest, relative, form)
    if is_bfloat16:
        steps, values = _steps(mine, theirs), (_wide(mine), _wide(theirs))
    elif one.dtype.kind == "c":
        pairs = [(mine.real, theirs.real), (mine.imag, theirs.imag)]
        steps, values = np.concatenate([_steps(*map(np.ascontiguousarray, pair)) for pair in pairs]), (mine, theirs)
        both = _are_finite_alike(
            np.concatenate([pair[0] for pair in pairs]), np.concatenate([pair[1] for pair in pairs])
        )
        return _of_steps(steps, values, both, differ.size, one.size, form)
    else:
        steps, values = _steps(mine, theirs), (mine, theirs)
    return _of_steps(steps, values, _are_finite_alike(*values), differ.size, one.size, form)


def value_ulps(first: float, second: float, form: FloatForm | None = None) -> int | None:
    """Distance of two reported values; 0 where both are NaN, None where one alone is finite.

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


def _is_float(array: Array, *, is_bfloat16: bool) -> bool:
    return is_bfloat16 or (array.dtype.kind in "fc" and array.dtype.itemsize <= (8 if array.dtype.kind == "f" else 16))


def _bits(array: Array) -> Array:
    if array.dtype.kind in "biu" or array.dtype.itemsize > 8:
        return array
    return array.view(f"u{array.dtype.itemsize}")


def _complex_differ(one: Array, other: Array) -> npt.NDArray[np.intp]:
    half = one.dtype.itemsize // 2
    return np.flatnonzero((one.view(f"u{half}") != other.view(f"u{half}")).reshape(-1, 2).any(axis=1))


def _order_bits(array: Array) -> npt.NDArray[np.int64]:
    """Bits as whole numbers that rise with the floats."""
    size = array.dtype.itemsize
    bits = array.view(f"i{size}").astype(np.int64)
    return np.where(bits < 0, -(bits & ((1 << (8 * size - 1)) - 1)), bits)


def _steps(one: Array, other: Array) -> npt.NDArray[np.uint64]:
    mine, theirs = _order_bits(one), _order_bits(other)
    larger, smaller = np.maximum(mine, theirs), np.minimum(mine, theirs)
    return larger.view(np.uint64) - smaller.view(np.uint64)  # up to 2^64 - 2^53, which wraps round to what is right


def _wide(bits: Array) -> npt.NDArray[np.float32]:
    """Source: bfloat16 is the first half of a float32."""
    return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _are_finite_alike(one: Array, other: Array) -> npt.NDArray[np.bool_]:
    """Whether two elements are both finite, or both NaN."""
    both: npt.NDArray[np.bool_] = np.isfinite(one) & np.isfinite(other)
    return both | (np.isnan(one) & np.isnan(other))


def _of_steps(
    steps: npt.NDArray[np.uint64],
    values: tuple[Array, Array],
    alike: npt.NDArray[np.bool_],
    n_different: int,
    n_elements: int,
    form: str,
) -> Ulps:
    largest, relative = _sizes(*values)
    is_nan = np.isnan(values[0]) & np.isnan(values[1])
    if len(is_nan) != len(steps):
        is_nan = np.concatenate([np.isnan(values[0].real), np.isnan(values[0].imag)])
    most = int(np.where(is_nan, np.uint64(0), steps).max()) if alike.all() else None
    return Ulps(most, n_different, n_elements, largest, relative, form)


def _sizes(one: Array, other: Array) -> tuple[float, float]:
    """Largest absolute difference, and that one over the larger magnitude; infinite where one alone is finite."""
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
    """The same of whole numbers that differ, of which double precision would take neighbours beyond 2^53 for equal."""
    kind = np.uint64 if one.dtype.kind in "bu" else np.int64
    mine, theirs = one.astype(kind), other.astype(kind)
    apart = np.maximum(mine, theirs).view(np.uint64) - np.minimum(mine, theirs).view(np.uint64)
    at = int(apart.argmax())
    largest = int(apart[at])
    return float(largest), largest / max(abs(int(mine[at])), abs(int(theirs[at])))

"""Arrays of a framework, as observers read and change them; and arrays of any library as types, shapes and bytes."""

from __future__ import annotations

import math
import sys
from array import array

from ..annotations import TYPE_CHECKING, Any, Array, Sequence

if TYPE_CHECKING:
    from .augmentations import Images


class Arrays:
    """How the arrays of a framework are read and changed; observers know arrays through these methods alone.

    This class reads what `numpy.asarray` reads, and changes a copy. The adapter of a framework overrides what is
    different there.
    """

    def images(self) -> Images:
        """Cuts copies from batches of images, which are laid out as the framework has them."""
        from .augmentations import Images  # few runs ask for copies

        return Images((1, 2))

    def is_array(self, value: Any) -> bool:
        """Whether a value is an array whose numbers can be read now."""
        return hasattr(value, "dtype") and hasattr(value, "shape")

    def numbers(self, array: Any) -> Any:
        """The NumPy array of these numbers. Raises whatever the framework raises for an array without any."""
        return sys.modules["numpy"].asarray(array)

    def form(self, array: Any) -> tuple[str, Sequence[int]]:
        """Type and shape; reads no numbers."""
        return str(array.dtype), tuple(array.shape)

    def exact(self, array: Any) -> Array:
        """Type, shape and bytes, for a hash; instead of the bytes there may be a function that reads them later."""
        numbers = self.numbers(array)
        return str(numbers.dtype), numbers.shape, numbers.tobytes()

    def plain(self, array: Any) -> Array:
        """The same in a type that files of NumPy have: bfloat16 and similar types become float32."""
        numbers = self.numbers(array)
        if numbers.dtype.kind == "V" or "bfloat16" in str(numbers.dtype):
            numbers = numbers.astype("float32")
        return str(numbers.dtype), numbers.shape, numbers.tobytes()

    def size(self, array: Any) -> int:
        """How many numbers an array has."""
        return math.prod(map(int, self.form(array)[1]))

    def like(self, numbers: Any, array: Any) -> Any:
        """A NumPy array as an array of the framework, on the device of another one."""
        return numbers

    def holds(self, array: Any, index: tuple[int, ...]) -> bool:
        """Whether this process has the element of a weight that may be divided between several."""
        return True

    def flip(self, array: Any, index: tuple[int, ...]) -> tuple[Any, float, float] | None:
        """Flip the lowest bit of one number.

        Returns:
            the array with the flipped bit, which may be the same object, and the number before and after; None where
            the number is not finite.
        """
        return flip_element(self.numbers(array), index)


def flip_lowest_bit(raw: bytes) -> bytes:
    """The bytes of a floating-point number with the lowest bit of its significand flipped.

    Args:
        raw: a number of any binary type, in the byte order of the machine.

    Source: IEEE 754-2019, section 3.4 (the significand's field comes last); so have bfloat16 and the types of 8 bits.
    """
    number = int.from_bytes(raw, _ORDER) ^ 1
    return number.to_bytes(len(raw), _ORDER)


def flip_element(array: Any, index: tuple[int, ...]) -> tuple[Any, float, float] | None:
    """Flip the lowest bit of an element of a NumPy array; returns the array, and the value before and after."""
    before = float(array[index])
    if not math.isfinite(before):
        return None
    numpy = sys.modules["numpy"]
    changed = numpy.array(array)
    changed[index] = numpy.frombuffer(flip_lowest_bit(array[index].tobytes()), array.dtype)[0]
    return changed, before, float(changed[index])


_ORDER = sys.byteorder


# ---------------------------------------------------------------- arrays of any library

WHOLE, REAL = "int64", "float64"
LONGEST = 64
"""Characters of a text that count: all batches of a set have the same type."""


def array_of(value: Any) -> Array:
    """Convert an array, a tensor of any library, or lists of numbers or strings.

    Raises:
        ValueError: it has no rows, its rows differ in length, or it holds neither numbers nor texts.
    """
    if hasattr(value, "detach"):
        value = value.detach()
        if str(value.dtype) in ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"):
            value = value.float()
        value = value.cpu()
        if "numpy" not in sys.modules:
            return _of_lists(value.tolist())
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return _of_lists(value)
    array = numpy.asarray(value)
    if array.dtype.kind == "O":
        return _of_lists(array.tolist())
    if array.dtype.kind == "V":  # bfloat16 of JAX and similar types
        array = array.astype("float32")
    if not array.ndim:
        raise ValueError("a single value has no rows")
    if array.dtype.kind == "U":
        return _of_texts(array.ravel().tolist(), array.shape)
    array = numpy.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return array.dtype.name, array.shape, array.tobytes()


def _of_lists(value: Any) -> Array:
    shape: list[int] = []
    rows = value
    while isinstance(rows, (list, tuple)):
        shape.append(len(rows))
        rows = rows[0] if rows else None
    if not shape:
        raise ValueError("a single value has no rows")
    flat = _flat(value, shape)
    if any(isinstance(item, str) for item in flat):
        return _of_texts([str(item) for item in flat], shape)
    if all(isinstance(item, int) for item in flat):
        return WHOLE, shape, array("q", flat).tobytes()
    return REAL, shape, array("d", [float(item) for item in flat]).tobytes()


def _flat(value: Any, shape: Sequence[int]) -> list[Any]:
    if not shape:
        if isinstance(value, (list, tuple)):
            raise ValueError("rows of different depth")
        return [value]
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        raise ValueError("rows of different length")
    return [item for row in value for item in _flat(row, shape[1:])]


def _of_texts(texts: Sequence[str], shape: Sequence[int]) -> Array:
    """Strings of equal length as stored by NumPy: UTF-32, padded with zeros."""
    code = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    data = b"".join(text[:LONGEST].ljust(LONGEST, "\0").encode(code, "replace") for text in texts)
    return "U%d" % LONGEST, shape, data

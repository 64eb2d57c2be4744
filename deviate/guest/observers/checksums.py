"""Checksums of arrays: of bytes on the host, and of tensors on their device, without waiting for an accelerator."""

from __future__ import annotations

from zlib import crc32

from ..annotations import Any

MOST_ROWS = 4096
"""Rows of an array that have a checksum of their own."""
CHUNK = 1 << 20
"""Numbers that are summed up at a time on an accelerator: each takes 16 bytes there meanwhile."""
MASK = (1 << 64) - 1
HALVES = ((1, "int8"), (2, "int16"), (4, "int32"), (8, "int32"), (16, "int32"))
"""As what the numbers of a tensor are read, by their size in bytes."""


def checksum(buffer: Any, form: str = "") -> int:
    """CRC-32 of the form and the bytes of an array, in [0, 2**32).

    Source: ISO 3309 (1993); one changed stretch of at most 32 bits always shows.
    """
    return crc32(buffer, crc32(form.encode("ascii", "backslashreplace")))


def row_checksums(buffer: Any, n_rows: int) -> list[int]:
    """CRC-32 of each row of an array, up to MOST_ROWS rows; rows have equal length."""
    view = memoryview(buffer)
    if not n_rows or not view.nbytes:
        return []
    view = view.cast("B")
    size = len(view) // n_rows
    return [crc32(view[row * size : (row + 1) * size]) for row in range(min(n_rows, MOST_ROWS))]


class DeviceChecksums:
    """Checksums of tensors of PyTorch, computed on the device that holds them, in [0, 2**64) once they are fetched.

    The bytes are read as whole numbers x_i, and the sum of w_i * x_i is taken modulo 2**64, with an odd weight for each
    position. Whole numbers have no rounding, so neither the order of addition nor the device matters; a single number
    that changed always shows, other changes but with a probability of 2**-64 where the weights are taken as random.

    Source: Carter & Wegman (1979), "Universal classes of hash functions"; weights by Steele et al. (2014), SplitMix64.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.weights: dict[Any, Any] = {}

    def of(self, tensor: Any) -> Any:
        """The checksum as an int64 tensor on the same device, without synchronisation; the form is not included.

        Raises:
            RuntimeError: the tensor is not strided, or has no memory.
        """
        torch = self.torch
        plain = tensor.detach()
        if plain.is_complex():
            plain = torch.view_as_real(plain.resolve_conj())
        plain = plain.contiguous().reshape(-1)
        numbers = plain.view(getattr(torch, dict(HALVES)[plain.element_size()]))
        total = torch.zeros((), dtype=torch.int64, device=numbers.device)
        weights = self._weights_on(numbers)
        for place in range(0, numbers.numel(), CHUNK):
            part = numbers[place : place + CHUNK].to(torch.int64)
            total += (part * weights[: part.numel()]).sum() * _to_signed(_mix(place) | 1)
        return total

    def _weights_on(self, numbers: Any) -> Any:
        """Odd weights for the positions in a chunk."""
        n = min(numbers.numel(), CHUNK)
        weights = self.weights.get(numbers.device)
        if weights is None or weights.numel() < n:
            torch = self.torch
            size = min(CHUNK, 1 << max(n - 1, 1).bit_length())
            x = torch.arange(1, size + 1, dtype=torch.int64, device=numbers.device) * _to_signed(GOLDEN)
            for shift, factor in MIX:
                x = (x ^ _shift(x, shift)) * _to_signed(factor)
            weights = self.weights[numbers.device] = (x ^ _shift(x, 31)) | 1
        return weights


GOLDEN = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def _mix(number: int) -> int:
    """The output of SplitMix64 for the states of `_weights_on`."""
    x = (number + 1) * GOLDEN & MASK
    for shift, factor in MIX:
        x = (x ^ (x >> shift)) * factor & MASK
    return x ^ (x >> 31)


def _shift(x: Any, shift: int) -> Any:
    """Logical right shift, as that of PyTorch repeats the sign."""
    return (x >> shift) & ((1 << (64 - shift)) - 1)


def _to_signed(number: int) -> int:
    """The same 64 bits as a signed integer."""
    return number - (1 << 64) if number >> 63 else number

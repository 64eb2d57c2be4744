"""PyTorch tensors as bytes, without NumPy, which PyTorch does not require."""

from __future__ import annotations

import ctypes
import math
from functools import partial
from importlib import import_module
from operator import sub

from ...annotations import Any, Array, Callable, Iterator, Sequence
from ...npz import CODES
from ...observers.arrays import Arrays

DEEPEST = 4
WORDS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
"""Whole numbers as wide as the floating-point numbers of so many bytes."""


class TensorArrays(Arrays):
    """Tensors, whose numbers stay on their device until somebody asks for the bytes."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor)

    def form(self, array: Any) -> tuple[str, Sequence[int]]:
        return kind(array), tuple(array.shape)

    def exact(self, array: Any) -> Array:
        return kind(array), tuple(array.shape), partial(buffer, array)

    def plain(self, array: Any) -> Array:
        if kind(array) in CODES:
            return self.exact(array)
        return "float32", tuple(array.shape), lambda: buffer(array.detach().float())

    def holds(self, array: Any, index: tuple[int, ...]) -> bool:
        if not hasattr(array, "_local_tensor"):
            return True
        shape, offset = _extent(array)
        return all(first <= place < first + n for place, first, n in zip(index, offset, shape))

    def flip(self, array: Any, index: tuple[int, ...]) -> tuple[Any, float, float] | None:
        if hasattr(array, "_local_tensor"):
            offset = _extent(array)[1]
            element = array._local_tensor.data[tuple(map(sub, index, offset))]
        else:
            element = array.data[index]  # through `data` the autograd graph is not affected
        before = float(element.item())
        if not math.isfinite(before):
            return None
        element.view(getattr(self.torch, WORDS[element.element_size()])).bitwise_xor_(1)
        return array, before, float(element.item())


def _extent(tensor: Any) -> tuple[Sequence[int], Sequence[int]]:
    """Shape and offset of the part of a distributed tensor that this process holds, without communication."""
    utils = import_module("torch.distributed.tensor._utils")
    shape, offset = utils.compute_local_shape_and_global_offset(tensor.shape, tensor.device_mesh, tensor.placements)
    return shape, offset


def is_divided(tensor: Any) -> bool:
    """Whether this process holds a part of a distributed tensor alone."""
    return any(not placement.is_replicate() for placement in getattr(tensor, "placements", ()))


def buffer(tensor: Any) -> Any:
    """The bytes of a tensor in C order; tensors on an accelerator are copied to the host, synchronously.

    For a distributed tensor, these are the bytes of the local part. Raises ValueError for tensors without bytes.
    """
    plain = getattr(tensor, "_local_tensor", tensor).detach()
    if str(plain.layout) != "torch.strided":
        plain = plain.to_dense()
    plain = plain.cpu().contiguous()
    size = plain.numel() * plain.element_size()
    if not size:
        return b""
    if not plain.data_ptr():
        raise ValueError("a tensor without memory of its own")
    view = (ctypes.c_ubyte * size).from_address(plain.data_ptr())
    view.tensor = plain  # a view of memory must keep the memory
    return view


def parts_of(value: Any, is_part: Callable[[Any], bool], depth: int = 0) -> Iterator[Any]:
    """The parts of a value that are hashed, such as the tensors of a batch, in order."""
    if is_part(value):
        yield value
    elif depth < DEEPEST and not isinstance(value, (str, bytes)):
        if hasattr(value, "keys") and hasattr(value, "values"):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for item in value:
                yield from parts_of(item, is_part, depth + 1)


def state_bytes(state: Any) -> bytes:
    """The state of a generator, as a tensor of bytes on the host."""
    return ctypes.string_at(state.data_ptr(), state.numel())


def kind(tensor: Any) -> str:
    """Name of the data type."""
    return str(tensor.dtype).replace("torch.", "")

"""PyTorch tensors as bytes, without NumPy, which PyTorch does not require."""

from __future__ import annotations

import ctypes

from ...annotations import Any, Callable, Iterator

DEEPEST = 4


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

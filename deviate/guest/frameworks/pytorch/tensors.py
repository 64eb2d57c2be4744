"""Tensors of PyTorch as bytes, without NumPy, which a project with PyTorch need not have."""

from __future__ import annotations

import ctypes

from ...annotations import Any, Callable, Iterator

DEEPEST = 4


def buffer(tensor: Any) -> Any:
    """The bytes of a tensor in C order; one on an accelerator is brought to the host, and waited for.

    Of a tensor that is spread over processes it is the part of this one. Raises ValueError where there are no bytes.
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
    """What counts in a value, such as a batch, in the order in which that holds it."""
    if is_part(value):
        yield value
    elif depth < DEEPEST and not isinstance(value, (str, bytes)):
        if hasattr(value, "keys") and hasattr(value, "values"):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for item in value:
                yield from parts_of(item, is_part, depth + 1)


def state_bytes(state: Any) -> bytes:
    """The state of a generator, a tensor of bytes on the host."""
    return ctypes.string_at(state.data_ptr(), state.numel())


def kind(tensor: Any) -> str:
    """Name of the type of its numbers."""
    return str(tensor.dtype).replace("torch.", "")

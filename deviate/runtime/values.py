"""The number in a reported object, read without harm: nothing is imported, traced, warned about or synchronised.

A reader is chosen once per type and takes the object to a list of (label, number); label is None for the object itself.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Callable

    Numbers = list[tuple[str | None, float | "Later"]]

LONGEST_TEXT = 40
MOST_ITEMS = 64


class Later:
    """A number on an accelerator: a private copy now, read when the loop step ends, so that no tap has to wait."""

    __slots__ = ("copy",)

    def __init__(self, copy: Any) -> None:
        self.copy = copy

    def settle(self) -> float | None:
        return _plain(self.copy.item())


def read(value: object) -> Numbers:
    """Numbers of `value` with their labels; empty when it holds none that can be read."""
    kind = type(value)
    reader = _readers.get(kind)
    if reader is None:
        reader = _readers[kind] = _reader_for(kind)
    return reader(value)


def _plain(number: object) -> float | None:
    """A Python number of an exact type, or None."""
    if isinstance(number, float):
        return float(number)
    if isinstance(number, int):
        return int(number)
    return None


def _one(number: object) -> Numbers:
    plain = _plain(number)
    return [] if plain is None else [(None, plain)]


def _nothing(value: object) -> Numbers:
    return []


def _from_text(value: str) -> Numbers:
    """A number that was formatted before it got here, with or without a percent sign."""
    if len(value) > LONGEST_TEXT:
        return []
    try:
        return [(None, float(value.strip().rstrip("%")))]
    except ValueError:
        return []


def _from_mapping(value: Any) -> Numbers:
    pairs: Numbers = []
    for key, item in list(value.items())[:MOST_ITEMS]:
        if isinstance(key, str) and not isinstance(item, (str, dict, list, tuple)):
            pairs += [(key, number) for _, number in read(item)]
    return pairs


def _from_sequence(value: Any) -> Numbers:
    if len(value) > MOST_ITEMS:
        return []
    pairs: Numbers = []
    for index, item in enumerate(value):
        if not isinstance(item, (str, dict, list, tuple)):
            pairs += [(str(index), number) for _, number in read(item)]
    return pairs


def _from_numpy_scalar(value: Any) -> Numbers:
    number = value.item()
    return _one(float(number) if value.dtype.kind == "f" else number)  # a long double is its own item


def _from_numpy_array(value: Any) -> Numbers:
    if value.size != 1 or value.dtype.kind not in "fiub":
        return []
    return _from_numpy_scalar(value)


def _from_masked(value: Any) -> Numbers:
    return _from_numpy_array(value) if not value.mask.any() else []


def _from_torch(value: Any) -> Numbers:
    torch = sys.modules["torch"]
    if torch._C._get_tracing_state() is not None:  # torch.jit.trace warns about every number that leaves the graph
        return []
    if value.numel() != 1 or value.is_complex() or value.layout is not torch.strided:
        return []
    if value.device.type == "cpu":
        return _one(value.item())
    if value.device.type == "meta":
        return []
    return [(None, Later(value.detach().clone()))]


def _from_tensorflow(value: Any) -> Numbers:
    array = value.numpy()
    return _from_numpy_array(array) if hasattr(array, "dtype") and hasattr(array, "size") else []


def _from_jax(value: Any) -> Numbers:
    if value.size != 1 or value.dtype.kind not in "fiub":
        return _one(value.item()) if value.size == 1 and "bfloat16" in str(value.dtype) else []
    if all(device.platform == "cpu" for device in value.devices()):
        return _one(value.item())
    return [(None, Later(value))]  # immutable, so it is its own copy


def _from_fraction(value: Any) -> Numbers:
    return [(None, float(value))]


def _reader_for(kind: type) -> Callable[[Any], Numbers]:
    """By exact name where a framework has types that stand for no number yet (tracers, fake and symbolic tensors)."""
    module = (kind.__module__ or "").partition(".")[0]
    if kind in (float, int, bool):
        return _one
    if issubclass(kind, str):
        return _from_text
    if module == "torch":
        return _from_torch if kind.__name__ in ("Tensor", "Parameter") else _nothing
    if module == "tensorflow":
        return _from_tensorflow if kind.__name__ == "EagerTensor" else _nothing
    if module in ("jax", "jaxlib"):
        return _from_jax if kind.__name__ == "ArrayImpl" else _nothing
    if module == "numpy":
        return _numpy_reader_for(kind)
    if module in ("decimal", "fractions"):
        return _from_fraction
    if issubclass(kind, dict):
        return _from_mapping
    if kind in (list, tuple):
        return _from_sequence
    if issubclass(kind, (int, float)):
        return _one
    return _nothing


def _numpy_reader_for(kind: type) -> Callable[[Any], Numbers]:
    if kind.__name__ in ("ndarray", "memmap"):
        return _from_numpy_array
    if kind.__name__.startswith("Masked"):
        return _from_masked
    return _from_numpy_scalar if hasattr(kind, "item") else _nothing


_readers: dict[type, Callable[[Any], Numbers]] = {}

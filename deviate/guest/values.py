"""Reads the number in a reported object without side effects: no import, tracing, warning or synchronisation.

A reader is selected once per type and converts the object to a list of (label, number); the label is None for the
object itself.
"""

from __future__ import annotations

import sys
from collections import ChainMap, UserDict
from types import MappingProxyType

from .annotations import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    Numbers = list[tuple[str | None, float | "DeferredScalar"]]

LONGEST_TEXT = 40
MOST_ITEMS = 64
TORCH, TENSORFLOW, JAX = ("Tensor", "Parameter"), "EagerTensor", "ArrayImpl"
"""Types by name, where a framework has others that stand for no number yet: tracers, fake and symbolic tensors."""
REPLICAS = "PerReplica"
"""The type in which a strategy of TensorFlow hands out a value of each replica."""
CONTAINERS = (dict, list, tuple)
WRAPPERS = (ChainMap, UserDict, MappingProxyType)
"""Mappings beside dict whose items can be taken without running code of anybody's."""
ABSENT = object()


keepers: dict[str, Callable[[Any], Any]] = {}
"""What is kept of a tensor where even a copy on the device has costs, by type of device; adapters add entries."""


class DeferredScalar:
    """A number on an accelerator, copied now and read when the loop step ends, so that taps never wait.

    Args:
        copy: what gives the number by `item()`, or calls back by `when_known`, maybe much later.
    """

    __slots__ = ("copy",)

    def __init__(self, copy: Any) -> None:
        self.copy = copy

    def settle(self, emit: Callable[[float], object]) -> None:
        """Call a function with the number, unless it is no plain one."""

        def emit_plain(number: object) -> None:
            plain = _plain(number)
            if plain is not None:
                emit(plain)

        if hasattr(self.copy, "when_known"):
            self.copy.when_known(emit_plain)
        else:
            emit_plain(self.copy.item())


def read(value: object) -> Numbers:
    """Numbers in `value` with their labels; empty if there are none that can be read."""
    kind = type(value)
    reader = _readers.get(kind)
    if reader is None:
        reader = _readers[kind] = _reader_for(kind)
    return reader(value)


def read_record(value: Any) -> Numbers:
    """Numbers by key in a mapping or a sequence of pairs, including formatted ones; empty for other objects."""
    if type(value) in (list, tuple):
        pairs = [pair for pair in value[:MOST_ITEMS] if type(pair) in (list, tuple) and len(pair) == 2]
        value = {key: item for key, item in pairs if isinstance(key, str)}
    return _by_key(value, is_text_read=True) if isinstance(value, (dict, *WRAPPERS)) else []


def item(mapping: Any, key: str) -> Any:
    """The item that a template will use; ABSENT if there is none, or if accessing it would run user code."""
    kind = type(mapping)
    if isinstance(mapping, dict):
        return dict.get(mapping, key, ABSENT) if kind.__getitem__ is dict.__getitem__ else ABSENT
    return mapping.get(key, ABSENT) if kind in WRAPPERS else ABSENT


def is_remote(value: Any) -> bool:
    """Whether reading the number of a tensor would wait for an accelerator."""
    module, name = type(value).__module__.partition(".")[0], type(value).__name__
    if module == "torch" and name in TORCH:
        return value.device.type not in ("cpu", "meta")
    if module == "tensorflow" and name == TENSORFLOW:
        return "CPU" not in value.device
    return module in ("jax", "jaxlib") and name == JAX and not _is_on_host(value)


def label_numbers(label: str | None, numbers: Numbers, joint: str = ".") -> Numbers:
    """Prefix the labels of numbers."""
    if label is None:
        return numbers
    return [(label if suffix is None else label + joint + suffix, number) for suffix, number in numbers]


def _plain(number: object) -> float | None:
    """The value as a number if it has exactly a built-in number type, else None."""
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
    """The number in a formatted text, with or without a percent sign."""
    if len(value) > LONGEST_TEXT:
        return []
    try:
        return [(None, float(value.strip().rstrip("%")))]
    except ValueError:
        return []


def _by_key(mapping: Any, *, is_nested: bool = False, is_text_read: bool = False) -> Numbers:
    """Numbers of the items; nested mappings are labelled `key.key`, one level deep."""
    pairs: Numbers = []
    for key, value in list(mapping.items())[:MOST_ITEMS]:
        if not isinstance(key, str):
            continue
        if isinstance(value, dict) and not is_nested:
            pairs += label_numbers(key, _by_key(value, is_nested=True, is_text_read=is_text_read))
        elif not isinstance(value, CONTAINERS) and (is_text_read or not isinstance(value, str)):
            pairs += label_numbers(key, read(value))
    return pairs


def _by_index(values: Any) -> Numbers:
    if len(values) > MOST_ITEMS:
        return []
    pairs: Numbers = []
    for index, value in enumerate(values):
        if not isinstance(value, (*CONTAINERS, str)):
            pairs += label_numbers(str(index), read(value))
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
    keep = keepers.get(value.device.type)
    return [(None, DeferredScalar(value.detach().clone() if keep is None else keep(value)))]


def _from_tensorflow(value: Any) -> Numbers:
    array = value.numpy()
    return _from_numpy_array(array) if hasattr(array, "dtype") and hasattr(array, "size") else []


def _from_replicas(value: Any) -> Numbers:
    return _by_index(value.values)


def _from_jax(value: Any) -> Numbers:
    is_number = value.size == 1 and (value.dtype.kind in "fiub" or "bfloat16" in str(value.dtype))
    if not is_number or value.is_deleted():
        return []
    if not (value.is_fully_addressable or value.sharding.addressable_devices):  # it is in other processes alone
        return []
    if _is_on_host(value):
        return _one(value.item())
    # Copied on one device, so that no other process takes part: a later call may be donated the array.
    return [(None, DeferredScalar(value.addressable_data(0).copy()))]


def _is_on_host(value: Any) -> bool:
    return all(device.platform == "cpu" for device in value.devices())


def _from_frame(value: Any) -> Numbers:
    """The last row of a table, as growing tables are written with the newest row at the end."""
    if not len(value):
        return []
    row = [(column, value.iloc[-1, place]) for place, column in enumerate(value.columns[:MOST_ITEMS])]
    return [(str(column), number) for column, item in row if not isinstance(item, str) for _, number in read(item)]


def _from_fraction(value: Any) -> Numbers:
    return [(None, float(value))]


def _reader_for(kind: type) -> Callable[[Any], Numbers]:
    module = (kind.__module__ or "").partition(".")[0]
    if kind in (float, int, bool):
        return _one
    if issubclass(kind, str):
        return _from_text
    if module == "torch":
        return _from_torch if kind.__name__ in TORCH else _nothing
    if module == "tensorflow":
        return {TENSORFLOW: _from_tensorflow, REPLICAS: _from_replicas}.get(kind.__name__, _nothing)
    if module in ("jax", "jaxlib"):
        return _from_jax if kind.__name__ == JAX else _nothing
    if module == "numpy":
        return _numpy_reader_for(kind)
    if module == "pandas":
        return _from_frame if kind.__name__ == "DataFrame" else _nothing
    if module in ("decimal", "fractions"):
        return _from_fraction
    if issubclass(kind, dict):
        return _by_key
    if kind in (list, tuple):
        return _by_index
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

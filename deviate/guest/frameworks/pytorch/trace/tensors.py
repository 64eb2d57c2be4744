"""Tensors in the trace of PyTorch: which ones can be read, their checksums, and their names."""

from __future__ import annotations

import ctypes
from functools import partial
from zlib import crc32

from ....annotations import Any, Iterator
from ....npz import CODES
from ....observers.steps import StepRecords, row_checksums
from ....observers.trace import TraceWriter
from ..tensors import buffer, kind

DEEPEST = 8
"""Levels of tuples, dicts and the like in which tensors are looked for."""
CHUNK = 1 << 20
"""Numbers that are summed up at a time on an accelerator: each takes 16 bytes there meanwhile."""
MASK = (1 << 64) - 1
HALVES = ((1, "int8"), (2, "int16"), (4, "int32"), (8, "int32"), (16, "int32"))
"""As what the numbers of a tensor are read, by their size in bytes."""


class Tensors(StepRecords):
    """Reads tensors without visible operations, new references, or waiting for an accelerator."""

    def __init__(self, torch: Any, trace: TraceWriter) -> None:
        super().__init__(trace, self.array)
        self.torch = torch
        self.Tensor = torch.Tensor
        self.strided = torch.strided
        self.on_device = DeviceChecksums(torch)
        self.waiting: list[Waiting] = []
        self.kinds: dict[type, bool] = {}
        self.c_types = {torch.float32: ctypes.c_float, torch.float64: ctypes.c_double}
        self.forms: dict[Any, tuple[str, int, Any]] = {}
        self.without_modes = [
            context
            for context in (getattr(torch._C, name, None) for name in ("DisableTorchFunction", "_DisableTorchDispatch"))
            if context is not None
        ]
        self.no_grad = torch.no_grad
        self.tracing_state = torch._C._get_tracing_state
        self.functorch_level = getattr(getattr(torch._C, "_functorch", None), "maybe_current_level", lambda: None)
        self.is_capturing = getattr(torch.cuda, "is_current_stream_capturing", bool)
        trace.at_flush.append(self._fetch)

    # ------------------------------------------------------------ which tensors

    def readable(self, value: Any) -> bool:
        """Whether a value is a plain PyTorch tensor, or a subclass without behaviour of its own, that holds numbers."""
        cls = type(value)
        is_plain = self.kinds.get(cls)
        if is_plain is None:
            is_plain = self.kinds[cls] = self._is_kind(cls)
        if not is_plain or value.is_meta or self.functorch_level() is not None or self.tracing_state() is not None:
            return False
        return not getattr(value, "is_nested", False)  # which has no shape

    def _is_kind(self, cls: Any) -> bool:
        if not issubclass(cls, self.Tensor) or hasattr(cls, "materialize"):
            return False
        dispatch = getattr(cls, "__torch_dispatch__", None)
        return dispatch is getattr(self.Tensor, "__torch_dispatch__", None) or hasattr(cls, "_local_tensor")

    def named_tensors(self, value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
        """Tensors in nested tuples, dictionaries and similar containers, named by `name` and their position."""
        if isinstance(value, self.Tensor):
            if self.readable(value):
                yield name, value
        elif depth < DEEPEST and value is not None:
            for place, part in _parts(value):
                yield from self.named_tensors(part, "%s.%s" % (name, place), depth + 1)

    # ------------------------------------------------------------ what they hold

    def digest(self, tensor: Any) -> tuple[Any, str]:
        """Checksum and form; for a tensor on an accelerator, a function that returns the checksum later."""
        key = (tensor.dtype, tensor.shape)
        entry = self.forms.get(key) or self._learn(key, tensor)
        form, start, memory = entry
        if memory is not None and tensor.layout is self.strided and tensor.is_cpu and self._is_bare(tensor):
            return crc32(memory.from_address(tensor.data_ptr()), start), form
        return self._slowly(tensor, form, start)

    def _is_bare(self, tensor: Any) -> bool:
        """Whether the memory of the tensor is contiguous and holds its numbers without conversion."""
        return bool(tensor.is_contiguous() and not tensor.is_neg() and not tensor.is_conj())

    def _learn(self, key: Any, tensor: Any) -> tuple[str, int, Any]:
        form = form_of(tensor)
        size = tensor.numel() * tensor.element_size() if tensor.layout is self.strided else 0
        entry = self.forms[key] = (form, crc32(form.encode("ascii")), ctypes.c_ubyte * size if size else None)
        return entry

    def _slowly(self, tensor: Any, form: str, start: int) -> tuple[Any, str]:
        with Quiet(self):
            plain = self.plain(tensor)
            if not plain.numel():
                return start, form
            if plain.is_cpu:
                return crc32(buffer(plain), start), form
            if self._is_captured(plain):
                return None, form
            self.waiting.append(Waiting(self.on_device.of(plain), start))
            return self.waiting[-1], form

    def _is_captured(self, tensor: Any) -> bool:
        """Whether a graph is being captured, to be replayed later. A build for CUDA fails at this without a driver."""
        return bool(tensor.is_cuda and self.is_capturing())

    def plain(self, tensor: Any) -> Any:
        """The numbers of a tensor in C order; for a distributed tensor, those of the local part."""
        plain = getattr(tensor, "_local_tensor", tensor).detach()
        if plain.layout is not self.strided:
            plain = plain.to_dense()
        if plain.is_complex():
            plain = plain.resolve_conj()
        return plain.resolve_neg().contiguous()

    def record(self, kind: str, name: str, array: Any, place: int, **more: object) -> None:
        if self.readable(array):
            digest, form = self.digest(array)
            self.record_digest(kind, name, array, digest, form, place, **more)

    def record_batch(self, name: str, array: Any, place: int) -> None:
        self.record("batch", name, array, place, rows=self.rows(array))

    def record_digest(
        self, of: str, name: str, tensor: Any, digest: Any, form: str, place: int = -1, **more: object
    ) -> None:
        """Record a tensor with a known checksum."""
        if self.trace.has_sums and has_sums(tensor):
            more["sums"] = self.sums(tensor)
        self.trace.record(of, name, digest, form, place, partial(self.array, tensor), **more)

    def array(self, tensor: Any) -> Any:
        """A NumPy array for storage; types that NumPy lacks are converted to float32, which is exact."""
        with Quiet(self):
            plain = self.plain(tensor)
            if kind(plain) not in CODES:
                plain = plain.float()
            return kind(plain), tuple(plain.shape), bytes(buffer(plain))

    def rows(self, tensor: Any) -> list[int]:
        """Checksums of the rows; tensors on an accelerator are copied to the host."""
        if not tensor.dim():
            return []
        with Quiet(self):
            return row_checksums(buffer(self.plain(tensor)), tensor.shape[0])

    def record_loss(self, name: str, value: Any, place: int, **more: object) -> None:
        """Record the loss that a backward pass starts from. A loss on an accelerator is copied, and read later."""
        if self.readable(value):
            self._record_loss(name, value, place)

    def _record_loss(self, name: str, tensor: Any, place: int) -> None:
        number = self.c_types.get(tensor.dtype)
        is_plain = type(tensor) is self.Tensor and tensor.is_cpu and not tensor.dim()
        if number is not None and is_plain and tensor.layout is self.strided and self._is_bare(tensor):
            digest, form = self.digest(tensor)
            value = number.from_address(tensor.data_ptr()).value  # not by an operation: this is done at each step
            self.record_digest("loss", name, tensor, digest, form, place, value=value)
            return
        with Quiet(self):
            plain = self.plain(tensor)
            form = form_of(plain)
            if plain.is_cpu:
                digest, more = self._loss(plain, form)
                self.trace.record("loss", name, digest, form, place, partial(self.array, plain), **more)
            elif not self._is_captured(plain):
                copy = plain.clone()
                later = partial(self._later_loss, copy, form)
                self.trace.record("loss", name, later, form, place, partial(self.array, copy))

    def _loss(self, plain: Any, form: str) -> tuple[int, dict[str, object]]:
        more: dict[str, object] = {}
        if plain.numel() == 1 and not plain.is_complex():
            more["value"] = float(plain.item())
        if self.trace.has_sums and has_sums(plain):
            more["sums"] = self.sums(plain)
        return crc32(buffer(plain), crc32(form.encode("ascii"))), more

    def _later_loss(self, copy: Any, form: str) -> tuple[int, dict[str, object]]:
        with Quiet(self):
            return self._loss(copy.cpu(), form)

    def sums(self, tensor: Any) -> list[float]:
        """Sum of the numbers and sum of their magnitudes, in double precision; waits for accelerators."""
        with Quiet(self):
            plain = self.plain(tensor)
            if plain.element_size() < 2:  # few operations know the types of 8 bits
                plain = plain.float()
            double = self.torch.float64
            return [float(plain.sum(dtype=double)), float(plain.abs().sum(dtype=double))]

    # ------------------------------------------------------------ what waits on accelerators

    def _fetch(self) -> None:
        """Fetch all pending checksums, with one transfer per device."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        with Quiet(self):
            by_device: dict[Any, list[Waiting]] = {}
            for one in waiting:
                by_device.setdefault(one.total.device, []).append(one)
            for device, several in by_device.items():
                backend: Any = getattr(self.torch, device.type, None)
                if hasattr(backend, "synchronize"):
                    backend.synchronize(device)  # they may come from several streams
                numbers = self.torch.stack([one.total for one in several]).tolist()
                for one, number in zip(several, numbers):
                    one.digest = (number ^ (one.start << 32)) & (1 << 64) - 1
                    one.total = None


class Waiting:
    """A checksum that is still on an accelerator."""

    __slots__ = ("digest", "start", "total")

    def __init__(self, total: Any, start: int) -> None:
        self.total = total
        self.start = start
        self.digest: int | None = None

    def __call__(self) -> tuple[int | None, dict[str, object]]:
        return self.digest, {}


class Quiet:
    """A context in which operations are plain PyTorch: without gradients, dispatch modes and subclasses."""

    __slots__ = ("contexts",)

    def __init__(self, tensors: Tensors) -> None:
        self.contexts = [tensors.no_grad(), *(make() for make in tensors.without_modes)]

    def __enter__(self) -> None:
        for context in self.contexts:
            context.__enter__()

    def __exit__(self, *_: object) -> None:
        for context in reversed(self.contexts):
            context.__exit__(None, None, None)


def form_of(tensor: Any) -> str:
    """Type and shape, such as "float32[512,10]"."""
    return "%s[%s]" % (kind(tensor), ",".join(map(str, tensor.shape)))


def has_sums(tensor: Any) -> bool:
    """Whether the tensor has numbers that may be rounded differently in another environment."""
    return bool(tensor.dtype.is_floating_point and tensor.numel())


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the items of a container with their positions."""
    if isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        for key in list(value.keys()):
            yield str(key), value[key]
    elif isinstance(value, (tuple, list)):
        for place, part in enumerate(value):
            yield str(place), part
    elif hasattr(type(value), "__dataclass_fields__"):
        for field in type(value).__dataclass_fields__:
            yield field, getattr(value, field, None)


# ---------------------------------------------------------------- checksums on accelerators


class DeviceChecksums:
    """Checksums of tensors, computed on the device that holds them, in [0, 2**64) once they are fetched.

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
    """Logical right shift; that of PyTorch repeats the sign, and that of PyTorch/XLA rounds towards zero."""
    return ((x & (MASK >> 1)) >> shift) | ((x < 0).to(x.dtype) << (63 - shift))


def _to_signed(number: int) -> int:
    """The same 64 bits as a signed integer."""
    return number - (1 << 64) if number >> 63 else number

"""Operations of PyTorch: what each reads and writes, from its schema and name, and the record of its results.

A record has the checksums of outputs, or of written or sent tensors.
"""

from __future__ import annotations

import math
from functools import partial
from zlib import crc32

from ....annotations import TYPE_CHECKING, Any, Array, Iterator, Sequence
from .lines import FORWARD
from .tensors import form_of, has_sums

# ---------------------------------------------------------------- how an operation accesses memory

if TYPE_CHECKING:
    Argument = tuple[int, str]
    """Position and name: which of both was used is seen in the call."""

ALLOCATIONS = frozenset([
    "empty", "empty_like", "empty_strided", "empty_permuted", "empty_quantized", "new_empty", "new_empty_strided",
    "_empty_affine_quantized", "_empty_per_channel_affine_quantized",
])  # fmt: skip
"""They give memory as it was left behind."""
GROWING = frozenset(["resize_", "resize_as_", "_resize_output_"])
"""In place: they make a tensor larger, and what is new is as it was left behind."""
HEADS_ONLY = frozenset([
    "_local_scalar_dense", "is_same_size", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset",
])  # fmt: skip
"""They make no tensor, or ask for its shape alone."""
FILLING = frozenset([
    "copy_", "fill_", "zero_", "uniform_", "normal_", "random_", "exponential_", "geometric_", "cauchy_",
    "log_normal_", "bernoulli_", "set_", "_foreach_copy_", "_foreach_zero_", "index_put_", "_index_put_impl_",
    "index_copy_", "index_fill_", "masked_fill_", "masked_scatter_", "scatter_", "rrelu_with_noise",
])  # fmt: skip
"""In place, and yet they read nothing of what was there."""
SCATTERING = frozenset([
    "index_put_", "_index_put_impl_", "index_copy_", "index_fill_", "masked_fill_", "masked_scatter_", "scatter_",
])  # fmt: skip
"""Those of them that write a part, which the other arguments tell."""
COPYING = frozenset(["clone", "_to_copy", "copy_", "contiguous"])
"""What is copied is not used yet."""
SHARING = frozenset(["_unsafe_view", "_reshape_alias"])
"""Views by another name."""
POINTING = frozenset(["set_"])
"""They make a tensor show other memory. A loader does so with each batch of its workers, in the order of arrival."""
FRESH = frozenset(["lift_fresh", "lift_fresh_copy", "lift"])
"""They stand for views where numbers of Python become a tensor."""
COLLECTIVE = ("c10d", "_c10d_functional", "_c10d_functional_autograd", "c10d_functional")
WAITING = frozenset(["wait_tensor"])
INCOMING = ("output", "outputs", "output_tensor", "output_tensors", "output_lists", "out")
RECEIVING = ("recv", "broadcast", "scatter_", "monitored_barrier", "barrier")
"""What stands in their arguments before they are carried out is of no account."""
LEFT_OVER = {
    "_cudnn_rnn": (4,), "_thnn_fused_lstm_cell": (2,), "_thnn_fused_gru_cell": (1,), "mkldnn_rnn_layer": (3,),
    "miopen_rnn": (4,), "_embedding_bag": (3,), "_embedding_bag_forward_only": (3,), "cudnn_batch_norm": (3,),
    "_ctc_loss": (1,),
}  # fmt: skip
"""Places of outputs that hold work space, parts of which nobody writes."""
APART = frozenset(["masked_fill_.Tensor", "cumprod_.default"])
"""In place, with a gradient that is computed apart: see nodes.py."""


class Operation:
    """An operation, with all properties that do not depend on the call.

    Attributes:
        name: with its overload, such as "aten.mul.Tensor".
        base: without namespace and overload.
        is_silent: a view, or one that gives no tensor: it makes no numbers of its own.
        reads, writes: arguments whose numbers it uses, and those into which it writes.
        sent: arguments that a collective operation sends; None where it is none.
        left_over: places of outputs that are not to be compared.
        is_special: whether there is something to be seen before every call.
        is_apart: whether it writes in place, and has a gradient that is computed while it is not traced.
    """

    def __init__(self, func: Any) -> None:
        schema = getattr(func, "_schema", None)
        self.name = str(func)
        space, _, rest = (schema.name if schema is not None else self.name).partition("::")
        self.base: str = rest or space
        self.is_apart = self.name.startswith("aten.") and self.name[5:] in APART
        self.is_allocation = space == "aten" and self.base in ALLOCATIONS
        self.is_growing = space == "aten" and self.base in GROWING
        self.sent: tuple[Argument, ...] | None = None
        self.left_over: tuple[int, ...] = LEFT_OVER.get(self.base, ())
        self.reads: tuple[Argument, ...] = ()
        self.writes: tuple[Argument, ...] = ()
        self.returns_nothing = False
        self.is_silent = False
        if schema is not None:
            self._read_schema(schema, space)
        self.is_special = self.sent is not None or self.is_growing

    def _read_schema(self, schema: Any, space: str) -> None:
        arguments = [
            (n, argument.name, argument)
            for n, argument in enumerate(schema.arguments)
            if "Tensor" in str(argument.type)
        ]
        self.returns_nothing = not schema.returns
        self.writes = tuple((n, name) for n, name, argument in arguments if _is_written(argument))
        gives_tensors = any("Tensor" in str(returned.type) for returned in schema.returns)
        is_view = any(
            returned.alias_info is not None and not returned.alias_info.is_write for returned in schema.returns
        )
        is_view = (is_view and self.base not in FRESH) or self.base in SHARING
        gives_numbers = gives_tensors or bool(self.writes)
        self.is_silent = is_view or self.base in HEADS_ONLY | POINTING or not gives_numbers
        if space in COLLECTIVE and self.base not in WAITING:
            self.is_silent = False
            plain = [(n, name) for n, name, _ in arguments if name not in INCOMING and name != "sparse_indices"]
            self.sent = () if self.base.startswith(RECEIVING) else tuple(plain)
            self.writes = tuple((n, name) for n, name, _ in arguments)
        elif not (self.is_silent and is_view) and not self._asks_for_shapes():
            fills = self.base in FILLING
            self.reads = tuple(
                (n, name)
                for n, name, argument in arguments
                if not (_is_written(argument) and (fills or getattr(argument, "is_out", False)))
            )

    def _asks_for_shapes(self) -> bool:
        base = self.base
        return self.is_allocation or base in GROWING or base.endswith("_like") or base.startswith("new_")


def argument_tensors(arguments: tuple[Argument, ...], args: Any, kwargs: Any) -> Iterator[Any]:
    """The tensors passed for these arguments, in order; lists are flattened."""
    for position, name in arguments:
        value = args[position] if position < len(args) else (kwargs or {}).get(name)
        yield from tensors_in(value)


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors in a value, including nested lists."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif hasattr(value, "untyped_storage"):
        yield value


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


# ---------------------------------------------------------------- what a record tells of its results

if TYPE_CHECKING:
    from ....observers.trace import TraceWriter
    from .lines import Origin
    from .tensors import Tensors

    Summary = tuple[Any, str, Sequence[Any]]
    """Checksum, or what will give it; form; and the tensors themselves."""

KIND = "operation"
SHOWN = 3
"""Forms that a record tells of several outputs."""


class OperationResults:
    """Converts the result of an operation to a record."""

    def __init__(self, trace: TraceWriter, tensors: Tensors) -> None:
        self.trace = trace
        self.tensors = tensors

    def summarise_sent(self, operation: Operation, args: Any, kwargs: Any) -> Summary:
        """Checksum of the tensors that a collective operation sends; its results are only complete after waiting."""
        sent = [
            tensor for tensor in argument_tensors(operation.sent or (), args, kwargs) if self.tensors.readable(tensor)
        ]
        return self._summary(sent, is_raw=False)

    def outputs(self, operation: Operation, output: Any, args: Any, kwargs: Any) -> Sequence[Any]:
        """Results of an operation: its outputs, or written tensors if it returns nothing."""
        readable = self.tensors.readable
        if readable(output):
            return (output,)
        if operation.returns_nothing:
            output = tuple(argument_tensors(operation.writes, args, kwargs))
        elif operation.left_over and isinstance(output, (tuple, list)):
            output = [part for place, part in enumerate(output) if place not in operation.left_over]
        return [tensor for tensor in tensors_in(output) if readable(tensor)]

    def record(self, operation: Operation, outputs: Sequence[Any], origin: Origin, *, reads: str, is_raw: bool) -> None:
        """Record the results of an operation.

        Args:
            reads: what it read that nothing had written, in words; empty where there was nothing of the kind.
            is_raw: whether what it made is such memory in its turn, which is not compared.
        """
        more = self._extra_fields(origin)
        if reads:
            more["reads"] = reads
        if len(outputs) == 1 and not is_raw:
            digest, form = self.tensors.digest(outputs[0])
            self.tensors.record_digest(KIND, operation.name, outputs[0], digest, form, origin[0], **more)
        elif outputs:
            self._record(operation, self._summary(outputs, is_raw=is_raw), origin, more)

    def record_sent(self, operation: Operation, sent: Summary, origin: Origin) -> None:
        """Record a collective operation."""
        self._record(operation, sent, origin, {**self._extra_fields(origin), "collective": True})

    def _record(self, operation: Operation, summary: Summary, origin: Origin, more: dict[str, Any]) -> None:
        digest, form, outputs = summary
        if len(outputs) > 1:
            more["outputs"] = len(outputs)
        if self.trace.has_sums and digest is not None:
            sums = [self.tensors.sums(tensor) for tensor in outputs if has_sums(tensor)]
            more["sums"] = [sum(column) for column in zip(*sums)] or [0.0, 0.0]
        give = partial(_one_behind_the_other, self.tensors, outputs) if outputs else None
        self.trace.record(KIND, operation.name, digest, form, origin[0], give, **more)

    def _extra_fields(self, origin: Origin) -> dict[str, Any]:
        _, module, called = origin
        more: dict[str, Any] = {"module": module} if module else {}
        if called != FORWARD:
            more["backward"] = True
            more["called"] = called
        return more

    def _summary(self, tensors: Sequence[Any], *, is_raw: bool) -> Summary:
        """A combined checksum and form of several tensors."""
        if is_raw or not tensors:
            forms = [form_of(tensor) for tensor in tensors]
            return None, _join_forms(forms), tensors
        summaries = [self.tensors.digest(tensor) for tensor in tensors]
        form = _join_forms([form for _, form in summaries])
        digests = [digest for digest, _ in summaries]
        if any(callable(digest) for digest in digests):
            return partial(_later, digests), form, tensors
        return _combine(digests), form, tensors


def _join_forms(forms: Sequence[str]) -> str:
    rest = len(forms) - SHOWN
    return " ".join(forms[:SHOWN]) + (" and %d more" % rest if rest > 0 else "")


def _combine(digests: Sequence[Any]) -> int | None:
    if None in digests:
        return None
    return digests[0] if len(digests) == 1 else crc32(repr(list(digests)).encode("ascii"))


def _later(digests: Sequence[Any]) -> tuple[int | None, dict[str, object]]:
    """The combined checksum of tensors on accelerators, after their checksums were fetched."""
    return _combine([digest()[0] if callable(digest) else digest for digest in digests]), {}


def _one_behind_the_other(tensors: Tensors, parts: Sequence[Any]) -> Array:
    """Several tensors concatenated as one array; only the first one if types differ."""
    arrays: list[Array] = [tensors.array(tensor) for tensor in parts]
    if len({array[0] for array in arrays}) > 1 or len(arrays) == 1:
        return arrays[0]
    total = sum(math.prod(shape) for _, shape, _ in arrays)
    return arrays[0][0], (total,), b"".join(array[2] for array in arrays)

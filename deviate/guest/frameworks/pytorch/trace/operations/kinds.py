"""How an operation of PyTorch accesses memory, from its schema and name."""

from __future__ import annotations

from .....annotations import TYPE_CHECKING, Any, Iterator

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
        self.is_silent = is_view or self.base in HEADS_ONLY or not (gives_tensors or self.writes)
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
    elif hasattr(value, "untyped_storage") or hasattr(value, "data_ptr"):
        yield value


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write

"""Records the results of PyTorch operations: checksums of outputs, or of written or sent tensors."""

from __future__ import annotations

import math
from functools import partial
from zlib import crc32

from .....annotations import TYPE_CHECKING, Any, Array, Sequence
from ..tensors import form_of, has_sums
from .kinds import Operation, argument_tensors, tensors_in
from .lines import FORWARD

if TYPE_CHECKING:
    from .....observers.trace import Trace
    from ..tensors import Tensors
    from .lines import Origin

    Summary = tuple[Any, str, Sequence[Any]]
    """Checksum, or what will give it; form; and the tensors themselves."""

KIND = "operation"
SHOWN = 3
"""Forms that a record tells of several outputs."""


class Results:
    """Converts the result of an operation to a record."""

    def __init__(self, trace: Trace, tensors: Tensors) -> None:
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

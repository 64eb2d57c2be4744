"""Tracks allocated memory that no operation has written yet, per number."""

from __future__ import annotations

from ....annotations import Any, Sequence
from .results import COPYING, SCATTERING, Operation, argument_tensors

WHOLLY, PARTLY = "uninitialised", "partly uninitialised"
LARGEST = 1 << 27
"""Largest storage, in elements, that is tracked; nothing is reported for a larger one."""
CROWD = 256
"""Above this number of marks, marks of freed storages are removed."""


class Unwritten:
    """Unwritten parts of storages. What libraries write without PyTorch's operations, NumPy for one, is not seen.

    A mark holds a weak reference to its storage: the memory is freed as usual, but the address that is the key cannot
    be reused while the mark exists.

    Attributes:
        marks: by the address of the storage's head.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.is_able = hasattr(torch.Tensor, "untyped_storage") and hasattr(torch.UntypedStorage, "_weak_ref")
        self.marks: dict[int, Mark] = {}

    def forget(self) -> None:
        self.marks.clear()

    def note_allocation(self, tensors: Sequence[Any]) -> None:
        """Mark the outputs of an operation that only allocates memory."""
        for tensor in tensors:
            if self.is_able and tensor.numel() and str(tensor.layout) == "torch.strided":
                self._mark(tensor)

    def read(self, operation: Operation, args: Any, kwargs: Any) -> str:
        """Whether an operation is about to read unwritten memory: WHOLLY, PARTLY or ""."""
        answer = ""
        if operation.base in COPYING:
            return answer
        for tensor in argument_tensors(operation.reads, args, kwargs):
            mark = self._mark_of(tensor)
            part = None if mark is None or not tensor.numel() else mark.part(tensor)
            if part is None:
                continue
            if not bool(part.any()):
                return WHOLLY
            if not bool(part.all()):
                answer = PARTLY
        return answer

    def size(self, args: Any) -> int:
        """Size in bytes of the memory of a tensor that is about to grow."""
        return int(args[0].untyped_storage().nbytes()) if self.is_able else 0

    def note_growth(self, args: Any, size: int) -> None:
        """Mark new memory of a tensor that had this size in bytes before."""
        tensor = args[0]
        if self.is_able and tensor.untyped_storage().nbytes() > size:
            before = self._mark_of(tensor)
            mark = self._mark(tensor)
            old = size // tensor.element_size()
            if mark.is_told_apart and old:
                mark.mask()[:old] = True if before is None else before.mask()[:old]

    def note_writes(self, operation: Operation, outputs: Sequence[Any], args: Any, kwargs: Any) -> None:
        """An operation was executed: its outputs are written now."""
        if operation.base in COPYING:
            for target in outputs[:1]:
                self._copy(args[1] if operation.base == "copy_" else args[0], target)
            return
        for tensor in argument_tensors(operation.writes, args, kwargs):
            mark = self._mark_of(tensor)
            if mark is None:
                continue
            if operation.base in SCATTERING and operation.sent is None:
                self._scatter(operation.base, mark, tensor, args)
            else:
                self._write(mark, tensor)

    def _copy(self, source: Any, target: Any) -> None:
        """Copy the marks of a source to its copy."""
        source_mark, mark = self._mark_of(source), self._mark_of(target)
        part = None if source_mark is None else source_mark.part(source)
        if part is None or bool(part.all()):
            if mark is not None:
                self._write(mark, target)
            return
        if mark is None:
            mark = self._mark(target)
            if mark.is_told_apart:
                mark.mask().fill_(True)
        target_part = mark.part(target)
        if target_part is not None:
            target_part.copy_(part)

    def is_raw(self, tensor: Any) -> bool:
        """Whether a part of a tensor is unwritten memory."""
        mark = self._mark_of(tensor)
        part = None if mark is None or not tensor.numel() else mark.part(tensor)
        return part is not None and not bool(part.all())

    # ------------------------------------------------------------ marks

    def _mark_of(self, tensor: Any) -> Mark | None:
        if not self.marks:
            return None
        try:
            return self.marks.get(tensor.untyped_storage()._cdata)
        except (RuntimeError, NotImplementedError):  # sparse tensors have no storage
            return None

    def _mark(self, tensor: Any) -> Mark:
        if len(self.marks) > CROWD:
            self.marks = {key: mark for key, mark in self.marks.items() if not mark.storage._expired(mark.reference)}
        mark = Mark(self.torch, tensor)
        self.marks[mark.key] = mark
        return mark

    def _write(self, mark: Mark, tensor: Any) -> None:
        if tensor.numel() * tensor.element_size() < mark.size:
            part = mark.part(tensor)
            if part is not None:
                part.fill_(True)
                if not bool(mark.mask().all()):
                    return
        self.marks.pop(mark.key, None)

    def _scatter(self, base: str, mark: Mark, tensor: Any, args: Any) -> None:
        """Mark as written the elements that an indexed write sets (`index_put_`, `masked_fill_`, `scatter_` …)."""
        part = mark.part(tensor)
        if part is None:
            self.marks.pop(mark.key, None)
        elif base in {"index_put_", "_index_put_impl_"}:
            self.torch.ops.aten.index_put_.default(part, args[1], part.new_ones(()))
        elif base in {"masked_fill_", "masked_scatter_"}:
            part.masked_fill_(args[1], True)
        elif base == "index_copy_":
            part.index_fill_(args[1], args[2], True)
        else:
            getattr(part, base)(args[1], args[2], True)


class Mark:
    """The written and unwritten numbers of one storage.

    Attributes:
        size: in bytes.
        is_told_apart: whether it is small enough for its numbers to be told apart.
    """

    def __init__(self, torch: Any, tensor: Any) -> None:
        storage = tensor.untyped_storage()
        self.torch = torch
        self.storage = type(storage)
        self.key: int = storage._cdata
        self.size: int = storage.nbytes()
        self.width: int = tensor.element_size()
        self.device = tensor.device
        self.is_told_apart = self.size // self.width <= LARGEST
        self.written: Any = None
        self.reference = storage._weak_ref()

    def __del__(self) -> None:
        self.storage._free_weak_ref(self.reference)

    def mask(self) -> Any:
        if self.written is None:
            self.written = self.torch.zeros(self.size // self.width, dtype=self.torch.bool, device=self.device)
        return self.written

    def part(self, tensor: Any) -> Any:
        """A flag per number of a tensor on whether it was written; None if unknown."""
        if not self.is_told_apart or tensor.element_size() != self.width:
            return None
        return self.mask().as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

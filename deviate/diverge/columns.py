"""Trace records stored in columns: a million of them take tens of megabytes; record objects are created on access."""

from array import array
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import compress
from typing import overload

from deviate.diverge.findings import Place, TraceRecord

Head = tuple[str, str, str, Place | None]
"""What records have in common, step after step: kind, name, form, place."""

NONE = -1
"""What stands for None among steps of the main loop."""
NO_DIGEST = (1 << 64) - 1
"""What stands for None among digests; a digest that is this very number is taken for the one below."""
SHARED = frozenset({str, bool, type(None), Place})
"""Types of what many records say alike; numbers are not among them, for 0.0 equals -0.0 and False."""
NOTHING: Mapping[str, object] = {}


class Records(Sequence[TraceRecord]):
    """Records in the order in which they were made; equal to any sequence of equal ones.

    Attributes:
        heads: each once; `mores` likewise, the first one of which is empty.
        head, more: numbers of them, record by record.
        digests, steps, main_steps, ordinals: as in TraceRecord, NO_DIGEST and NONE for None.
    """

    __slots__ = (
        "_numbers", "_of_more", "digests", "head", "heads", "main_steps", "more", "mores", "ordinals", "steps"
    )  # fmt: skip

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self.mores: list[Mapping[str, object]] = [NOTHING]
        self.head, self.more = array("l"), array("l")
        self.digests = array("Q")
        self.steps, self.main_steps, self.ordinals = array("q"), array("q"), array("q")
        self._numbers: dict[Head, int] = {}
        self._of_more: dict[tuple[tuple[str, object], ...], int] = {(): 0}

    def number_of(self, head: Head) -> int:
        number = self._numbers.get(head)
        if number is None:
            number = self._numbers[head] = len(self.heads)
            self.heads.append(head)
        return number

    def number_of_more(self, more: Mapping[str, object]) -> int:
        """The number of an extra field value, such as a module, which many records share."""
        key = tuple(more.items()) if all(type(value) in SHARED for value in more.values()) else None
        number = None if key is None else self._of_more.get(key)
        if number is None:
            number = len(self.mores)
            self.mores.append(more)
            if key is not None:
                self._of_more[key] = number
        return number

    def add(self, step: int, main_step: int, head: int, ordinal: int, digest: int | None, more: int = 0) -> None:
        """Append a record.

        Args:
            main_step: NONE outside of the main loop.
            head, more: numbers, as `number_of` and `number_of_more` give them.
            digest: 64 bits of it are kept.

        Raises:
            TypeError: the digest is no whole number; nothing is added then.
        """
        self.digests.append(NO_DIGEST if digest is None else min(digest & NO_DIGEST, NO_DIGEST - 1))
        self.steps.append(step)
        self.main_steps.append(main_step)
        self.head.append(head)
        self.ordinals.append(ordinal)
        self.more.append(more)

    def of_names(self, names: Container[tuple[str, str]]) -> "Records":
        """Records whose kind and name are among `names`; ordinals stay valid, as a name is selected entirely."""
        is_chosen = [head[:2] in names for head in self.heads]
        if all(is_chosen):
            return self
        selection = Records()
        selection.heads, selection.mores = self.heads, self.mores
        chosen = [is_chosen[head] for head in self.head]
        for name in ("head", "more", "digests", "steps", "main_steps", "ordinals"):
            column = getattr(self, name)
            setattr(selection, name, array(column.typecode, compress(column, chosen)))
        return selection

    def __len__(self) -> int:
        return len(self.head)

    @overload
    def __getitem__(self, index: int) -> TraceRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TraceRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> TraceRecord | tuple[TraceRecord, ...]:
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self))))
        kind, name, form, place = self.heads[self.head[index]]
        digest, main_step = self.digests[index], self.main_steps[index]
        return TraceRecord(
            step=self.steps[index],
            main_step=None if main_step == NONE else main_step,
            kind=kind,
            name=name,
            ordinal=self.ordinals[index],
            digest=None if digest == NO_DIGEST else digest,
            form=form,
            place=place,
            more=dict(self.mores[self.more[index]]),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(one == theirs for one, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(bytes(self.digests))

    def __repr__(self) -> str:
        return f"<{len(self)} records>"


def columns(records: Sequence[TraceRecord]) -> Records:
    """Records in columns; returned unchanged if they are already."""
    return records if isinstance(records, Records) else _columns(records)


def _columns(records: Iterable[TraceRecord]) -> Records:
    columns = Records()
    for record in records:
        head = columns.number_of((record.kind, record.name, record.form, record.place))
        main_step = NONE if record.main_step is None else record.main_step
        columns.add(record.step, main_step, head, record.ordinal, record.digest, columns.number_of_more(record.more))
    return columns

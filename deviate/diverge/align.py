"""Aligns the records of two runs: finds the first difference, and whether one run did something the other did not."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
import numpy.typing as npt

from deviate.diverge.columns import NO_DIGEST, Head, Records
from deviate.diverge.findings import TraceRecord

LOOK_AHEAD = 200
"""Records after a place where the two do not do the same, in which the one that is extra is looked for."""
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first difference between two traces.

    Attributes:
        first, second: index of the record in each; where one run alone has it, the other index is that of what it did
            instead, or its end.
        only_in: the run that alone has a record there; None where both do the same with other numbers.
        then: where one run alone has a record, the next ones that both have and whose numbers differ; None where there
            are none close by.
    """

    first: int
    second: int
    only_in: Literal[1, 2] | None = None
    then: tuple[int, int] | None = None


def find_first_difference(
    first: Records, second: Records, is_within: Callable[[TraceRecord, TraceRecord], bool] | None = None
) -> FirstDifference | None:
    """The first difference; None if both traces are equal to their ends.

    Records are compared by position: first step, kind and name, then form and digest. A record without a digest in
    either run has no numbers to compare. If both the numbers and the source lines differ, the program took a different
    path.

    Args:
        is_within: says of two records with other digests whether they are taken for equal all the same.
    """
    n = min(len(first), len(second))
    names = _number_heads(first, second, lambda head: head[:2])
    forms = _number_heads(first, second, lambda head: head[2])
    steps = np.asarray(first.steps), np.asarray(second.steps)
    digests = np.asarray(first.digests)[:n], np.asarray(second.digests)[:n]
    is_other = (names[0][:n] != names[1][:n]) | (steps[0][:n] != steps[1][:n])
    is_unequal = (digests[0] != digests[1]) & (digests[0] != NO_DIGEST) & (digests[1] != NO_DIGEST)
    rows: Iterable[int] = np.flatnonzero(is_other | is_unequal | (forms[0][:n] != forms[1][:n])).tolist()
    if is_within is not None:
        rows = (row for row in rows if is_other[row] or not is_within(first[row], second[row]))
    at = next(iter(rows), n)
    if at == len(first) == len(second):
        return None
    if at == len(first):
        return FirstDifference(at, at, 2)
    if at == len(second):
        return FirstDifference(at, at, 1)
    places = _number_heads(first, second, lambda head: head[3] and (head[3].file, head[3].line))
    if not is_other[at] and (is_within is not None or places[0][at] == places[1][at]):
        return FirstDifference(at, at)
    lines = places if is_within is None else (np.zeros(len(first)), np.zeros(len(second)))  # of another environment
    ahead = slice(at, at + LOOK_AHEAD)
    mine, theirs = (
        list(zip(steps[run][ahead].tolist(), names[run][ahead].tolist(), lines[run][ahead].tolist(), strict=True))
        for run in (0, 1)
    )
    return _extra(first, second, at, SequenceMatcher(None, mine, theirs, autojunk=False), is_within)


def _extra(
    first: Records,
    second: Records,
    at: int,
    matcher: SequenceMatcher[tuple[int, int, int]],
    is_within: Callable[[TraceRecord, TraceRecord], bool] | None,
) -> FirstDifference:
    """The record that one of the two lacks, and the next difference in records that both have."""
    extra: FirstDifference | None = None
    for tag, start, end, begin, _ in matcher.get_opcodes():
        if tag != "equal":
            extra = extra or FirstDifference(at + start, at + begin, 2 if tag == "insert" else 1)
            continue
        for ahead in range(end - start):
            row, other_row = at + start + ahead, at + begin + ahead
            digests = first.digests[row], second.digests[other_row]
            if digests[0] == digests[1] or NO_DIGEST in digests:
                continue
            if is_within is None or not is_within(first[row], second[other_row]):
                if extra is None:
                    return FirstDifference(row, other_row)
                return FirstDifference(extra.first, extra.second, extra.only_in, (row, other_row))
    return extra or FirstDifference(at, at)


def _number_heads(first: Records, second: Records, part: Callable[[Head], Hashable]) -> tuple[Numbers, Numbers]:
    """Numbers that identify the heads of records, equal in both traces."""
    numbers: dict[Hashable, int] = {}

    def column(records: Records) -> Numbers:
        table = np.asarray([numbers.setdefault(part(head), len(numbers)) for head in records.heads], dtype=np.int64)
        of_records: Numbers = table[np.asarray(records.head)] if records.heads else table
        return of_records

    return column(first), column(second)


def keep_shared(first: Records, second: Records) -> tuple[Records, Records]:
    """Both traces without records whose kind and name do not occur in the other: features of one environment."""
    names = [{head[:2] for head in records.heads} for records in (first, second)]
    return first.of_names(names[1]), second.of_names(names[0])

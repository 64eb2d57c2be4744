"""Which number of an output log is which recorded value.

A process records a value before it writes the line that shows it, so values and lines come in the same order, and the
values of one execution of a statement stand in one line or in lines that follow one another. A value that no line
shows, because the statement writes elsewhere, is passed over; what a statement's lines look like is learned from those
that were found. A line further down that agrees by chance is told by the values that come next, which stand before it.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice

from deviate.series.lines import Line

MOST_LINES = 4
"""Lines that one execution of a statement may write."""
AHEAD = 400
"""Lines that are searched for an execution."""
MOST_MISSES = 30
"""Executions of a statement that are not found, with none that is, after which it is taken to write elsewhere."""
TELLING_DIGITS = 3
"""Significant digits from which a number is hardly equal by chance."""
NEARBY = 4
"""Lines among which an execution is expected, whatever its digits tell."""
MOST_SEARCHES = 2
"""Executions of a statement that are searched in all lines, if none was found yet."""
NEXT = 6
"""Executions after one that may show that its line is not the one that agrees with it."""
ALL_DIGITS = 1e9
"""Size of a number against its rounding from which only its own value is equal to it."""

Shown = list[tuple[int, int, int]]
"""Ordinal, line and number of each value of an execution that is shown."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A value as an event has it.

    Attributes:
        ordinal: among the values of its process. site: that reported it. statement: file and line of the site.
        loops: each loop around it and its step.
    """

    ordinal: int
    site: int
    label: str | None
    statement: tuple[str, int]
    value: float
    loops: tuple[int, ...] = ()


@dataclass(slots=True)
class _Statement:
    """What is known of a statement: the shapes of lines that it wrote, and how often none was found."""

    shapes: set[tuple[str, int]] = field(default_factory=set)
    n_found: int = 0
    n_missed: int = 0

    @property
    def is_elsewhere(self) -> bool:
        """Whether none of many executions was found."""
        return self.n_missed >= MOST_MISSES and not self.n_found


def align(values: Sequence[Recorded], lines: Sequence[Line]) -> dict[int, tuple[int, int]]:
    """The place of each value that the log shows: its ordinal to the index of the line and of the number in it."""
    places: dict[int, tuple[int, int]] = {}
    numbered = [index for index, line in enumerate(lines) if line.numbers]
    by_shape: dict[tuple[str, int], list[int]] = {}
    for place, line in enumerate(numbered):
        by_shape.setdefault(_shape(lines[line]), []).append(place)
    in_full = _written_in_full(lines, numbered)
    statements: dict[tuple[str, int], _Statement] = {}
    taken: set[tuple[int, int]] = set()
    pointer = 0
    executions = _executions(values)
    for index, execution in enumerate(executions):
        statement = statements.setdefault(execution[0].statement, _Statement())
        if statement.is_elsewhere:
            continue
        starts = _starts(pointer, len(numbered), statement, by_shape)
        match = _find(execution, lines, numbered, starts, statement, taken, near=pointer)
        match = _prefer_full(match, execution, lines, numbered, in_full, pointer, taken)
        if match is not None:
            following = (
                one
                for one in executions[index + 1 : index + 1 + NEXT]
                if not statements.setdefault(one[0].statement, _Statement()).is_elsewhere
            )
            if _is_chance(match, following, lines, numbered, pointer, taken, in_full):
                match = None
        if match is None:
            statement.n_missed += 1
            continue
        statement.n_found += 1
        pointer, shown = match.after, match.shown
        for ordinal, line, number in shown:
            places[ordinal] = (line, number)
            taken.add((line, number))
        if len(shown) == len(execution) or match.digits >= TELLING_DIGITS:
            statement.shapes.add(_shape(lines[shown[0][1]]))
    return places


@dataclass(frozen=True, slots=True)
class _Match:
    """Where an execution is shown.

    Attributes:
        start: index in `numbered` of its first line. after: the one to go on from.
        digits: significant digits that agree. first: those of the first line.
        is_known: whether the statement wrote such a line before.
    """

    start: int
    after: int
    shown: Shown
    digits: float
    first: float
    is_known: bool


def _is_chance(
    match: _Match,
    following: Iterable[Sequence[Recorded]],
    lines: Sequence[Line],
    numbered: Sequence[int],
    pointer: int,
    taken: set[tuple[int, int]],
    in_full: Mapping[float, Sequence[int]],
) -> bool:
    """Whether an execution that comes later is shown before the line of this one, or in its place by more digits."""
    if match.start == pointer and (match.is_known or match.digits >= TELLING_DIGITS):
        return False
    for execution in following:
        places = range(pointer, match.start + 1)
        other = _find(execution, lines, numbered, places, _Statement(), taken)
        other = _prefer_full(other, execution, lines, numbered, in_full, pointer, taken)
        if other is None or other.first < TELLING_DIGITS:
            continue
        if other.start < match.start or (other.start == match.start and other.first > match.digits):
            return not _is_beside(match, other)
    return False


def _is_beside(match: _Match, other: _Match) -> bool:
    """Whether both are shown in one line, the later one behind."""
    last, first = match.shown[-1], other.shown[0]
    return last[1] == first[1] and last[2] < first[2]


def _shape(line: Line) -> tuple[str, int]:
    """What lines of one statement have in common: their first words, and how many numbers they hold."""
    return line.text[: line.numbers[0].start].strip()[:16], len(line.numbers)


def _written_in_full(lines: Sequence[Line], numbered: Sequence[int]) -> dict[float, list[int]]:
    """The lines, by their index in `numbered`, in which a number is written with all digits of its value."""
    in_full: dict[float, list[int]] = {}
    for place, line in enumerate(numbered):
        for number in lines[line].numbers:
            if number.rounding and abs(number.value) > ALL_DIGITS * number.rounding:
                in_full.setdefault(number.value, []).append(place)
    return in_full


def _prefer_full(
    match: _Match | None,
    execution: Sequence[Recorded],
    lines: Sequence[Line],
    numbered: Sequence[int],
    in_full: Mapping[float, Sequence[int]],
    pointer: int,
    taken: set[tuple[int, int]],
) -> _Match | None:
    """The match, or the one around a line that shows a value in full, of which the match shows few digits or none."""
    for value in execution:
        places = in_full.get(value.value, ())
        index = bisect_left(places, pointer)
        if index < len(places) and places[index] < pointer + AHEAD:
            shown = [] if match is None else [one for one in match.shown if one[0] == value.ordinal]
            is_elsewhere = bool(shown) and shown[0][1] != numbered[places[index]]
            if is_elsewhere and _digits([value], shown, lines) >= TELLING_DIGITS:
                return match
            starts = range(places[index], max(pointer, places[index] + 1 - MOST_LINES) - 1, -1)
            full = _find(execution, lines, numbered, starts, _Statement(), taken)
            return full if full is not None and (not shown or len(full.shown) == len(execution)) else match
    return match


def _executions(values: Sequence[Recorded]) -> list[list[Recorded]]:
    """Values that follow one another in the order of the sites of their statement: one execution of it."""
    executions: list[list[Recorded]] = []
    seen: set[tuple[int, str | None]] = set()
    for value in values:
        last = executions[-1][-1] if executions else None
        key = value.site, value.label
        if (
            last is not None
            and (last.statement, last.loops) == (value.statement, value.loops)
            and last.site <= value.site
            and key not in seen
        ):
            executions[-1].append(value)
        else:
            executions.append([value])
            seen.clear()
        seen.add(key)
    return executions


def _starts(
    pointer: int, end: int, statement: _Statement, by_shape: Mapping[tuple[str, int], Sequence[int]]
) -> Iterator[int]:
    """Places to look for an execution: the next lines; beyond these, lines like those that the statement wrote before.

    Of a statement of which no line is known, all lines are searched, a few times: a process may begin to write late.
    """
    yield from range(pointer, min(pointer + AHEAD, end))
    if statement.shapes:
        known = [by_shape[shape] for shape in statement.shapes]
        yield from islice(merge(*(places[bisect_left(places, pointer + AHEAD) :] for places in known)), AHEAD)
    elif statement.n_missed < MOST_SEARCHES:
        yield from range(pointer + AHEAD, end)


def _find(
    execution: Sequence[Recorded],
    lines: Sequence[Line],
    numbered: Sequence[int],
    places: Iterable[int],
    statement: _Statement,
    taken: set[tuple[int, int]],
    *,
    near: int | None = None,
) -> _Match | None:
    """Where an execution is shown, among places in `numbered`; None where it is not.

    Args:
        taken: lines and numbers that show other values.
        near: from where on some places need no digits that tell.
    """
    partial: _Match | None = None
    for start in places:
        if start >= len(numbered):
            break
        shown = _match(execution, lines, numbered[start : start + MOST_LINES], taken)
        if not shown or shown[0][1] != numbered[start]:
            continue
        digits = _digits(execution, shown, lines)
        is_known = _shape(lines[numbered[start]]) in statement.shapes
        is_near = near is not None and start < near + NEARBY
        if not (is_near or is_known or digits >= TELLING_DIGITS):
            continue
        is_whole = len(shown) == len(execution)
        if partial is not None and not (is_whole and digits > partial.digits):
            continue
        last = shown[-1][1]
        end = start
        while end < len(numbered) and numbered[end] <= last:
            end += 1
        # A further value of the same line may be another statement's, as with `print(..., end="")`.
        is_open = shown[-1][2] + 1 < len(lines[last].numbers)
        first = _digits(execution, [one for one in shown if one[1] == numbered[start]], lines)
        match = _Match(start, end - 1 if is_open else end, shown, digits, first, is_known)
        if is_whole or is_known:
            return match
        partial = match
    return partial


def _match(
    execution: Sequence[Recorded], lines: Sequence[Line], candidates: Sequence[int], taken: set[tuple[int, int]]
) -> Shown:
    """The numbers that show the values of an execution, in order; empty where fewer than half of them are shown."""
    tokens = [
        (index, place)
        for index in candidates
        for place in range(len(lines[index].numbers))
        if (index, place) not in taken
    ]
    ways = [_in_order(execution, tokens, lines, is_finest=True), _in_order(execution, tokens, lines)]
    shown = max(ways, key=lambda way: (len(way), -way[-1][1] if way else 0))
    if len(shown) < len(execution):  # decimals are seldom left out
        loose = _in_order(execution, tokens, lines, is_exact=False)
        shown = loose if len(loose) > len(shown) else shown
    return shown if 2 * len(shown) >= len(execution) else []


def _in_order(
    execution: Sequence[Recorded],
    tokens: Sequence[tuple[int, int]],
    lines: Sequence[Line],
    *,
    is_exact: bool = True,
    is_finest: bool = False,
) -> Shown:
    """The first number for each value, behind that of the one before.

    Args:
        is_exact: whether a number without decimals shows whole values only.
        is_finest: whether the number of the most decimals in the same line is taken, and not the first.
    """
    shown: Shown = []
    begin = 0
    for value in execution:
        found: int | None = None
        for token in range(begin, len(tokens)):
            index, place = tokens[token]
            number = lines[index].numbers[place]
            if found is not None and (not is_finest or index != tokens[found][0]):
                break
            if is_exact and number.is_whole and not value.value.is_integer():
                continue
            is_finer = found is None or number.rounding < lines[index].numbers[tokens[found][1]].rounding
            if is_finer and number.shows(value.value):
                found = token
        if found is not None:
            shown.append((value.ordinal, *tokens[found]))
            begin = found + 1
    return shown


def _digits(execution: Sequence[Recorded], shown: Shown, lines: Sequence[Line]) -> float:
    """Significant digits in which values agree with what is written; each number counts for one at least."""
    values = {value.ordinal: value.value for value in execution}
    found = 0.0
    for ordinal, line, place in shown:
        number = lines[line].numbers[place]
        if number.is_whole and not values[ordinal].is_integer():
            continue
        size = abs(number.value) / (2 * number.rounding) if number.rounding else 0.0
        found += max(1.0, 1 + math.floor(math.log10(size)) if size else 0.0)
    return found

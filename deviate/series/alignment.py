"""Which number of an output log is which recorded value.

A process records a value before it writes the line that shows it, so values and lines come in the same order, and the
values of one execution of a statement stand in one line or in lines that follow one another. A value that no line
shows, because the statement writes elsewhere, is passed over; what a statement's lines look like is learned from those
that were found. A line further down that agrees by chance is told by the values that come next, which stand before it.
"""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice

from deviate.series.lines import Line, Number

MOST_LINES = 4
"""Lines that one execution of a statement may write; more where it reports more values."""
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
    return _Alignment(lines).align(_executions(values))


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


def _executions(values: Sequence[Recorded]) -> list[list[Recorded]]:
    """Values that follow one another in the order of the sites of their statement: one execution of it."""
    executions: list[list[Recorded]] = []
    seen: set[tuple[int, str | None]] = set()
    for value in values:
        last = executions[-1][-1] if executions else None
        key = value.site, value.label
        is_same = last and (last.statement, last.loops) == (value.statement, value.loops)
        if last and is_same and last.site <= value.site and key not in seen:
            executions[-1].append(value)
        else:
            executions.append([value])
            seen.clear()
        seen.add(key)
    return executions


class _Alignment:
    """Finds executions in a log, one after the other.

    Attributes:
        numbered: the lines that hold numbers; places below are indices in it.
        by_shape: the places of lines that look alike. in_full: those where a value is written with all its digits.
        taken: lines and numbers that show values. pointer: the place to go on from.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.numbered = [index for index, line in enumerate(lines) if line.numbers]
        self.by_shape: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.in_full: dict[float, list[int]] = defaultdict(list)
        self.statements: dict[tuple[str, int], _Statement] = defaultdict(_Statement)
        self.taken: set[tuple[int, int]] = set()
        self.pointer = 0
        for place in range(len(self.numbered)):
            self.by_shape[self._shape(place)].append(place)
            for number in lines[self.numbered[place]].numbers:
                if number.rounding and abs(number.value) > ALL_DIGITS * number.rounding:
                    self.in_full[number.value].append(place)

    def align(self, executions: Sequence[Sequence[Recorded]]) -> dict[int, tuple[int, int]]:
        places: dict[int, tuple[int, int]] = {}
        for index, execution in enumerate(executions):
            statement = self.statements[execution[0].statement]
            if statement.is_elsewhere:
                continue
            match = self._find(execution, self._starts(statement), statement, near=self.pointer)
            if match is None or self._is_chance(match, executions[index + 1 : index + 1 + NEXT]):
                statement.n_missed += 1
                continue
            statement.n_found += 1
            self.pointer = match.after
            for ordinal, line, number in match.shown:
                places[ordinal] = (line, number)
                self.taken.add((line, number))
            if len(match.shown) == len(execution) or match.digits >= TELLING_DIGITS:
                statement.shapes.add(self._shape(match.start))
        return places

    def _shape(self, place: int) -> tuple[str, int]:
        """What lines of one statement have in common: their first words, and how many numbers they hold."""
        line = self.lines[self.numbered[place]]
        return line.text[: line.numbers[0].start].strip()[:16], len(line.numbers)

    def _starts(self, statement: _Statement) -> Iterator[int]:
        """Places to look for an execution: the next lines; beyond these, lines like those that it wrote before.

        Of a statement of which no line is known, all lines are searched, a few times: a process may begin to write
        late.
        """
        ahead = self.pointer + AHEAD
        yield from range(self.pointer, min(ahead, len(self.numbered)))
        if statement.shapes:
            known = [self.by_shape[shape] for shape in statement.shapes]
            yield from islice(merge(*(places[bisect_left(places, ahead) :] for places in known)), AHEAD)
        elif statement.n_missed < MOST_SEARCHES:
            yield from range(ahead, len(self.numbered))

    def _is_chance(self, match: _Match, following: Iterable[Sequence[Recorded]]) -> bool:
        """Whether a later execution is shown before the line of this one, or in its place by more digits."""
        if match.start == self.pointer and (match.is_known or match.digits >= TELLING_DIGITS):
            return False
        for execution in following:
            if self.statements[execution[0].statement].is_elsewhere:
                continue
            other = self._find(execution, range(self.pointer, match.start + 1), _Statement())
            if other is None or other.first < TELLING_DIGITS:
                continue
            if other.start < match.start or (other.start == match.start and other.first > match.digits):
                (_, line, number), (_, other_line, other_number) = match.shown[-1], other.shown[0]
                return line != other_line or number >= other_number  # else it is shown in the same line, behind
        return False

    def _find(
        self, execution: Sequence[Recorded], places: Iterable[int], statement: _Statement, *, near: int | None = None
    ) -> _Match | None:
        """Where an execution is shown; None where it is not.

        It may be around a line that shows a value in full, where among the places few of its digits or none are shown.

        Args:
            near: from where on some places need no digits that tell.
        """
        match = self._find_among(execution, places, statement, near)
        for value in execution:
            of_value = self.in_full.get(value.value, ())
            index = bisect_left(of_value, self.pointer)
            if index < len(of_value) and of_value[index] < self.pointer + AHEAD:
                place = of_value[index]
                shown = [] if match is None else [one for one in match.shown if one[0] == value.ordinal]
                is_elsewhere = bool(shown) and shown[0][1] != self.numbered[place]
                if is_elsewhere and self._digits([value], shown) >= TELLING_DIGITS:
                    return match
                starts = range(place, max(self.pointer, place + 1 - MOST_LINES) - 1, -1)
                full = self._find_among(execution, starts, _Statement(), None)
                return full if full is not None and (not shown or len(full.shown) == len(execution)) else match
        return match

    def _find_among(
        self, execution: Sequence[Recorded], places: Iterable[int], statement: _Statement, near: int | None
    ) -> _Match | None:
        partial: _Match | None = None
        for start in places:
            if start >= len(self.numbered):
                break
            shown = self._match(execution, self.numbered[start : start + max(MOST_LINES, len(execution))])
            if not shown or shown[0][1] != self.numbered[start]:
                continue
            digits = self._digits(execution, shown)
            is_known = self._shape(start) in statement.shapes
            is_near = near is not None and start < near + NEARBY
            if not (is_near or is_known or digits >= TELLING_DIGITS):
                continue
            is_whole = len(shown) == len(execution)
            if partial is not None and not (is_whole and digits > partial.digits):
                continue
            last = shown[-1][1]
            # A further value of the same line may be another statement's, as with `print(..., end="")`.
            is_open = shown[-1][2] + 1 < len(self.lines[last].numbers)
            first = self._digits(execution, [one for one in shown if one[1] == self.numbered[start]])
            match = _Match(start, bisect_right(self.numbered, last) - is_open, shown, digits, first, is_known)
            if is_whole or is_known:
                return match
            partial = match
        return partial

    def _match(self, execution: Sequence[Recorded], candidates: Sequence[int]) -> Shown:
        """The numbers that show the values of an execution, in order; empty where fewer than half of them are shown."""
        tokens = [
            (index, place)
            for index in candidates
            for place in range(len(self.lines[index].numbers))
            if (index, place) not in self.taken
        ]
        shown = self._in_order(execution, tokens)
        if len(shown) < len(execution):  # decimals are seldom left out
            loose = self._in_order(execution, tokens, is_exact=False)
            shown = loose if len(loose) > len(shown) else shown
        else:
            finest = self._in_order(execution, tokens, is_finest=True)
            if len(finest) == len(shown) and finest[-1][1] <= shown[-1][1]:
                shown = finest
        return shown if 2 * len(shown) >= len(execution) else []

    def _in_order(
        self,
        execution: Sequence[Recorded],
        tokens: Sequence[tuple[int, int]],
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
                number = self._number(*tokens[token])
                if found is not None and (not is_finest or tokens[token][0] != tokens[found][0]):
                    break
                if is_exact and number.is_whole and not value.value.is_integer():
                    continue
                is_finer = found is None or number.rounding < self._number(*tokens[found]).rounding
                if is_finer and number.shows(value.value):
                    found = token
            if found is not None:
                shown.append((value.ordinal, *tokens[found]))
                begin = found + 1
        return shown

    def _number(self, line: int, place: int) -> Number:
        return self.lines[line].numbers[place]

    def _digits(self, execution: Sequence[Recorded], shown: Shown) -> float:
        """Significant digits in which values agree with what is written; each number counts for one at least."""
        values = {value.ordinal: value.value for value in execution}
        found = 0.0
        for ordinal, line, place in shown:
            number = self._number(line, place)
            if number.is_whole and not values[ordinal].is_integer():
                continue
            size = abs(number.value) / (2 * number.rounding) if number.rounding else 0.0
            found += max(1.0, 1 + math.floor(math.log10(size)) if size else 0.0)
        return found

"""Which number of an output log is which recorded value.

A process records a value before it writes the line that shows it, so values and lines come in the same order, and the
values of one execution of a statement stand in one line or in lines that follow one another. A value that no line
shows, because the statement writes elsewhere, is passed over; what a statement's lines look like is learned from those
that were found.
"""

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
MOST_SEARCHES = 2
"""Executions of a statement that are searched in all lines, if none was found yet."""
MOST_MISSES = 30
"""Executions of a statement that are not found, with none that is, after which it is taken to write elsewhere."""
TELLING_DIGITS = 3
"""Significant digits from which a number is hardly equal by chance."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A value as an event has it.

    Attributes:
        ordinal: among the values of its process. site: that reported it. statement: file and line of the site.
    """

    ordinal: int
    site: int
    label: str | None
    statement: tuple[str, int]
    value: float


@dataclass(slots=True)
class _Statement:
    """What is known of a statement: the shapes of lines that it wrote, and how often none was found."""

    shapes: set[tuple[str, int]] = field(default_factory=set)
    n_found: int = 0
    n_missed: int = 0


def align(values: Sequence[Recorded], lines: Sequence[Line]) -> dict[int, tuple[int, int]]:
    """The place of each value that the log shows: its ordinal to the index of the line and of the number in it."""
    places: dict[int, tuple[int, int]] = {}
    numbered = [index for index, line in enumerate(lines) if line.numbers]
    by_shape: dict[tuple[str, int], list[int]] = {}
    for place, index in enumerate(numbered):
        by_shape.setdefault(_shape(lines[index]), []).append(place)
    statements: dict[tuple[str, int], _Statement] = {}
    taken: set[tuple[int, int]] = set()
    pointer = 0
    for execution in _executions(values):
        statement = statements.setdefault(execution[0].statement, _Statement())
        if statement.n_missed >= MOST_MISSES and not statement.n_found:
            continue
        starts = _starts(pointer, len(numbered), statement, by_shape)
        match = _find(execution, lines, numbered, starts, pointer, statement, taken)
        if match is None:
            statement.n_missed += 1
            continue
        statement.n_found += 1
        pointer, shown = match
        for ordinal, line, number in shown:
            places[ordinal] = (line, number)
            taken.add((line, number))
        statement.shapes.add(_shape(lines[shown[0][1]]))
    return places


def _shape(line: Line) -> tuple[str, int]:
    """What lines of one statement have in common: their first words, and how many numbers they hold."""
    return line.text[: line.numbers[0].start].strip()[:16], len(line.numbers)


def _executions(values: Sequence[Recorded]) -> list[list[Recorded]]:
    """Values that follow one another in the order of the sites of their statement: one execution of it."""
    executions: list[list[Recorded]] = []
    seen: set[tuple[int, str | None]] = set()
    for value in values:
        last = executions[-1][-1] if executions else None
        key = value.site, value.label
        if last is not None and last.statement == value.statement and last.site <= value.site and key not in seen:
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
        further = (
            places[bisect_left(places, pointer + AHEAD) :] for shape in statement.shapes for places in [by_shape[shape]]
        )
        yield from islice(merge(*further), AHEAD)
    elif statement.n_missed < MOST_SEARCHES:
        yield from range(pointer + AHEAD, end)


def _find(
    execution: Sequence[Recorded],
    lines: Sequence[Line],
    numbered: Sequence[int],
    starts: Iterable[int],
    pointer: int,
    statement: _Statement,
    taken: set[tuple[int, int]],
) -> tuple[int, list[tuple[int, int, int]]] | None:
    """Where an execution is shown, from a place in `numbered` on; None where it is not.

    Args:
        starts: places to look. pointer: the first of them.
        taken: lines and numbers that show other values.

    Returns: the next place to search from, and for each value that is shown its ordinal, line and number.
    """
    for start in starts:
        shown = _match(execution, lines, numbered[start : start + MOST_LINES], taken)
        if not shown or shown[0][1] != numbered[start]:
            continue
        is_known = _shape(lines[numbered[start]]) in statement.shapes
        if start == pointer or is_known or _is_telling(shown, lines):
            last = shown[-1][1]
            end = start
            while end < len(numbered) and numbered[end] <= last:
                end += 1
            # A further value of the same line may be another statement's, as with `print(..., end="")`.
            is_open = shown[-1][2] + 1 < len(lines[last].numbers)
            return (end - 1 if is_open else end), shown
    return None


def _match(
    execution: Sequence[Recorded], lines: Sequence[Line], candidates: Sequence[int], taken: set[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """The numbers that show the values of an execution, in order; empty where fewer than half of them are shown."""
    tokens = [
        (index, place)
        for index in candidates
        for place in range(len(lines[index].numbers))
        if (index, place) not in taken
    ]
    shown: list[tuple[int, int, int]] = []
    begin = 0
    for value in execution:
        for token in range(begin, len(tokens)):
            index, place = tokens[token]
            if lines[index].numbers[place].shows(value.value):
                shown.append((value.ordinal, index, place))
                begin = token + 1
                break
    return shown if 2 * len(shown) >= len(execution) else []


def _is_telling(shown: Sequence[tuple[int, int, int]], lines: Sequence[Line]) -> bool:
    """Whether the numbers could hardly agree by chance: three of them, or one with many digits."""
    return len(shown) >= TELLING_DIGITS or any(
        abs(number.value) >= number.rounding * 2 * 10 ** (TELLING_DIGITS - 1)
        for number in (lines[line].numbers[place] for _, line, place in shown)
    )

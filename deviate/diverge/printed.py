"""Compares the numbers that two runs printed, where no value that is recorded differs."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from deviate.diverge.findings import Difference
from deviate.diverge.moments import Moments
from deviate.diverge.requests import Pair
from deviate.diverge.ulps import value_ulps
from deviate.model.metric_vocabulary import snake
from deviate.records.layout import log_files
from deviate.series.captions import captions_of
from deviate.series.lines import Line, read_lines
from deviate.series.words import MEASURES, kind_of, words_of

VOLATILE = frozenset({"pid", "process", "port", "address", "host", "tmp", "temporary", "thread"})
"""Words of numbers that the system gives each run."""


Key = tuple[str | float, ...]
"""Words and numbers of a line."""


def compare_printed(
    pair: Pair, *, is_told: bool, counts_fractions: bool = False
) -> tuple[int, Difference | None, tuple[str, ...]]:
    """Compare standard output number by number, without clocks and what the system gives each process.

    Lines that both runs printed count as equal, wherever they stand: parallel work comes in any order. Other text is
    not compared: a line that has other words in both runs, or stands in one of them alone, is passed over.

    Args:
        pair: two runs. The first one tells what numbers are, as the second may have ended early.
        is_told: whether results or weights tell already that the trainings are equal. Then a number that is no measure
            is none of the training: a seed that is replaced, retries, what another thread counts, a row of a profile.
        counts_fractions: whether numbers with decimals and without a unit count all the same.

    Returns:
        How many numbers were compared up to the first difference; that difference; and the names of numbers that differ
        and are no results, where results alone count.
    """
    (mine, theirs), moments, passed_over = [_lines(run.folder) for run in pair.runs], Moments(pair), dict[str, None]()
    captions_by_line, (left, right) = list(captions_of(mine)), _unequal(mine, theirs)
    n_compared = sum(len(line.numbers) for line in mine) - sum(len(mine[at].numbers) for at in left)
    for place, place_beside in _same_lines([_words(mine[at]) for at in left], [_words(theirs[at]) for at in right]):
        at, beside = left[place], right[place_beside]
        both = list(zip(mine[at].numbers, captions_by_line[at], theirs[beside].numbers, strict=True))
        if any(
            one.value != other.value
            for one, caption, other in both
            if caption.form == "counter" and not caption.trainings
        ):
            continue  # of another step, where lines come by the clock
        for number, caption, other in both:
            words, values = caption.text, (number.value, other.value)
            kind = kind_of(words, number.unit, is_whole=number.is_whole)
            if kind == "time" or words_of(words) & VOLATILE:
                continue
            if values[0] != values[1] and not all(map(math.isnan, values)) and not moments.explain(values):
                name, size = snake(words) if words else f"number in line {at + 1}", value_ulps(*values)
                is_result = kind in ("result", "loss") and bool(words_of(words) & MEASURES)
                is_fraction = not number.is_whole and number.unit in ("", "%")
                if is_told and not is_result and not (counts_fractions and is_fraction):
                    passed_over[name] = None
                    continue
                first = Difference("metrics", "metric", None, None, "metric", name, values=values, ulps=size)
                return n_compared, first, tuple(passed_over)
            n_compared += 1
    return n_compared, None, tuple(passed_over)


def _unequal(mine: Sequence[Line], theirs: Sequence[Line]) -> tuple[list[int], list[int]]:
    """The places of the lines of both runs without those that are equal in words and numbers."""
    keys: list[list[Key]] = [
        [(*_words(line), *(number.value for number in line.numbers)) for line in lines] for lines in (mine, theirs)
    ]
    common = Counter(keys[0]) & Counter(keys[1])
    return _beyond(keys[0], common), _beyond(keys[1], common)


def _beyond(keys: Sequence[Key], common: Counter[Key]) -> list[int]:
    """The places of keys beyond as many as are common."""
    seen: Counter[Key] = Counter()
    places = []
    for at, key in enumerate(keys):
        seen[key] += 1
        places += [at] if seen[key] > common[key] else []
    return places


def _same_lines(mine: Sequence[list[str]], theirs: Sequence[list[str]]) -> Iterator[tuple[int, int]]:
    """Places of lines with the same words, in order, until more than one line in a row is another one."""
    at = beside = 0
    while at < len(mine) and beside < len(theirs):
        if mine[at] != theirs[beside]:
            # A name that is drawn anew in each run changes one line; a warning may come in one run alone.
            following = ((at + one, beside + other) for one, other in ((1, 1), (1, 0), (0, 1)))
            same = ((one, other) for one, other in following if mine[one : one + 1] == theirs[other : other + 1] != [])
            if (places := next(same, None)) is None:
                return
            at, beside = places
        yield at, beside
        at, beside = at + 1, beside + 1


def _lines(attempt: Path) -> list[Line]:
    path, _ = log_files(attempt)
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return [line for line in read_lines(text) if not line.is_drawn_over]


def _words(line: Line) -> list[str]:
    """What stands before, between and behind the numbers."""
    ends = [(0, 0), *((number.start, number.after) for number in line.numbers), (len(line.text), 0)]
    return [" ".join(line.text[begin:end].split()) for (_, begin), (end, _) in pairwise(ends)]

"""Compares the numbers that two runs printed, where no value that is recorded differs."""

import math
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
from deviate.series.words import kind_of, words_of

VOLATILE = frozenset({"pid", "process", "port", "address", "host", "tmp", "temporary", "thread"})
"""Words of numbers that the system gives each run."""


def compare_printed(pair: Pair) -> tuple[int, Difference | None]:
    """Compare standard output number by number, without clocks and what the system gives each process.

    Args:
        pair: two runs. The first one tells what numbers are, as the second may have ended early.

    Returns: how many numbers were compared, up to the first difference, and that one. Other text is not compared: a
        line that has other words in both runs, or stands in one of them alone, is passed over.
    """
    n_compared, (mine, theirs), moments = 0, [_lines(run.folder) for run in pair.runs], Moments(pair)
    captions_by_line = list(captions_of(mine))
    for at, beside in _same_lines([_words(line) for line in mine], [_words(line) for line in theirs]):
        for number, caption, other in zip(mine[at].numbers, captions_by_line[at], theirs[beside].numbers, strict=True):
            words, values = caption.text, (number.value, other.value)
            is_clock = kind_of(words, number.unit, is_whole=number.is_whole) == "time"
            if is_clock or words_of(words) & VOLATILE:
                continue
            if values[0] != values[1] and not all(map(math.isnan, values)) and not moments.explain(values):
                name, size = snake(words) or f"number in line {at + 1}", value_ulps(*values)
                return n_compared, Difference("metrics", "metric", None, None, "metric", name, values=values, ulps=size)
            n_compared += 1
    return n_compared, None


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

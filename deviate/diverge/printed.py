"""Compares the numbers that two runs printed, where no value that is recorded differs."""

import math
from collections.abc import Iterator
from pathlib import Path

from deviate.diverge.findings import Difference
from deviate.diverge.ulps import value_ulps
from deviate.model.metric_vocabulary import snake
from deviate.records.layout import log_files
from deviate.series.captions import captions_of
from deviate.series.lines import read_lines
from deviate.series.words import kind_of, words_of

VOLATILE = frozenset({"pid", "process", "port", "address", "host", "tmp", "temporary", "thread"})
"""Words of numbers that the system gives each run."""


def compare_printed(first: Path, second: Path) -> tuple[int, Difference | None]:
    """Compare standard output number by number, without clocks and what the system gives each process.

    Args:
        first, second: the attempts.

    Returns: how many numbers were compared, up to the first difference, and that one. Other text is not compared: a
        line that has other words ends the comparison.
    """
    n_compared = 0
    for mine, theirs in zip(_numbers(first), _numbers(second), strict=False):
        if mine[0] != theirs[0]:
            break
        name, one, other = mine[1], mine[2], theirs[2]
        if one != other and not (math.isnan(one) and math.isnan(other)):
            size, values = value_ulps(one, other), (one, other)
            return n_compared, Difference("metrics", "metric", None, None, "metric", name, values=values, ulps=size)
        n_compared += 1
    return n_compared, None


def _numbers(attempt: Path) -> Iterator[tuple[str, str, float]]:
    """Words of the line up to each number, a name for it, and its value."""
    path, _ = log_files(attempt)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    lines = list(read_lines(text))
    for at, (line, captions) in enumerate(zip(lines, captions_of(lines), strict=True), 1):
        for number, caption in zip(line.numbers, captions, strict=True) if not line.is_drawn_over else ():
            words = caption.text
            is_clock = kind_of(words, number.unit, is_whole=number.is_whole) == "time"
            if not is_clock and not words_of(words) & VOLATILE:
                yield f"{at} {words}", snake(words) or f"number in line {at}", number.value

"""Reported values that belong to the moment of a run and not to its training: times, process numbers, addresses."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import combinations

from deviate.diverge.requests import Pair

SLACK_S = 60.0
"""Seconds around a run in which a number is taken for a time stamp, as those of files are."""
UNITS = (1.0, 1e3, 1e6, 1e9)
MOST_READINGS, MOST_PARTS = 50, 1000
EXACT_S = 4e-6
"""Readings of the clock are recorded to the microsecond."""
HEAPS = ((0x5500_0000_0000, 0x5800_0000_0000), (0x7E00_0000_0000, 0x8000_0000_0000))
"""Where Linux puts what programs allocate; macOS and Windows begin elsewhere. Source: Linux, Documentation/arch/x86."""


class Moments:
    """Tells the values of two runs that follow from when and where these ran.

    A time is a reading of the clock, or the interval of two readings that the script made, or an equal part of it.
    """

    def __init__(self, pair: Pair) -> None:
        self.pair = pair

    def explain(self, values: tuple[float, float]) -> bool:
        """Whether both values of a quantity are times, numbers of the process, or addresses."""
        if all(value.is_integer() for value in values):
            numbers = tuple(map(int, values))
            are_addresses = all(not one % 8 and any(low <= one < high for low, high in HEAPS) for one in numbers)
            if are_addresses or all(number in self._numbers[at] for at, number in enumerate(numbers)):
                return True
        return all(map(self._is_stamp, (0, 1), values)) or self._are_intervals(values)

    def _is_stamp(self, at: int, value: float) -> bool:
        run = self.pair.runs[at]
        return any(run.started - SLACK_S <= value / unit <= run.started + run.wall_time_s + SLACK_S for unit in UNITS)

    def _are_intervals(self, values: tuple[float, float]) -> bool:
        """Whether both values are the same part, one of n equal ones, of the time between the same two readings."""
        for one, other in zip(*self._intervals, strict=False) if min(values) > 0 else ():
            n = round(one / values[0])
            parts = zip((one, other), values, strict=True)
            if 0 < n <= MOST_PARTS and all(abs(interval - n * value) <= EXACT_S for interval, value in parts):
                return True
        return False

    @cached_property
    def _intervals(self) -> list[list[float]]:
        # From 0 to a reading is the reading itself.
        readings = [[0.0, *self._shown(at, "clock")][:MOST_READINGS] for at in (0, 1)]
        return [[later - earlier for earlier, later in combinations(of_run, 2)] for of_run in readings]

    @cached_property
    def _numbers(self) -> list[set[float]]:
        return [{*self._shown(at, "process-id"), *(trace.pid for trace in self.pair.traces[at])} for at in (0, 1)]

    def _shown(self, at: int, source: str) -> Iterator[float]:
        for trace in self.pair.traces[at]:
            for event in trace.inputs:
                if event.source == source:
                    with suppress(ValueError):
                        yield float(event.shown)

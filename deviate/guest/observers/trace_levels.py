"""The trace level of each step: the window that is traced in detail, and probes that measure the cost of levels."""

from __future__ import annotations

LOSS, STEPS, MODULES, OPERATIONS = 1, 2, 3, 4
"""Levels. Each one records what those below it do, as far as its costs allow."""
PROBES = 5
"""Steps with and as many without a level, in turn, by which its costs are measured …"""
WARM_UP = 1
"""… of which so many do not count, …"""
FIRST_PROBE = 5
"""… and that begin at this step where the whole run is traced."""


class Levels:
    """Trace levels of the steps, as requested by the spec.

    Attributes:
        requested: the level of the window; 0 for no trace.
        first, until: first step of the window, and the first one after (None: all that follow).
        next: levels whose costs are measured, after the window where it ends.
    """

    def __init__(self, wanted: dict[str, str]) -> None:
        self.requested = int(wanted.get("trace", "0"))
        self.first = int(wanted.get("trace-from", "0"))
        self.until = int(wanted["trace-until"]) if "trace-until" in wanted else None
        self.next = [int(level) for level in wanted.get("trace-next", "").split(",") if level]
        self.seconds: dict[tuple[int, bool], list[float]] = {}

    def at(self, step: int) -> int:
        """The level of a step."""
        probed, count = self._probed_level(step)
        if probed is not None:
            return probed if count % 2 else LOSS
        return self.requested if self.first <= step else LOSS

    def is_dropped(self, step: int) -> bool:
        """Whether a step only measures costs, so that its records are discarded."""
        probed, _ = self._probed_level(step)
        return probed is not None and probed > self.requested

    def is_last(self, step: int) -> bool:
        """Whether nothing is recorded from this step on."""
        return self.until is not None and step >= self.until + 2 * PROBES * len(self.next)

    def took(self, step: int, level: int, seconds: float) -> None:
        """Record the duration of a step at this level."""
        probed, _ = self._probed_level(step)
        if probed is not None:
            self.seconds.setdefault((probed, level == probed), []).append(seconds)

    def costs(self) -> list[tuple[int, float, float, int]]:
        """Cost of each measured level: seconds of the fastest step with and without it, and the number of steps.

        The fastest step is the one that other processes delayed least.
        """
        costs = []
        for level in self.next:
            traced, plain = (sorted(self.seconds.get((level, on), ())[WARM_UP:]) for on in (True, False))
            if traced and plain:
                costs.append((level, traced[0], plain[0], len(traced)))
        return costs

    def _probed_level(self, step: int) -> tuple[int | None, int]:
        """The level that a step measures, if any, and the number of earlier steps that measured it."""
        count = step - (FIRST_PROBE if self.until is None else self.until)
        number = count // (2 * PROBES)
        return (self.next[number] if 0 <= number < len(self.next) else None), count

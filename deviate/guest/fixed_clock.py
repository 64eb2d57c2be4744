"""The fixed clock of the cure `clock=fixed`: it begins at the same instant in all runs, and each reading advances it.

Only code of the project reads it. Libraries, and deviate, read the real clock, so that progress bars, time-outs and
waits work as before. `time.sleep` of the project sleeps as long as it did, since it may wait for something real, and
advances the clock. Each thread has a clock of its own, so that the readings of one do not depend on the others.
"""

from __future__ import annotations

from threading import local

from .adapter_context import AdapterContext

FIRST_NS = 1_600_000_000 * 10**9
"""The instant at which the clock begins: 13 September 2020, 12:26:40 UTC."""
STEP_NS = 10**8
"""A reading advances the clock by 0.1 s: a loop that trains for a minute ends after at most 600 readings."""


class FixedClock(local):
    """The clock of the current thread; `context.part(FixedClock)` is that of the process."""

    def __init__(self, context: AdapterContext) -> None:
        self.passed_ns = 0

    def elapsed_ns(self) -> int:
        """Nanoseconds since the clock began."""
        self.passed_ns += STEP_NS
        return self.passed_ns

    def now_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return FIRST_NS + self.elapsed_ns()

    def sleep(self, seconds: float) -> None:
        self.passed_ns += int(seconds * 1e9)


def fixed_clock(context: AdapterContext) -> FixedClock | None:
    """The fixed clock of this process; None if the run asks for the real one."""
    return context.part(FixedClock) if context.controls.get("clock") == "fixed" else None

"""The levels of a trace, each closer than the one before, and the updates at which a pair of runs is traced at one."""

from dataclasses import dataclass

from deviate.diverge.findings import MADE, RUNGS, Difference, Phase, Rung

NEAR = 64
"""Last update for which the window starts at update 0: in another pair, noise may appear earlier."""
AROUND = 16
"""Updates before and after a later difference to trace; few, so that files stay small."""
LONG_BEFORE = 256
"""Updates to trace before a difference in a loss: a last bit may stay invisible in a loss for long, and even longer in
the mean of an epoch."""
AFTER = 4
"""Minimum number of updates to trace after the first difference."""
LONGEST = 1000
"""Updates to trace if the update of the difference is unknown: the last ones, because losses are equal."""
MOST_AGAIN = 3
"""Maximum number of pairs per level; noise that three pairs did not show is reported as intermittent."""
MOST_EQUAL = 100
"""Updates to trace in equal runs, if the user asks for a level, and beyond a difference that chance may hide."""
WIDER = 4
"""Factor by which a window grows that started too late."""
CARRIED = frozenset({"state", "batch", "weights"})
"""Kinds that differ at the start of a window if the runs diverged before it."""


@dataclass(frozen=True, slots=True)
class Level:
    """What the traces of a level hold, in addition to those of the levels above.

    Attributes:
        compares: what is compared.
        kinds: kinds of records, at least one of which occurs if the script uses a supported framework.
        useless_for: phases of a difference about which the level shows nothing more than the one above it.
        before: updates before the first difference that the next level traces as well.
    """

    rung: Rung
    compares: str
    kinds: frozenset[str]
    useless_for: tuple[Phase, ...] = ()
    before: int = AROUND

    @property
    def number(self) -> int:
        """Level of the trace, from 1."""
        return RUNGS.index(self.rung) + 1

    def is_useful(self, phase: Phase, kinds: frozenset[str]) -> bool:
        """Whether it may show more about a difference than the level above.

        Args:
            kinds: of the records of the level above. Without gradients, as of compiled programs, an update may differ
                because of any module.
        """
        return phase not in self.useless_for or (phase == "update" and "gradient" not in kinds)


LEVELS: tuple[Level, ...] = (
    Level("metrics", "reported values and losses", frozenset({"loss"}), before=LONG_BEFORE),
    Level(
        "steps",
        "batches, weights, gradients and random states of each update",
        frozenset({"state", "batch", "weights", "forward", "gradient", "update", "module"}),
    ),
    Level(
        "modules",
        "output and gradient of each module",
        frozenset({"module", "module-gradient", "gradient"}),  # without modules, gradients of weights
        # No module has run yet there, or all have.
        useless_for=(*MADE, "update"),
    ),
    Level("operations", "each operation", frozenset({"operation"})),
)
"""In the order of RUNGS: a search continues with the next one while the runs differ."""
LEVEL_OF: dict[Rung, Level] = {level.rung: level for level in LEVELS}


@dataclass(frozen=True, slots=True)
class Window:
    """Updates from `first` up to and without `until`; None to continue to the end."""

    first: int = 0
    until: int | None = None

    def __contains__(self, step: int) -> bool:
        return self.first <= step and (self.until is None or step < self.until)


def window_around(step: int | None, n_steps: int = 0, before: int = AROUND) -> Window:
    """The window around the update of a difference; None if the update is unknown.

    Args:
        n_steps: updates of the whole run.
        before: updates before it to trace as well.
    """
    if step is None:
        return Window(max(n_steps - LONGEST, 0))
    if step <= NEAR:
        return Window(0, 2 * step + AFTER)
    return Window(max(0, step - before), step + AROUND)


def next_window(window: Window, difference: Difference | None) -> Window | None:
    """The next window in which to trace a pair; None if the window contains the difference of its pair.

    Args:
        difference: the first difference of the pair that was traced there; None if the pair is equal.
    """
    if difference is None:  # the next pair may diverge later
        return Window(window.first, window.until and 2 * window.until - window.first)
    if difference.step is None:
        return None
    if difference.step not in window:
        return _join(window, window_around(difference.step))
    if difference.step == window.first > 0 and difference.kind in CARRIED:
        width = LONGEST if window.until is None else window.until - window.first
        return Window(max(0, window.first - WIDER * width), window.until)
    return None


def _join(one: Window, other: Window) -> Window:
    until = None if one.until is None or other.until is None else max(one.until, other.until)
    return Window(min(one.first, other.first), until)

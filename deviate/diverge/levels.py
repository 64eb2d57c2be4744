"""The levels of a trace, each closer than the one before, and the updates at which a pair of runs is traced at one."""

from dataclasses import dataclass

from deviate.diverge.findings import MADE, RUNGS, Difference, Phase, Rung

NEAR = 64
"""A difference up to this update is looked for from the first one on: noise comes earlier as well as later."""
AROUND = 16
"""Updates before and after one that lies further on, so that files stay small."""
LONG_BEFORE = 256
"""Updates before one that a loss alone tells of: a last bit need not show in it for long, and hardly in the mean of an
epoch."""
AFTER = 4
"""Updates after the first difference, at least."""
LONGEST = 1000
"""Updates that are traced at once, where nobody knows at which one runs part: the last ones, for losses are equal."""
MOST_AGAIN = 3
"""Pairs of a rung, at most: noise that three of them did not show is told as such."""
MOST_EQUAL = 100
"""Updates that are looked at more closely where the runs are equal, and the user asks for it."""
WIDER = 4
"""How many times as wide a window gets that began too late."""
CARRIED = frozenset({"state", "batch", "weights"})
"""Kinds that are found different at the beginning of a window where the runs have parted before it."""


@dataclass(frozen=True, slots=True)
class Level:
    """What the traces of a rung of the ladder hold, beyond those of the rungs above.

    Attributes:
        looks_at: what is compared, for the report; announced: the same as a line of progress.
        kinds: of records of which there are some at least, where the script computes with what deviate can look into.
        useless_for: phases of a difference about which the rung shows nothing more than the one above it.
        before: updates before the first difference in which the next rung looks for it as well.
    """

    rung: Rung
    looks_at: str
    announced: str
    kinds: frozenset[str]
    useless_for: tuple[Phase, ...] = ()
    before: int = AROUND

    @property
    def number(self) -> int:
        """Level of the trace, from 1."""
        return RUNGS.index(self.rung) + 1


LEVELS: tuple[Level, ...] = (
    Level(
        "metrics",
        "reported values, losses",
        "both runs to the end, reported values and losses",
        frozenset({"loss"}),
        before=LONG_BEFORE,
    ),
    Level(
        "steps",
        "batches, weights, gradients, random states",
        "batches, weights, gradients and random states of each update",
        frozenset({"state", "batch", "weights", "forward", "gradient", "update", "module"}),
    ),
    Level(
        "modules",
        "outputs and gradients of modules",
        "what each module gives and gets back",
        frozenset({"module", "module-gradient"}),
        # No module has run yet there, or all have.
        useless_for=(*MADE, "update"),
    ),
    Level("operations", "every operation", "operation by operation", frozenset({"operation"})),
)
"""In the order of RUNGS: a search takes the next one while the runs differ."""
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
        before: updates before it that are looked at as well.
    """
    if step is None:
        return Window(max(0, n_steps - LONGEST))
    if step <= NEAR:
        return Window(0, 2 * step + AFTER)
    return Window(max(0, step - before), step + AROUND)


def next_window(window: Window, difference: Difference | None) -> Window | None:
    """The next window in which to trace a pair; None if the window contains the difference of its pair.

    Args:
        difference: the first difference of the pair that was traced there, None where it did not part.
    """
    if difference is None:
        return _further(window)
    if difference.step is None:
        return None
    if difference.step < window.first:
        return _join(window_around(difference.step), window)
    if difference.step not in window:
        return _join(window, window_around(difference.step))
    if window.first and difference.step == window.first and difference.kind in CARRIED:
        return _earlier(window)
    return None


def _further(window: Window) -> Window:
    """A window twice as long, as the pair may diverge later."""
    if window.until is None:
        return window
    return Window(window.first, window.until + (window.until - window.first))


def _earlier(window: Window) -> Window:
    width = LONGEST if window.until is None else window.until - window.first
    return Window(max(0, window.first - WIDER * width), window.until)


def _join(one: Window, other: Window) -> Window:
    until = None if one.until is None or other.until is None else max(one.until, other.until)
    return Window(min(one.first, other.first), until)

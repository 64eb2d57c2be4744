"""The main loop as runs show it: which loops ran, how often, and in which of them weights were updated.

The analysis judges loops by words. What the first completed run counted decides where it contradicts: a main loop that
never ran is none, and a loop around the main loop is the better one where the same weights go on from step to step and
at least as many metrics are reported between its inner loops as inside them.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from deviate.model.analysis import NAMED
from deviate.records.events import UNKNOWN_MAIN, events_in
from deviate.records.files import BAD, json_lines
from deviate.records.layout import event_files
from deviate.records.schema import Manifest

TAIL_BYTES = 1 << 16
"""Bytes at the end of a file that are searched for the counts of loops, which a process writes when it ends."""
FEWEST_STEPS = 2
"""Minimum number of steps of a loop that repeats."""


@dataclass(frozen=True, slots=True)
class RecordedLoop:
    """How one loop ran in the main process of a run: fields as in `eventlog.LoopsEntry`."""

    loop: int
    outer: int | None
    n_begun: int
    n_steps: int
    n_updated: int
    seconds: float
    n_anew: int


@dataclass(frozen=True, slots=True)
class MainLoop:
    """The main loop of an experiment.

    Attributes:
        id: None where there is none.
        note: a sentence, where the runs showed another one than the analysis had taken; else empty.
        n_anew: number of its steps, if each of them trains a new model; else 0.
    """

    id: int | None
    note: str = ""
    n_anew: int = 0


def count_loops(attempt: Path) -> dict[int, RecordedLoop] | None:
    """How often loops ran, in the process that updated weights or else spent most time in loops; None if none tells."""

    def rank(counts: dict[int, RecordedLoop]) -> tuple[bool, float]:
        return any(count.n_updated > 0 for count in counts.values()), sum(count.seconds for count in counts.values())

    processes = [counts for path in event_files(attempt) if (counts := _counts(path)) is not None]
    return max(processes, key=rank, default=None)


def _counts(path: Path) -> dict[int, RecordedLoop] | None:
    events = [event for _, event in events_in(path, "loops", end_bytes=TAIL_BYTES)]
    with suppress(*BAD):
        return {row[0]: RecordedLoop(*row) for row in events[-1].rows}
    return None


def confirm_main_loop(manifest: Manifest, attempt: Path) -> MainLoop:
    """The main loop of an experiment, by what a completed run of it counted.

    Args:
        attempt: the attempt folder of the run.
    """
    counts = count_loops(attempt)
    main = _confirm(manifest, attempt, counts)
    count = None if counts is None or main.id is None else counts.get(main.id)
    is_anew = count is not None and FEWEST_STEPS <= count.n_steps <= count.n_anew
    return replace(main, n_anew=count.n_steps) if count is not None and is_anew else main


def _confirm(manifest: Manifest, attempt: Path, counts: Mapping[int, RecordedLoop] | None) -> MainLoop:
    supposed = MainLoop(manifest.main_loop)
    loops = {loop.id: loop for loop in manifest.loops}
    main = None if manifest.main_loop is None else loops.get(manifest.main_loop)
    if counts is None or (main is not None and NAMED in main.evidence):
        return supposed
    ran = {number: count for number, count in counts.items() if count.n_steps > 0}
    is_updated = any(count.n_updated > 0 for count in ran.values())
    if UNKNOWN_MAIN in ran or (main is not None and main.kind == "managed" and (main.id in ran or not is_updated)):
        return supposed  # frameworks without an adapter do not count their loops
    if main is None or main.id not in ran:
        chosen = None if _trained_elsewhere(ran, attempt) else _longest(ran)
        if chosen is None or chosen.loop not in loops:
            return supposed if main is None else MainLoop(None, f"main loop: none; {main.place} never ran")
        taken = "found none" if main is None else f"chose {main.place}, which never ran"
    else:
        chosen = _better_outer(ran, main.id, attempt, {metric.site for metric in manifest.metrics})
        if chosen is None or chosen.loop not in loops:
            return supposed
        taken = f"chose {main.place} inside it"
    steps = f"{chosen.n_steps} {'step' if chosen.n_steps == 1 else 'steps'}"
    return MainLoop(
        chosen.loop, f"main loop: {loops[chosen.loop].place}, by the first run ({steps}); the analysis {taken}"
    )


def _trained_elsewhere(ran: Mapping[int, RecordedLoop], attempt: Path) -> bool:
    """Whether a model was seen to be trained, and in no loop: by one `fit` of an estimator."""
    if any(count.n_updated > 0 or count.n_anew > 0 for count in ran.values()):
        return False
    return any(True for path in event_files(attempt) for _ in events_in(path, "trained", end_bytes=TAIL_BYTES))


def _longest(ran: Mapping[int, RecordedLoop]) -> RecordedLoop | None:
    """Of the outermost loops in which weights were updated, or else of those that repeat, the one that took longest."""
    updating = [count for count in ran.values() if count.n_updated > 0]
    pool = {count.loop: count for count in updating or ran.values() if count.n_steps >= FEWEST_STEPS}
    outermost = [count for count in pool.values() if not any(outer in pool for outer in _around(count.loop, ran))]
    return max(outermost, key=lambda count: count.seconds, default=None)


def _better_outer(
    ran: Mapping[int, RecordedLoop], main: int, attempt: Path, sites: Container[int | None]
) -> RecordedLoop | None:
    """The outermost loop around the main one that goes on training the same weights and reports at least as much."""
    around_main = [ran[outer] for outer in _around(main, ran)]
    candidates = [count for count in around_main if count.n_steps >= FEWEST_STEPS and count.n_updated > 0]
    if not candidates:
        return None
    inside: set[int] = set()
    beside: dict[tuple[int, int], set[int]] = {}
    for site, around in _values(attempt):
        if site in sites and main in around:
            inside.add(site)
        elif site in sites:
            for loop in [count.loop for count in candidates if count.loop in around]:
                beside.setdefault((loop, site), set()).add(around[loop])
    n_repeated = Counter(loop for (loop, _), steps in beside.items() if len(steps) >= FEWEST_STEPS)
    better = (count for count in reversed(candidates) if n_repeated[count.loop] >= max(1, len(inside)))
    return next(better, None)


def _around(loop: int, counts: Mapping[int, RecordedLoop]) -> list[int]:
    """The loops in which a loop began, innermost first."""
    around: list[int] = []
    outer = counts[loop].outer
    while outer is not None and outer in counts and outer not in around:
        around.append(outer)
        outer = counts[outer].outer
    return around


def _values(attempt: Path) -> Iterator[tuple[int, dict[int, int]]]:
    """Each value at a site: the site, and the step of every loop around it."""
    for path in event_files(attempt):
        for event in json_lines(path):
            with suppress(*BAD):
                if type(event[0]) is int:
                    loops = event[2]
                    yield event[0], dict(zip(loops[::2], loops[1::2], strict=True))

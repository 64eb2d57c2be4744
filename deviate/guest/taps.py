"""The taps, which instrumented code calls. Each returns its argument unchanged, whatever happens inside."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import compress
from sys import _getframe
from types import FrameType

from .annotations import TYPE_CHECKING, Any, Callable, Iterable
from .recorder import END, MOST_COMPARED, Recorder, RunningLoop
from .values import ABSENT, DeferredScalar, item

if TYPE_CHECKING:
    from typing import TypeVar

    from .checkpoint_guard import CheckpointGuard

    V = TypeVar("V")

# Known once the guest has started: no tap is called before.
_recorder: Recorder
_line: Callable[[str, float | DeferredScalar, FrameType, str], None]
_heads: dict[int, str]
checkpoints: CheckpointGuard | None = None
"""Who wants to see what the first main loop iterates, once the program has read what may be a checkpoint."""


def _never() -> bool:
    return False


is_compiling = _never
"""Whether a compiler is reading the program instead of running it; a framework adapter puts its own answer here."""


def install(recorder: Recorder, names: Any) -> None:
    """Make the taps available in every module of the process."""
    global _recorder, _line, _heads
    _recorder = recorder
    _line = recorder.line
    _heads = recorder.heads
    names.__deviate_log__ = log
    names.__deviate_loop__ = loop
    names.__deviate_while__ = while_
    names.__deviate_format__ = format_
    names.__deviate_mapping__ = mapping
    names.__deviate_call__ = call
    names.__deviate_meter__ = meter


def log(site: int, value: Any, label: object = None) -> Any:
    if is_compiling is not _never and is_compiling():  # checking for it is cheaper than a call
        return value
    try:
        if type(value) is float and label is None:  # almost all values: they skip the general case
            _line(_heads[site], value, _getframe(1), END)
        else:
            _recorder.value(site, value, label, _getframe(1))
    except Exception as error:
        _recorder.fault("site %s" % site, error)
    return value


def loop(number: int) -> Callable[[Iterable[V]], Iterable[V]]:
    # compress() asks both sides from C, and is called by the script itself, so no frame of ours stands between the loop
    # and what it iterates; and it drops the iterator at the moment the loop does: generators close as early as without
    # a tap.
    if is_compiling():
        return _itself
    try:
        if checkpoints is not None and checkpoints.read and not _recorder.has_stepped and _recorder.loops[number][2]:
            return partial(_show_main, checkpoints, Steps(number))
        return partial(compress, selectors=Steps(number))
    except Exception as error:
        _recorder.fault("loop %s" % number, error)
        return _itself


def _itself(iterable: Iterable[V]) -> Iterable[V]:
    return iterable


def _show_main(watch: CheckpointGuard, steps: Steps, iterable: Iterable[V]) -> Iterable[V]:
    """Record what a main loop iterates over. This frame has returned before the first item is requested."""
    try:
        watch.begin_main(iterable)
    except Exception as error:
        _recorder.fault("loop %s" % steps.running.id, error)
    return compress(iterable, steps)


class Steps:
    """Counts the steps of one `for` loop: an endless iterator of True, freed when the loop is left in any way.

    The loop begins when its iterator yields the first item: work that the iterable does before is outside the loop.
    """

    __slots__ = ("is_main", "running")

    def __init__(self, number: int) -> None:
        self.running = RunningLoop(number)
        self.is_main = _recorder.loops[number][2]

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> bool:
        running = self.running
        running.step += 1
        if _recorder.has_while:
            _recorder.leave_whiles(_getframe(1))
        if not running.step:
            _recorder.begin(running)
        if running.step < MOST_COMPARED and _recorder.weight_versions is not None:
            _compare(running)
        if self.is_main or _recorder.pending:
            _step(running, self.is_main)
        return True

    def __del__(self) -> None:
        try:
            if self.running.step >= 0:
                _recorder.end(self.running)
        except Exception:  # the interpreter may be shutting down
            pass


def while_(number: int, condition: V) -> V:
    if is_compiling():
        return condition
    try:
        running = _recorder.while_step(number, _getframe(1))
        # Only plain values may be asked for their truth: the loop itself asks, and must be the only one to ask others.
        if type(condition) in (bool, int) and not condition:
            running.step -= 1  # no step has begun
            _recorder.end(running)
        else:
            if running.step < MOST_COMPARED and _recorder.weight_versions is not None:
                _compare(running)
            _step(running, _recorder.loops[number][2])
    except Exception as error:
        _recorder.fault("loop %s" % number, error)
    return condition


def _compare(running: RunningLoop) -> None:
    try:
        _recorder.compare_weights(running)
    except Exception as error:
        _recorder.fault("loop %s" % running.id, error)


def _step(running: RunningLoop, is_main: bool) -> None:
    try:
        if _recorder.pending:
            _recorder.settle()
        if is_main:
            _recorder.main_step(running.id, running.step)
    except Exception as error:
        _recorder.fault("loop %s" % running.id, error)


def format_(sites: tuple[int, ...], callee: Callable[..., str], label: object = None) -> Callable[..., str]:
    """For templates that access attributes of arguments: format like `str.format`, and record the fields."""
    if is_compiling():
        return callee
    from .template import Formatting

    return Formatting(sites, callee, label, _recorder)


def mapping(sites: tuple[int, ...], value: V, label: object = None) -> V:
    """For mappings whose items a template accesses by key."""
    if is_compiling():
        return value
    for site in sites:
        try:
            for key in _recorder.fields[site]:
                entry = item(value, key)
                if entry is not ABSENT:
                    _recorder.value(site, entry, label, _getframe(1))
        except Exception as error:
            _recorder.fault("site %s" % site, error)
    return value


def _around_callee(place: int) -> Callable[..., Any]:
    """A tap that is called in two steps, by its index among the first steps."""

    def tap(sites: tuple[int, ...], callee: Callable[..., V], label: object = None) -> Callable[..., Callable[[], V]]:
        if is_compiling():
            return partial(partial, callee)
        try:
            return partial(_steps()[place], _recorder, sites, label, callee)
        except Exception as error:
            _recorder.fault("site %s" % sites[0], error)
            return partial(partial, callee)

    return tap


call = _around_callee(0)
"""For the callee of a sink; takes the arguments and gives the call that is left to do."""
meter = _around_callee(1)
"""For a method that updates a meter; takes the arguments and gives the call that is left to do."""


@lru_cache(maxsize=None)
def _steps() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """First steps of taps around callees, imported on first use, as they need more modules than other taps."""
    from .calls import report
    from .meters import update

    return report, update

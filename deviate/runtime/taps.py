"""The taps: what instrumented text calls. Each gives back what it was given, whatever happens inside."""

from itertools import compress
from sys import _getframe

from .recorder import UNLABELLED, Running

_recorder = _line = _heads = None


def _never():
    return False


is_compiling = _never
"""Whether a compiler is reading the program instead of running it; a framework adapter puts its own answer here."""


def install(recorder, names):
    """Make the taps known to every module of the process."""
    global _recorder, _line, _heads
    _recorder = recorder
    _line = recorder.line
    _heads = recorder.heads
    names.__deviate_log__ = log
    names.__deviate_loop__ = loop
    names.__deviate_while__ = while_
    names.__deviate_format__ = format_


def log(site, value, label=None):
    if is_compiling():
        return value
    try:
        if type(value) is float and label is None:  # nearly all: spares them the general way
            _line(_heads[site], value, _getframe(1), UNLABELLED)
        else:
            _recorder.value(site, value, label, _getframe(1))
    except Exception as error:
        _recorder.fault("site %s" % site, error)
    return value


def loop(number, iterable):
    # compress() asks both sides from C, so no frame of ours stands between the loop and what it iterates, and it drops
    # the iterator at the moment the loop does: generators close as early as without a tap.
    if is_compiling():
        return iterable
    try:
        steps = Steps(number)
    except Exception as error:
        _recorder.fault("loop %s" % number, error)
        return iterable
    return compress(iterable, steps)


class Steps:
    """The steps of one `for` loop: an endless iterator of True, freed when the loop is left in whatever way."""

    __slots__ = ("is_main", "running")

    def __init__(self, number):
        self.running = Running(number)
        self.is_main = _recorder.loops[number][2]
        _recorder.begin(self.running)

    def __iter__(self):
        return self

    def __next__(self):
        running = self.running
        running.step += 1
        if self.is_main or _recorder.pending:
            _step(running, self.is_main)
        return True

    def __del__(self):
        try:
            _recorder.end(self.running)
        except Exception:  # the interpreter may be half gone
            pass


def while_(number, condition):
    if is_compiling():
        return condition
    try:
        running = _recorder.while_step(number, _getframe(1))
        # Only plain values may be asked for their truth: the loop itself asks, and must be the only one to ask others.
        if type(condition) in (bool, int) and not condition:
            _recorder.end(running)
        else:
            _step(running, _recorder.loops[number][2])
    except Exception as error:
        _recorder.fault("loop %s" % number, error)
    return condition


def _step(running, is_main):
    try:
        _recorder.settle()
        if is_main:
            _recorder.main_step(running.id, running.step)
    except Exception as error:
        _recorder.fault("loop %s" % running.id, error)


def format_(sites, callee):
    """For a template that takes attributes of its arguments: format as `str.format` does, and note the parts."""
    if is_compiling():
        return callee
    from .template import Formatting

    return Formatting(sites, callee, _recorder)

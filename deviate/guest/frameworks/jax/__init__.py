"""JAX: root keys of scripts, streams of draws, precision, flags, facts, and values that compiled functions print."""

from __future__ import annotations

import atexit
import sys
from sys import _getframe
from threading import Lock, get_ident, main_thread
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Iterator
from ...recorder import Recorder, RunningLoop
from ...seeds import wraps_like
from ...source import GUEST
from ...values import read
from .controls import JaxControls, facts
from .keys import Keys
from .programs import Programs
from .ranks import follow_ranks
from .weights import FlippedBit, JaxWeights

if TYPE_CHECKING:
    from .trace import JaxTrace

DEBUGGING = "jax._src.debugging"
CALLBACK = "jax._src.callback"
SOURCES = "jax._src.source_info_util"
DISTRIBUTED = "jax._src.distributed"
MODULES = ("jax", DEBUGGING, CALLBACK, SOURCES, DISTRIBUTED)
OWN_KEYS = ("flax.core.scope", "haiku._src")
"""Libraries that make keys to learn shapes, and draw nothing from them."""


class Parts:
    """Shared state for adapters of libraries based on JAX.

    Attributes:
        keys: None where the variant leaves seeds alone.
        trace: None where the run is not traced.
    """

    def __init__(self, context: AdapterContext) -> None:
        jax = sys.modules["jax"]
        self.programs = Programs(jax, context)
        self.keys = Keys(jax, context, self.programs) if context.streams.is_active else None
        self.weights = JaxWeights(context, self.programs)
        self.trace: JaxTrace | None = None
        if context.trace.requested_level:
            from .trace import JaxTrace  # most runs are not traced

            self.trace = JaxTrace(self.weights, self.programs)
            self.weights.at_update.append(self.trace.record_update)
        self.bit = FlippedBit(self.weights, self.programs)


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == DEBUGGING:
        lend_loops(module.debug_callback_p, "impl", context.recorder)
        observe_prints(module, context)
    elif module.__name__ == CALLBACK:
        for name in ("pure_callback_impl", "io_callback_impl"):
            lend_loops(module, name, context.recorder)
    elif module.__name__ == SOURCES:
        module.register_exclusion(GUEST)  # programs contain the source line of each operation
    elif module.__name__ == DISTRIBUTED:
        follow_ranks(module, context)
    else:
        _install(module, context)


def _install(jax: Any, context: AdapterContext) -> None:
    recorder = context.recorder
    recorder.event("environment", {"jax": jax.__version__})
    for name in ("PRNGKey", "key"):
        _observe(jax.random, name, context)
    JaxControls(jax, context).begin()
    jax_parts = context.part(Parts)
    if jax_parts.keys is not None:
        jax_parts.keys.patch()

    def close() -> None:
        recorder.tell([jax_parts.weights.close, lambda: recorder.event("environment", facts(jax))])

    atexit.register(close)  # before the exit handler of JAX, which shuts down its backends


def _observe(random: Any, name: str, context: AdapterContext) -> None:
    """Record root keys. They are not changed: draws from them are keyed again individually."""
    original, seeding = getattr(random, name), context.seeding

    def key(*args: Any, **kwargs: Any) -> Any:
        if not seeding.is_passing(OWN_KEYS):
            seeding.record("jax.random.%s" % name, args[0] if args else kwargs.get("seed"))
        return original(*args, **kwargs)

    setattr(random, name, wraps_like(key, original))


# ---------------------------------------------------------------- values that are printed, or passed to callbacks


def lend_loops(owner: Any, name: str, recorder: Recorder) -> None:
    """Give the threads in which JAX runs callbacks the loops and steps of the script."""
    original = getattr(owner, name, None)
    if original is None:
        return

    def callback(*args: Any, **kwargs: Any) -> Any:
        thread, home = get_ident(), main_thread().ident
        if thread == home or home is None or recorder.running.get(thread):
            return original(*args, **kwargs)
        recorder.running[thread] = [_copy(loop) for loop in recorder.running.get(home, ())]
        try:
            return original(*args, **kwargs)
        finally:
            recorder.running.pop(thread, None)

    setattr(owner, name, wraps_like(callback, original))


def _copy(loop: RunningLoop) -> RunningLoop:
    copy = RunningLoop(loop.id)
    copy.step = loop.step
    return copy


def observe_prints(debugging: Any, context: AdapterContext) -> None:
    """`jax.debug.print` of traced values: the program formats the template when it runs, with the values."""
    original = debugging.debug_print

    def observe_arguments(args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> tuple[Any, ...]:
        with context.recorder.guarded("jax.debug.print"):
            file = context.project.place(frame.f_code)
            leaves = debugging.tree_util.tree_leaves((args[1:], kwargs))
            # Without tracers the values are known at the call, where the tap reads them.
            is_traced = any(isinstance(leaf, debugging.core.Tracer) for leaf in leaves)
            if not is_traced or not args or type(args[0]) is not str or file is None:
                return args
            template = RecordingTemplate(args[0])
            template.place = "%s:%d" % (file, frame.f_lineno)
            template.recorder = context.recorder
            template.n_printers = _n_mapped() // context.recorder.n_ranks
            template.printed = []
            return (template, *args[1:])
        return args

    def debug_print(*args: Any, **kwargs: Any) -> Any:
        printer = original(*observe_arguments(args, kwargs, _getframe(1)), **kwargs)
        if printer is None:
            return None

        def with_options(*args: Any, **kwargs: Any) -> None:
            printer(*observe_arguments(args, kwargs, _getframe(1)), **kwargs)

        return wraps_like(with_options, printer)

    debugging.debug_print = wraps_like(debug_print, original)


class RecordingTemplate(str):
    """A template that records the values it is formatted with, each as `file:line:field`.

    In a function that is mapped over devices each of them prints, in no certain order. Then a value counts once, if all
    devices have the same, and not at all otherwise.

    Attributes:
        n_printers: how many devices of this process, or rows of a named axis, print it each time.
        printed: numbers that some of them have printed.
    """

    __slots__ = ("n_printers", "place", "printed", "recorder")

    place: str
    recorder: Recorder
    n_printers: int
    printed: list[dict[str, object]]

    def format(self, *args: object, **kwargs: object) -> str:
        with self.recorder.guarded("jax.debug.print at %s" % self.place):
            values = dict(_fields(self, args, kwargs))
            if self.n_printers > 1:
                values = self._join(values)
            for field, value in values.items():
                self.recorder.named_value("%s:%s" % (self.place, field), value, _getframe())
        return str.format(self, *args, **kwargs)

    def _join(self, values: dict[str, object]) -> dict[str, object]:
        """The values that all have printed, once the last of them prints."""
        with JOINING:
            self.printed.append(values)
            if len(self.printed) < self.n_printers:
                return {}
            whole = self.printed[:]
            del self.printed[:]
        return {
            field: value
            for field, value in values.items()
            if len({repr(read(other.get(field))) for other in whole}) == 1
        }


JOINING = Lock()
"""Devices call back from threads of their own."""


def _n_mapped() -> int:
    """How many devices or rows the function being traced is mapped over; 1 where JAX does not tell."""
    axes = getattr(sys.modules.get("jax._src.core"), "get_axis_env", lambda: None)()
    n_mapped = 1
    for size in getattr(axes, "axis_sizes", {}).values():
        n_mapped *= size
    return n_mapped


def _fields(template: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The replacement fields with their names; fields without a number are numbered as in `str.format`."""
    import string

    formatter = string.Formatter()
    counted = 0
    for _, field, _, _ in formatter.parse(template):
        if field is None:
            continue
        is_counted = not field or field[0] in ".["
        name = "%d%s" % (counted, field) if is_counted else field
        counted += is_counted
        yield name, formatter.get_field(name, args, kwargs)[0]

"""JAX: root keys of scripts, streams of draws, precision, flags, and facts."""

from __future__ import annotations

import atexit
import sys

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any
from ...seeds import wraps_like
from ...source import GUEST
from .controls import Controls, facts
from .keys import Keys
from .prints import lend_loops, observe_prints
from .programs import Programs
from .weights import FlippedBit, Weights

if TYPE_CHECKING:
    from .trace import JaxTrace

DEBUGGING = "jax._src.debugging"
CALLBACK = "jax._src.callback"
SOURCES = "jax._src.source_info_util"
MODULES = ("jax", DEBUGGING, CALLBACK, SOURCES)
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
        self.weights = Weights(context, self.programs)
        self.trace: JaxTrace | None = None
        if context.trace.requested_level:
            from .trace import JaxTrace  # most runs are not traced

            self.trace = JaxTrace(context, self.programs)
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
    else:
        _install(module, context)


def _install(jax: Any, context: AdapterContext) -> None:
    recorder = context.recorder
    recorder.event("environment", {"jax": jax.__version__})
    for name in ("PRNGKey", "key"):
        _observe(jax.random, name, context)
    Controls(jax, context).begin()
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

"""JAX: draws that no key of a stream decides, which are reported where the project asks for them.

A compiled function is traced on its first call, so each place is met once, not once per step.
"""

from __future__ import annotations

import sys

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like

LAX, PALLAS, EXPORT = "jax.lax", "jax.experimental.pallas.tpu", "jax._src.export._export"
FUNCTIONS = {
    LAX: ("rng_bit_generator", "rng_uniform"),
    PALLAS: (
        "prng_random_bits",
        "sample_block",
        "stateful_bernoulli",
        "stateful_bits",
        "stateful_normal",
        "stateful_uniform",
    ),
}
"""Functions that draw, by the module under whose name scripts call them. Those of `jax.random` have names of their own
for what they call."""
WORDS = ("threefry", "stablehlo.rng", "rng_bit_generator")
"""What stands in the text of a program that draws."""


def report_draws(module: Any, context: AdapterContext) -> None:
    """Report the draws that are made by functions of a module."""
    places: set[tuple[str, str, int]] = set()

    def report(phrase: str) -> None:
        place = (phrase, *context.project.nearest(sys._getframe(2)))
        if place not in places:
            places.add(place)
            context.recorder.event("uncontrolled", *place)

    if module.__name__ == EXPORT:
        _observe_exported(module, report, context)
    for name in FUNCTIONS.get(module.__name__, ()):
        phrase = "%s.%s" % (module.__name__, name)
        context.observe(module, name, before=lambda *args, phrase=phrase, **kwargs: report(phrase))


def _observe_exported(export: Any, report: Any, context: AdapterContext) -> None:
    """Programs that were read from bytes, whose draws were fixed when they were exported, elsewhere."""
    deserialize, call = export.deserialize, export.Exported.call
    drawing: list[Any] = []

    def deserialize_and_look(*args: Any, **kwargs: Any) -> Any:
        exported = deserialize(*args, **kwargs)
        with context.recorder.guarded("jax.export.deserialize"):
            text = exported.mlir_module()
            if any(word in text for word in WORDS):
                drawing.append(exported)
        return exported

    def call_and_report(self: Any, *args: Any, **kwargs: Any) -> Any:
        with context.recorder.guarded("jax.export.Exported.call"):
            if any(self is exported for exported in drawing):
                report("draws in a program that was deserialized")
        return call(self, *args, **kwargs)

    export.deserialize = wraps_like(deserialize_and_look, deserialize)
    export.Exported.call = wraps_like(call_and_report, call)

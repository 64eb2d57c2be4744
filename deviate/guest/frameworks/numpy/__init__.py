"""NumPy: the global generator, and those that scripts make of seeds, seed sequences and bit generators."""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any
from .global_generator import LIBRARY, Generators, patch_draws

MODULES = ("numpy",)


def install(module: Any, context: AdapterContext) -> None:
    random, streams = module.random, context.streams
    context.recorder.event("environment", {"numpy": module.__version__})
    if streams.is_active:
        Generators(streams, random)
        patch_draws(random, context, dir(random.RandomState))
    context.seeding.override(random, "seed", "numpy.random.seed", LIBRARY)
    if streams.is_active:
        from .project_generators import ProjectGenerators

        ProjectGenerators(context, random).patch()
    else:
        context.seeding.override(
            random, "default_rng", "numpy.random.default_rng", "numpy.default_rng", is_global=False
        )

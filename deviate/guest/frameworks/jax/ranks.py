"""Processes of JAX that compute together: the rank of each, as soon as `jax.distributed.initialize` knows it."""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any


def follow_ranks(distributed: Any, context: AdapterContext) -> None:
    """Record the rank of this process. Its backend is not asked, because that would initialise it."""

    def record_rank(result: object, state: Any, *args: Any, **kwargs: Any) -> None:
        context.recorder.set_rank(int(state.process_id), int(state.num_processes))

    context.observe(distributed.State, "initialize", after=record_rank)

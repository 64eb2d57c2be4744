"""Parallel work: records the order in which results reach the program, and makes it the same in every run.

The order is recorded while a trace is on. With the control `workers` at "one", tasks run one after the other, and
results arrive in the order in which the program requested them. Without either, nothing is patched.
"""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any

MODULES = (
    "concurrent.futures._base", "concurrent.futures.thread", "concurrent.futures.process", "multiprocessing.pool",
    "multiprocessing.queues", "queue", "threading", "asyncio.tasks", "joblib.parallel", "ray",
    "torch.utils.data.dataloader",
)  # fmt: skip


def install(module: Any, context: AdapterContext) -> None:
    if not context.trace.requested_level and context.controls.get("workers") != "one":
        return
    from .patches import patch  # most processes have neither

    patch(module, context)

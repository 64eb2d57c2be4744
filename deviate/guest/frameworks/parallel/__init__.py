"""Parallel work: records the order in which results reach the program, and makes it the same in every run.

The order is recorded while a trace is on. With the control `workers` at "one", tasks run one after the other, and
results arrive in the order in which the program requested them. Without either, this package is not loaded.
"""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any
from . import asynchronous, executors, futures, libraries, pools, queues, threads

RECORD, ORDER = "record", "order"
PATCHES = {
    "concurrent.futures._base": ((ORDER, futures.order_futures), (RECORD, futures.record_futures)),
    "concurrent.futures.thread": ((ORDER, executors.run_tasks_in_turn),),
    "concurrent.futures.process": ((ORDER, executors.deliver_in_order),),
    "multiprocessing.pool": ((RECORD, pools.record_pools), (ORDER, pools.order_pools)),
    "multiprocessing.queues": ((RECORD, queues.record_process_queues),),
    "queue": ((RECORD, queues.record_queues),),
    "threading": ((ORDER, threads.run_threads_in_turn), (RECORD, threads.number_threads)),
    "asyncio.tasks": ((ORDER, asynchronous.order_tasks), (RECORD, asynchronous.record_tasks)),
    "joblib.parallel": ((ORDER, libraries.order_joblib), (RECORD, libraries.record_joblib)),
    "ray": ((RECORD, libraries.record_ray),),
    "torch.utils.data.dataloader": ((ORDER, libraries.order_loaders), (RECORD, libraries.record_loaders)),
}
"""Patches of each module, inner ones first: what is recorded is the order that the program sees."""
MODULES = tuple(PATCHES)


def install(module: Any, context: AdapterContext) -> None:
    name = module.__name__
    for purpose, act in PATCHES[name]:
        if purpose == RECORD and context.trace.requested_level:
            act(module, context)
        elif purpose == ORDER and context.controls.get("workers") == "one":
            act(module, context)
            context.recorder.event("control", "workers", name, "one", "", 0, "set")

"""Parallel work: records the order in which results reach the program, and makes it the same in every run.

The order is recorded while a trace is on. With the control `workers` at "one", tasks run one after the other, and
results arrive in the order in which the program requested them. Without either, this package is not loaded.
"""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any
from . import completion, one_by_one, queues

RECORD, ORDER = "record", "order"
PATCHES = {
    "concurrent.futures._base": ((ORDER, one_by_one.order_futures), (RECORD, completion.record_futures)),
    "concurrent.futures.thread": ((ORDER, one_by_one.run_tasks_in_turn),),
    "concurrent.futures.process": ((ORDER, one_by_one.limit_workers),),
    "multiprocessing.pool": ((RECORD, completion.record_pools), (ORDER, one_by_one.limit_workers)),
    "multiprocessing.queues": ((RECORD, queues.record_process_queues),),
    "queue": ((RECORD, queues.record_queues),),
    "threading": ((ORDER, one_by_one.run_threads_in_turn), (RECORD, queues.number_threads)),
    "joblib.parallel": ((ORDER, one_by_one.limit_workers), (RECORD, completion.record_joblib)),
    "torch.utils.data.dataloader": ((ORDER, one_by_one.limit_workers), (RECORD, completion.record_loaders)),
}
"""Patches of each module, inner ones first: what is recorded is the order that the program sees."""
MODULES = tuple(PATCHES)


def install(module: Any, context: AdapterContext) -> None:
    name = module.__name__
    is_held, is_traced = context.controls.get("workers") == "one", bool(context.trace.requested_level)
    for purpose, act in PATCHES[name]:
        is_ordered = is_held and purpose == ORDER
        if is_ordered or (is_traced and purpose == RECORD):
            act(module, context)
        if is_ordered:
            context.recorder.event("control", "workers", name, "one", "", 0, "set")

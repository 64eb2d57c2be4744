"""Processes that PyTorch/XLA starts: each trains in a thread of its own, which is the one to follow, and has a rank.

Source: torch_xla/_internal/pjrt.py: also a single device has a thread, beside the main thread that waits for it.
"""

from __future__ import annotations

from functools import partial
from threading import Lock

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...pool_workers import leave_pool
from ...seeds import wraps_like

MODULES = ("torch_xla._internal.pjrt",)
SEVERAL = "draws in threads of several devices of one process"


def install(module: Any, context: AdapterContext) -> None:
    original = module._run_thread_per_device
    processes = Processes(module, context)

    def run_thread_per_device(
        local_rank: int, local_world_size: int, fn: Callable[[], Any], initializer_fn: Callable[[int, int], None]
    ) -> Any:
        leave_pool()
        return original(local_rank, local_world_size, partial(processes.run, fn), initializer_fn)

    module._run_thread_per_device = wraps_like(run_thread_per_device, original)


class Processes:
    """Follows the thread of the first device of this process."""

    def __init__(self, module: Any, context: AdapterContext) -> None:
        self.module = module  # it is imported before what it needs is complete
        self.context = context
        self.lock = Lock()
        self.is_recorded = False

    def run(self, fn: Callable[[], Any]) -> Any:
        """Train in the thread of a device."""
        runtime, devices = self.module.runtime, self.module.xm.get_xla_supported_devices()
        if len(devices) > 1:
            self._tell_several(fn)
        if str(self.module.torch_xla.device()) != devices[0]:
            return fn()
        self.context.recorder.set_rank(runtime.global_ordinal(), runtime.world_size())
        with self.context.follow_thread():
            return fn()

    def _tell_several(self, fn: Any) -> None:
        """Report once that threads share generators, and so draw in an order that depends on timing."""
        with self.lock:
            if self.is_recorded:
                return
            self.is_recorded = True
        while hasattr(fn, "func") or hasattr(fn, "fn"):
            fn = fn.func if hasattr(fn, "func") else fn.fn
        code = getattr(fn, "__code__", None)
        file = None if code is None else self.context.project.place(code)
        place = ("", 0) if code is None or file is None else (file, code.co_firstlineno)
        self.context.recorder.event("uncontrolled", SEVERAL, *place)

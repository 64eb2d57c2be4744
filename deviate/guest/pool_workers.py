"""Workers of pools and of data loaders: processes that take tasks in an order which is not the same in two runs."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

POOLS = (
    "multiprocessing.pool",
    "concurrent.futures.process",
    "loky.process_executor",
    "torch.utils.data._utils.worker",
)
"""Ends of the names of modules whose functions such a process runs."""
SHARED = ("multiprocessing.pool", "concurrent.futures.process", "concurrent.futures.thread", "loky.process_executor")
"""Those of pools in which chance decides who takes which task. Loaders of PyTorch deal out their batches in turn."""


def is_pool_worker() -> bool:
    """Whether this process is such a worker.

    Source: `multiprocessing.process.BaseProcess` keeps what a child runs in `_target`.
    """
    if _has_own_task:
        return False
    processes = sys.modules.get("multiprocessing.process")
    target = getattr(processes.current_process(), "_target", None) if processes is not None else None
    return str(getattr(target, "__module__", "")).endswith(POOLS)


def task_call(frame: FrameType | None) -> tuple[CodeType, int] | None:
    """Where a pool calls what runs in this frame; None outside of pools.

    It is the same for all tasks of a pool, and another one for the initializer of its workers and for imports.
    """
    while frame is not None:
        if str(frame.f_globals.get("__name__")).endswith(SHARED):
            return frame.f_code, frame.f_lasti
        frame = frame.f_back
    return None


def leave_pool() -> None:
    """This process takes one task alone, the one for its rank: a launcher has used a pool to start it."""
    global _has_own_task
    _has_own_task = True


_has_own_task = False

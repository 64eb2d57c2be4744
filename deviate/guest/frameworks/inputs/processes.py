"""Numbers of processes and threads that the project asks for."""

from __future__ import annotations

from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...stand_ins import stand_in
from .callers import Callers

MODULES = ("os", "threading")
FUNCTIONS = {"os": ("getpid", "getppid"), "threading": ("get_ident", "get_native_id")}


def install(module: Any, context: AdapterContext) -> None:
    callers = context.part(Callers)
    for name in FUNCTIONS[module.__name__]:
        _observe(module, name, callers)


def _observe(module: Any, name: str, callers: Callers) -> None:
    call = "%s.%s()" % (module.__name__, name)

    def record(frame: FrameType, number: int) -> None:
        callers.inputs.record("process-id", call, str(number), callers.inputs.place(frame))

    callers.observe(module, name, record, stand_in)

"""Hugging Face Transformers: records values that a `Trainer` logs, when it passes them to its callbacks."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any
from .managed import Managed

MODULES = ("transformers", "transformers.trainer_callback")


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "transformers":
        context.recorder.event("environment", {"transformers": module.__version__})
    else:
        _record(module.CallbackHandler, context)


def _record(handler: Any, context: AdapterContext) -> None:
    """An epoch is a step, which ends when the next one begins: evaluation and final values follow its end."""
    managed = Managed(context)

    def log(self: Any, args: Any, state: Any, control: Any, logs: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:  # other processes compute the same values and do not show them
            managed.report(logs)

    managed.patch(handler, "on_train_begin", before=lambda self, *args, **kwargs: managed.begin(self))
    managed.patch(handler, "on_epoch_begin", before=lambda self, *args, **kwargs: managed.step(self))
    managed.patch(handler, "on_log", before=log)
    managed.patch(handler, "on_train_end", after=lambda result, self, *args, **kwargs: managed.end(self))

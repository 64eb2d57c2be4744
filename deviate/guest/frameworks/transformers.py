"""Hugging Face Transformers: what a `Trainer` logs, taken from where it hands it to its callbacks."""

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
    """An epoch is a step, up to the begin of the next one: evaluation and the final figures follow its end."""
    managed = Managed(context)

    def log(self: Any, args: Any, state: Any, control: Any, logs: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:  # the others compute the same and show nothing
            managed.report(logs)

    managed.patch(handler, "on_train_begin", before=lambda self, *args, **kwargs: managed.begin(self))
    managed.patch(handler, "on_epoch_begin", before=lambda self, *args, **kwargs: managed.step(self))
    managed.patch(handler, "on_log", before=log)
    managed.patch(handler, "on_train_end", after=lambda result, self, *args, **kwargs: managed.end(self))

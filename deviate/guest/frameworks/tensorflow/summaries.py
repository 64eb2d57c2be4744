"""Scalars in TensorFlow graph summaries, whose values are available in Python after the session has run."""

from __future__ import annotations

from sys import _getframe
from threading import get_ident

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...recorder import Running
from ..managed import Managed


def patch_summaries(writer: Any, context: AdapterContext) -> None:
    """Record the scalars in summary messages that are written."""
    managed = Managed(context)
    folders: list[str] = []

    def add_summary(self: Any, summary: Any, global_step: Any = None) -> None:
        if global_step is not None:
            _follow(context, int(global_step))

    def add_event(self: Any, event: Any, step: Any) -> None:
        scalars = [value for value in event.summary.value if value.WhichOneof("value") == "simple_value"]
        if scalars:
            run = _run(str(self.event_writer.get_logdir()).rstrip("/"), folders)
            managed.report({run + value.tag: value.simple_value for value in scalars})

    managed.patch(writer, "add_summary", before=add_summary)
    managed.patch(writer, "_add_event", before=add_event)


def _run(folder: str, folders: list[str]) -> str:
    """Estimators write `loss` of the evaluation to a subfolder of the training's: it is recorded as `eval/loss`."""
    if folder not in folders:
        folders.append(folder)
    outer = next((other for other in folders if folder.startswith(other + "/")), None)
    return "" if outer is None else folder[len(outer) + 1 :] + "/"


class Summarised(Running):
    """A managed loop that reports its steps by the summaries that it writes."""

    __slots__ = ()


def _follow(context: AdapterContext, step: int) -> None:
    """Whether to follow the summaries: Estimators count steps in a session, whereas Keras counts epochs."""
    recorder, frame_now = context.recorder, _getframe()
    number, frame = context.project.managed_loop(frame_now)
    if frame is None:
        return
    stack = recorder.running.get(get_ident(), [])
    recorder.prune(stack, frame_now)
    loop = next((loop for loop in stack if loop.id == number), None)
    if loop is None:
        loop = Summarised(number, id(frame), frame.f_code)
        recorder.begin(loop)
    if isinstance(loop, Summarised) and step > loop.step:
        loop.step = step
        recorder.main_step(number, step)

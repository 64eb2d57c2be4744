"""Sessions of `tf.compat.v1`: the order of their operations is not controlled, which is reported.

Seeds of graphs are routed by `draws`. Weights of graphs are neither hashed nor flipped. Scalars in graph summaries are
available in Python after the session has run, and are recorded when they are written.
"""

from __future__ import annotations

import sys
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ..managed import Managed

ORDER = "tf.compat.v1.Session: order of operations"


def report_sessions(context: AdapterContext) -> None:
    """Report the first session once: the order of its operations is not controlled."""
    session: Any = sys.modules["tensorflow.python.client.session"]
    lines: list[tuple[str, int]] = []

    def begin(*args: Any, **kwargs: Any) -> None:
        if not lines:
            lines.append(context.project.nearest(_getframe(1)))
            context.recorder.event("uncontrolled", ORDER, *lines[0])

    if context.controls or context.streams.is_active:
        context.observe(session.BaseSession, "__init__", after=begin)


def patch_summaries(writer: Any, context: AdapterContext) -> None:
    """Record the scalars in summary messages that are written."""
    managed = Managed(context)

    def add_event(self: Any, event: Any, step: Any) -> None:
        scalars = [value for value in event.summary.value if value.WhichOneof("value") == "simple_value"]
        if scalars:
            managed.report({value.tag: value.simple_value for value in scalars})

    managed.patch(writer, "_add_event", before=add_event)

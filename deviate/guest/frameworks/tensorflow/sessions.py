"""Sessions of `tf.compat.v1`: reads and flips the weights of their graphs through the session, without new operations.

Seeds of graphs are routed by `draws`; the order of operations in a session is not controlled. Scalars in graph
summaries are available in Python after the session has run, and are recorded when they are written.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...observations import record_weights
from ...observers.arrays import Arrays
from ...observers.bits import OneBit
from ..managed import Managed

FRAMEWORK = "tensorflow"
ORDER = "tf.compat.v1.Session: order of operations"
TRAINABLE = "trainable_variables"


class Sessions:
    """Open sessions whose graphs have an optimizer."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.recorder = context.recorder
        self.arrays = Arrays()
        self.one_bit = OneBit(context.flip, context.controls.get("one-bit"), self.arrays)
        self.open: list[Any] = []
        self.graphs: Any = weakref.WeakSet()
        self.is_warned = False
        self.is_busy = False

    def patch(self) -> None:
        session: Any = sys.modules["tensorflow.python.client.session"]
        optimizer: Any = sys.modules["tensorflow.python.training.optimizer"]
        observe = self.context.observe
        observe(session.BaseSession, "__init__", after=lambda result, *call, **kwargs: self._act(self._begin, *call))
        observe(session.BaseSession, "run", before=partial(self._act, self._run))
        observe(session.BaseSession, "close", before=partial(self._act, self._close))
        observe(optimizer.Optimizer, "apply_gradients", before=partial(self._act, self._optimize))
        self.recorder.at_main_end.append(lambda: self._tell_all("loop"))
        self.recorder.at_close.append(lambda: self._tell_all("exit"))

    def _act(self, act: Any, subject: Any, *args: Any, **kwargs: Any) -> None:
        if self.is_busy:
            return
        self.is_busy = True
        try:
            act(subject)
        except Exception as error:
            self.recorder.fault("session", error)
        finally:
            self.is_busy = False

    def _begin(self, session: Any) -> None:
        self.open.append(weakref.ref(session))
        if not self.is_warned and (self.context.controls or self.context.streams.is_active):
            self.is_warned = True
            self.recorder.event("uncontrolled", ORDER, *self.context.project.nearest(_getframe()))

    def _optimize(self, optimizer: Any) -> None:
        ops: Any = sys.modules["tensorflow.python.framework.ops"]
        self.graphs.add(ops.get_default_graph())

    def _run(self, session: Any) -> None:
        """Flip the bit once the weights have values, as they are initialised in an earlier call."""
        if not self.one_bit.is_due or session.graph not in self.graphs:
            return
        try:
            weights = _weights(session)
        except Exception:  # no values yet; the call by the script raises the right error
            return
        floats = [weight for weight in weights if "float" in weight[0].dtype.name]
        flipped = self.one_bit.flip(FRAMEWORK, [(variable.name, array, array.shape) for variable, array in floats])
        if flipped is not None:
            floats[flipped[0]][0].load(flipped[1], session)

    def _close(self, session: Any) -> None:
        self._tell(session, "exit")
        self.open = [reference for reference in self.open if reference() not in (None, session)]

    def _tell_all(self, moment: str) -> None:
        for reference in self.open:
            self._act(lambda session: self._tell(session, moment), reference())

    def _tell(self, session: Any, moment: str) -> None:
        if session is None or session._closed or session.graph not in self.graphs:
            return
        try:
            weights = _weights(session)
        except Exception:  # a graph without values, or a session whose server is gone
            return
        named = [("%d.%s" % (number, variable.name), array, True) for number, (variable, array) in enumerate(weights)]
        record_weights(self.recorder, self.arrays, FRAMEWORK, moment, named)


def _weights(session: Any) -> list[tuple[Any, Any]]:
    """The trainable variables of a session's graph with their values, read without adding operations."""
    numpy = sys.modules["numpy"]
    variables = session.graph.get_collection(TRAINABLE)
    values = session.run([variable._as_graph_element() for variable in variables])
    return [(variable, numpy.asarray(value)) for variable, value in zip(variables, values)]


# ---------------------------------------------------------------- summaries


def patch_summaries(writer: Any, context: AdapterContext) -> None:
    """Record the scalars in summary messages that are written."""
    managed = Managed(context)

    def add_event(self: Any, event: Any, step: Any) -> None:
        scalars = [value for value in event.summary.value if value.WhichOneof("value") == "simple_value"]
        if scalars:
            managed.report({value.tag: value.simple_value for value in scalars})

    managed.patch(writer, "_add_event", before=add_event)

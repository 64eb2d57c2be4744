"""Draws of TensorFlow: every operation gets its two seeds from one function, which is replaced by one with streams.

The first seed is that of the stream; the second counts the requests of the stream, or is the seed of the operation. The
numbers of a stream are thus independent of how often other streams are used.
"""

from __future__ import annotations

import sys
from sys import _getframe
from threading import current_thread
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...requests import Given, Requests
from ...seeds import wraps_like
from ...streams import spell_seed
from .pipelines import Pipelines
from .purpose import Purpose

LIBRARY = "tensorflow"
REPLICAS = ("_MirroredReplicaThread",)
"""Threads that strategies of distribution let run in turn, while the main thread waits."""
LIMIT = 2**31 - 1
"""What TensorFlow takes its seeds modulo."""


class Draws:
    """Replaces `get_seed` of `tensorflow.python.framework.random_seed`, for eager mode and graphs.

    Source: tensorflow/python/framework/random_seed.py of TensorFlow 2.21; operations of `tf.compat.v1` ask there too.
    """

    def __init__(
        self, context: AdapterContext, purpose: Purpose, random_seed: Any, is_deterministic: Callable[[], bool]
    ) -> None:
        self.context = context
        self.purpose = purpose
        self.is_deterministic = is_deterministic
        self.original = random_seed.get_seed
        self.requests = Requests(context.streams, LIBRARY) if context.streams.is_active else None
        self.pipelines = Pipelines(context)
        self.seen: set[tuple[str, str, str, int]] = set()
        if self.requests is not None:
            self.pipelines.patch(sys.modules["tensorflow.python.data.ops.dataset_ops"].DatasetV2)

        def get_seed(op_seed: Any) -> Any:
            try:
                return self.pair(op_seed, _getframe(1))
            except Exception as error:
                context.recorder.fault("get_seed", error)
                return self.original(op_seed)

        random_seed.get_seed = wraps_like(get_seed, self.original)

    def pair(self, op_seed: Any, frame: FrameType) -> Any:
        """The two seeds of an operation that is created or run in this frame."""
        streams, requests = self.context.streams, self.requests
        if self.pipelines.is_numbering:
            return op_seed, op_seed
        if op_seed is not None and not isinstance(op_seed, Given):
            self._record(op_seed, frame)
        if requests is None or streams.paused:
            return self.original(op_seed)
        if not streams.is_routed_thread() and type(current_thread()).__name__ not in REPLICAS:
            self._tell("random operations in another thread", frame)
            return self.original(op_seed)
        stream, is_parallel = self.purpose.draw(frame)
        is_numbered = op_seed is None and requests.script_seeds.get(stream) is None and self.pipelines.meet(frame)
        if is_parallel and not is_numbered and not self.is_deterministic():
            self._tell("random numbers in parallel threads of tf.data", frame)  # which race for its seeds
        if op_seed is None:
            seed, count = requests.next(stream)
            return seed % LIMIT, count
        if not hasattr(type(op_seed), "__index__"):  # a tensor, whose value is known when it runs
            return requests.seed(stream, "tensor") % LIMIT, op_seed
        return requests.seed(stream, spell_seed(op_seed)) % LIMIT, op_seed % LIMIT or LIMIT

    def _record(self, op_seed: Any, frame: FrameType) -> None:
        call = self.purpose.name(frame) + ".seed"
        if self._is_first(call, repr(op_seed), frame):
            self.context.seeding.record(call, op_seed)

    def _is_first(self, event: str, value: str, frame: FrameType) -> bool:
        key = (event, value, *self.context.project.nearest(frame))
        is_first = key not in self.seen
        self.seen.add(key)
        return is_first

    def _tell(self, event: str, frame: FrameType) -> None:
        if self._is_first(event, "", frame):
            self.context.recorder.event("uncontrolled", event, *self.context.project.nearest(frame))

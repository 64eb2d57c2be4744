"""Threads of replicas, which strategies of distribution run one at a time while the thread that started them waits.

The thread that runs takes the place of the one that waits: its draws are routed, and its calls continue those of the
other thread.

Source: tensorflow/python/distribute/mirrored_run.py of TensorFlow 2.21.
"""

from __future__ import annotations

import sys
from sys import _getframe
from threading import current_thread, get_ident

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like

MODULE = "tensorflow.python.distribute."


class Replicas:
    """Follows which thread runs.

    Attributes:
        has_strategy: whether a strategy has been created.
        is_running: whether the current code runs in a thread of a replica.
    """

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.has_strategy = False
        self.is_running = False

    def patch(self) -> None:
        """Patch modules of TensorFlow that are loaded already."""
        strategies, threads = sys.modules.get(MODULE + "distribute_lib"), sys.modules.get(MODULE + "mirrored_run")
        if strategies is None or threads is None:
            return
        self.context.observe(strategies.StrategyBase, "__init__", before=self._note_strategy)
        self.context.observe(threads._MirroredReplicaThread, "__init__", after=self._prepare)
        replica: Any = threads._MirroredReplicaContext
        replica._merge_call = self._merging(replica._merge_call)
        workers = sys.modules.get(MODULE + "collective_all_reduce_strategy")
        extended = getattr(workers, "CollectiveAllReduceExtended", None)
        self.context.observe(extended, "_initialize_multi_worker", after=self._record_rank)

    def _note_strategy(self, strategy: Any, *args: Any, **kwargs: Any) -> None:
        self.has_strategy = True

    def _record_rank(self, result: None, strategy: Any, *args: Any, **kwargs: Any) -> None:
        """A strategy has read which of several workers this process is: the chief has number 0."""
        self.context.recorder.set_rank(int(strategy._id_in_cluster), int(strategy._num_workers))

    def _prepare(self, result: None, thread: Any, *args: Any, **kwargs: Any) -> None:
        """A thread has been created, by the thread that will wait for it."""
        if self.context.streams.thread == get_ident():
            thread.main_fn = self._running(thread, thread.main_fn, _getframe(2))

    def _running(self, thread: Any, function: Any, waiting: Any) -> Any:
        turn = thread._deviate_turn = Turn(self, waiting)
        del waiting

        def run(*args: Any, **kwargs: Any) -> Any:
            turn.begin()
            try:
                return function(*args, **kwargs)
            finally:
                turn.end()
                turn.waiting = None

        return run

    def _merging(self, original: Any) -> Any:
        """The method in which a thread of a replica lets the one that waits for it continue."""

        def _merge_call(self_: Any, *args: Any, **kwargs: Any) -> Any:
            turn = getattr(current_thread(), "_deviate_turn", None)
            if turn is None:
                return original(self_, *args, **kwargs)
            turn.end()
            try:
                return original(self_, *args, **kwargs)
            finally:
                turn.begin()

        return wraps_like(_merge_call, original)


class Turn:
    """Turns of one thread, which continues in the stream in which it was interrupted."""

    def __init__(self, replicas: Replicas, waiting: Any) -> None:
        self.replicas = replicas
        self.waiting = waiting
        self.main = get_ident()
        self.stream: str | None = None
        self.stream_of_main = ""

    def begin(self) -> None:
        context, streams = self.replicas.context, self.replicas.context.streams
        with context.recorder.guarded("turn of a replica"):
            self.stream_of_main = streams.routed_stream
            streams.thread = get_ident()
            context.project.waiting = get_ident(), self.waiting
            self.replicas.is_running = True
            self._continue_in(self.stream)

    def end(self) -> None:
        context, streams = self.replicas.context, self.replicas.context.streams
        with context.recorder.guarded("turn of a replica"):
            self.stream = streams.routed_stream
            self._continue_in(self.stream_of_main)
            self.replicas.is_running = False
            context.project.waiting = None
            streams.thread = self.main

    def _continue_in(self, stream: str | None) -> None:
        streams = self.replicas.context.streams
        if stream is not None and stream != streams.routed_stream:
            streams.leave(stream)

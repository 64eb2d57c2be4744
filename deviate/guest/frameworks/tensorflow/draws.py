"""Draws of TensorFlow: every operation gets its two seeds from one function, which is replaced by one with streams.

The first seed is that of the stream; the second counts the requests of the stream, or is the seed of the operation. The
numbers of a stream are thus independent of how often other streams are used.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...callback_threads import callback_threads_of
from ...regions import Held
from ...requests import Given, Requests
from ...seeds import wraps_like
from ...streams import spell_seed
from .purpose import Purpose

LIBRARY = "tensorflow"
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
        if not streams.is_routed_thread():
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


# ---------------------------------------------------------------- functions of datasets

# Without a seed of the script, they draw different numbers in every epoch.
#
# A random operation with seeds in a function of `tf.data` restarts with each iterator: every epoch would see the same
# augmentations, and Keras would train in the same order. Each element therefore gets a number that depends on the
# iteration, from which operations draw statelessly; this also works if several threads run the function.

SEED = 1
"""The numbers of the elements are the same in all runs; what varies are the seeds of the operations."""
PYTHON = "tensorflow.python."
FUNCTIONS = ("random_uniform", "random_normal", "truncated_normal", "random_shuffle")
"""Functions of TensorFlow whose operations have stateless versions."""


class Pipelines:
    """Replaces `Dataset.map`, and random operations that have a stateless version."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.number: Any = None
        self.mapping = 0
        self.met = 0
        self.is_numbering = False
        self.stateless = sys.modules.get(PYTHON + "ops.stateless_random_ops")
        self.ops = sys.modules.get(PYTHON + "framework.ops")

    def patch(self, dataset: Any) -> None:
        operations = sys.modules[PYTHON + "ops.gen_random_ops"]
        for name, version in self._versions().items():
            setattr(operations, name, self._stateless_call(getattr(operations, name), version))
        dataset.map = self._map(dataset, dataset.map)

    def meet(self, frame: FrameType) -> bool:
        """Whether a random operation without a seed, created in this frame, will draw by element numbers."""
        is_numbered = bool(self.mapping or self.number is not None) and frame.f_code.co_name in FUNCTIONS
        self.met += is_numbered
        return is_numbered

    def _map(self, dataset: Any, original: Any) -> Any:
        structured = sys.modules[PYTHON + "data.ops.structured_function"]

        def map(self_: Any, map_func: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
            before = self.met
            with Held(self, "mapping", self.mapping + 1):
                mapped = original(self_, map_func, *args, **kwargs)
            if self.met == before or self.number is not None:
                return mapped
            with self.context.recorder.guarded("Dataset.map"):
                source = dataset.zip((self_, self._numbers(dataset)))
                numbered = original(source, self._pass_number(map_func, structured), *args, **kwargs)
                numbered._deviate_input = self_
                return numbered
            return mapped

        return wraps_like(map, original)

    def _numbers(self, dataset: Any) -> Any:
        with Held(self, "is_numbering", True):
            return dataset.random(SEED, rerandomize_each_iteration=True)

    def _pass_number(self, function: Any, structured: Any) -> Any:
        """Wrap a dataset function so that it also receives the number of its element."""
        context = structured.autograph_ctx.control_status_ctx()

        def call(element: Any, number: Any) -> Any:
            arguments = element if structured._should_unpack(element) else (element,)
            with Held(self, "number", number):
                return structured.autograph.tf_convert(function, context)(*arguments)

        return wraps_like(call, structured.StructuredFunctionWrapper.__init__)

    def _stateless_call(self, original: Any, version: Callable[..., Any]) -> Any:
        def operation(*args: Any, **kwargs: Any) -> Any:
            if self.number is None or not kwargs.get("seed2"):
                return original(*args, **kwargs)
            seeds = (kwargs.pop("seed"), kwargs.pop("seed2"))
            with self.ops.name_scope(kwargs.pop("name", None) or "numbered"):  # type: ignore[union-attr]
                return version(*args, seed=[self.number ^ seeds[0], seeds[1]], **kwargs)

        return wraps_like(operation, original)

    def _versions(self) -> dict[str, Callable[..., Any]]:
        """The stateless version of each operation, with equal arguments except for the seed."""
        stateless: Any = self.stateless
        uniform = stateless.stateless_random_uniform

        def of_shape(version: Any) -> Any:
            return lambda shape, dtype, seed: version(shape, seed, dtype=dtype)

        return {
            "random_uniform": of_shape(uniform),
            "random_uniform_int": lambda shape, low, high, seed: uniform(shape, seed, low, high, low.dtype),
            "random_standard_normal": of_shape(stateless.stateless_random_normal),
            "truncated_normal": of_shape(stateless.stateless_truncated_normal),
            "random_shuffle": stateless.stateless_shuffle,
        }


# ---------------------------------------------------------------- Python functions in graphs

# `py_function`, `numpy_function`, and generators of datasets: TensorFlow calls them in its own threads. Their draws
# from NumPy and `random` belong to the stream `augment`.

LOOKS = 3
"""How often a function that several threads call is looked at for draws."""


def patch_callbacks(
    registry: Any, context: AdapterContext, purpose: Purpose, is_deterministic: Callable[[], bool]
) -> None:
    """Replace the registry class through which all of them are created and called."""
    original, streams = registry.__call__, context.streams
    places: dict[Any, tuple[str, int]] = {}
    looks: dict[Any, int] = {}

    def register(token: Any, registry: Any, func: Any) -> None:
        callback_threads_of(streams)
        if streams.is_routed_thread() and purpose.is_parallel(_getframe()) and not is_deterministic():
            places[token], looks[token] = context.project.nearest(_getframe()), LOOKS

    def __call__(self: Any, token: Any, *args: Any) -> Any:  # noqa: N807
        callback_threads = callback_threads_of(streams)
        before = callback_threads.begin("augment")
        marks = _marks(context) if looks.get(token) else None
        try:
            return original(self, token, *args)
        finally:
            if marks is not None and before is not None:
                _look(token, marks)
            callback_threads.end(before)

    def _look(token: Any, marks: list[Any]) -> None:
        looks[token] -= 1
        if _marks(context) != marks:
            looks[token] = 0
            context.recorder.event("uncontrolled", "draws of Python in parallel threads of tf.data", *places[token])

    context.observe(registry, "insert", after=register)
    registry.__call__ = wraps_like(__call__, original)


def _marks(context: AdapterContext) -> list[Any]:
    return [bank.fingerprint(bank.get_state()) for bank in context.streams.banks]

"""Random functions of datasets: without a seed of the script, they draw different numbers in every epoch.

A random operation with seeds in a function of `tf.data` restarts with each iterator: every epoch would see the same
augmentations, and Keras would train in the same order. Each element therefore gets a number that depends on the
iteration, from which operations draw statelessly; this also works if several threads run the function.
"""

from __future__ import annotations

import sys
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like

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
        if not hasattr(dataset, "random") or not hasattr(self.stateless, "stateless_shuffle"):
            return  # TensorFlow up to 2.8
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
            self.mapping += 1
            try:
                mapped = original(self_, map_func, *args, **kwargs)
            finally:
                self.mapping -= 1
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
        self.is_numbering = True
        try:
            return dataset.random(SEED, rerandomize_each_iteration=True)
        finally:
            self.is_numbering = False

    def _pass_number(self, function: Any, structured: Any) -> Any:
        """Wrap a dataset function so that it also receives the number of its element."""
        context = structured.autograph_ctx.control_status_ctx()

        def call(element: Any, number: Any) -> Any:
            arguments = element if structured._should_unpack(element) else (element,)
            before, self.number = self.number, number
            try:
                return structured.autograph.tf_convert(function, context)(*arguments)
            finally:
                self.number = before

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

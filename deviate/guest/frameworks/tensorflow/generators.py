"""TensorFlow generators that scripts create, and stateless operations that get explicit seeds.

A `tf.random.Generator` of the script has a state per stream; an explicit seed for a stateless operation is mixed with
the seed of the stream.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like
from ...streams import STREAMS
from .purpose import Purpose
from .replicas import Replicas

INTERNAL = "tensorflow.python."


class ImportedNames:
    """Modules from which scripts import functions, as currently loaded; modules loaded later import the replacement."""

    def __init__(self) -> None:
        self.places: dict[int, list[tuple[Any, str]]] = {}
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "tensorflow" and not name.startswith(INTERNAL):
                for attribute, value in list(getattr(module, "__dict__", {}).items()):
                    if callable(value):
                        self.places.setdefault(id(value), []).append((module, attribute))

    def replace(self, original: Any, new: Any) -> None:
        """Replace a function under all its public names."""
        library = sys.modules.get(original.__module__)
        places = list(self.places.get(id(original), ()))
        if getattr(library, original.__name__, None) in (original, new):
            places.append((library, original.__name__))
        for module, attribute in places:
            setattr(module, attribute, new)


LIBRARY = "tensorflow.Generator"
STATELESS = "tensorflow.stateless"
STATELESS_MODULES = (
    "tensorflow.python.ops.stateless_random_ops",
    "tensorflow.python.ops.image_ops_impl",
    "tensorflow.python.ops.random_crop_ops",
    "tensorflow.python.ops.nn_ops",
)
"""Where they are; what makes seeds of seeds has other names, and need not be mixed."""
INDEX_SHUFFLE = "index_shuffle"
"""The one of them that is named otherwise."""
BITS = 2**31 - 1


class TensorFlowGenerators:
    """Routes generators of the project, and the global one."""

    def __init__(self, context: AdapterContext, purpose: Purpose) -> None:
        self.context = context
        self.purpose = purpose
        self.replicas = context.part(Replicas)
        self.ops = sys.modules["tensorflow.python.framework.ops"]
        self.module: Any = sys.modules["tensorflow.python.ops.stateful_random_ops"]
        self.original = self.module.Generator
        self.Routed = self._routed_class()

    def patch(self, names: ImportedNames) -> None:
        original = self.original
        for name in ("from_seed", "from_non_deterministic_state"):
            setattr(original, name, classmethod(self._making(getattr(original, name).__func__, name)))
        original.reset_from_seed = self._resetting(original.reset_from_seed)
        find = self.module.get_global_generator

        def get_global_generator() -> Any:
            if self.module.global_generator is None:
                with self.ops.init_scope():
                    self.module.global_generator = original.from_non_deterministic_state()
            return find()

        names.replace(find, wraps_like(get_global_generator, find))

    def _making(self, make: Any, name: str) -> Any:
        def making(cls: Any, *args: Any, **kwargs: Any) -> Any:
            seed_value = (args[0] if args else kwargs.get("seed")) if name == "from_seed" else None
            is_own = self.purpose.is_asked_by_project(_getframe(1))
            if not self.context.streams.is_routed_thread() or (
                seed_value is not None and (not is_own or _is_tensor(seed_value))
            ):
                return make(cls, *args, **kwargs)
            if seed_value is not None:
                self.context.seeding.record("tensorflow.random.Generator.%s" % name, seed_value)
            alg = kwargs.get("alg", args[-1] if len(args) > (name == "from_seed") else None)
            generator = original_from_seed(cls, 0, *(() if alg is None else (alg,)))
            generator._deviate_key, generator._deviate_states = self.context.seeding.key(seed_value), {}
            if self.replicas.has_strategy:  # replicas cannot create them one by one
                for stream in STREAMS:
                    self._create_state(generator, stream)
            if type(generator) is self.original:
                generator.__class__ = self.Routed
            return generator

        original_from_seed = self.original.from_seed.__func__
        original_from_seed = getattr(original_from_seed, "__wrapped__", original_from_seed)
        return wraps_like(making, make)

    def _resetting(self, reset: Any) -> Any:
        def reset_from_seed(self_: Any, seed: Any) -> None:
            if type(self_) is not self.Routed or _is_tensor(seed):
                reset(self_, seed)
                return
            self.context.seeding.record("tensorflow.random.Generator.reset_from_seed", seed)
            self_._deviate_key = self.context.seeding.key(seed)
            for stream, state in self_._deviate_states.items():
                state.assign(self._begin(self_, stream))

        return wraps_like(reset_from_seed, reset)

    def _create_state(self, generator: Any, stream: str) -> None:
        with self.ops.init_scope():
            generator._deviate_states[stream] = generator._create_variable(
                self._begin(generator, stream), dtype=self.module.STATE_TYPE, trainable=False
            )

    def _begin(self, generator: Any, stream: str) -> Any:
        seed = self.context.streams.seed(LIBRARY, generator._deviate_key, stream)
        return self.module.create_rng_state(seed, generator.algorithm)

    def _routed_class(self) -> Any:
        """A subclass whose methods work on the state of the current stream."""
        generators = self

        def state(self: Any) -> Any:
            streams = generators.context.streams
            states = self.__dict__.get("_deviate_states")
            if states is None or not streams.is_routed_thread():
                return self.__dict__.get("_deviate_own", self.__dict__.get("_state_var"))
            stream = generators.purpose.stream(_getframe(1))
            streams.tell_drawn(LIBRARY, stream)
            if stream not in states:
                generators._create_state(self, stream)
            return states[stream]

        members = {"_state_var": property(state, lambda self, value: self.__dict__.update(_deviate_own=value))}
        routed = type("Generator", (self.original,), members)
        routed.__module__, routed.__qualname__ = self.original.__module__, self.original.__qualname__
        return routed


class Stateless:
    """Mixes the seed of the stream into explicit seeds of stateless operations."""

    def __init__(self, context: AdapterContext, purpose: Purpose) -> None:
        self.context = context
        self.purpose = purpose

    def patch(self, names: ImportedNames) -> None:
        """Replace the public functions; calls by TensorFlow itself are passed through."""
        for module in STATELESS_MODULES:
            for name, original in list(getattr(sys.modules.get(module), "__dict__", {}).items()):
                is_stateless = name.startswith("stateless_") or name == INDEX_SHUFFLE
                if is_stateless and getattr(original, "__module__", "") == module:
                    names.replace(original, self._mixed_call(original))

    def _mixed_call(self, original: Any) -> Any:
        import inspect

        signature = inspect.signature(original)

        def operation(*args: Any, **kwargs: Any) -> Any:
            frame = _getframe(1)
            if not self.context.streams.is_routed_thread() or not self.purpose.is_asked_by_project(frame):
                return original(*args, **kwargs)
            with self.context.recorder.guarded(original.__name__):
                bound = signature.bind(*args, **kwargs)
                bound.arguments["seed"] = self._mix_seed(bound.arguments["seed"], frame, original)
                args, kwargs = bound.args, bound.kwargs
            return original(*args, **kwargs)

        return wraps_like(operation, original)

    def _mix_seed(self, seed: Any, frame: FrameType, original: Any) -> Any:
        tensorflow = sys.modules["tensorflow"]
        streams, stream = self.context.streams, self._stream(original, frame)
        streams.tell_drawn(STATELESS, stream)
        tensor = tensorflow.convert_to_tensor(seed)
        mask = tensorflow.constant([streams.seed(STATELESS, None, stream) & BITS, 0], tensor.dtype)
        return tensorflow.bitwise.bitwise_xor(tensor, mask)

    def _stream(self, original: Any, frame: FrameType) -> str:
        module = str(original.__module__)
        if module.endswith("image_ops_impl"):
            return "augment"
        return "dropout" if module.endswith("nn_ops") else self.purpose.stream(frame)


def _is_tensor(value: Any) -> bool:
    """Whether the seed is a tensor, whose value is known when the graph runs."""
    return hasattr(value, "graph") or type(value).__name__ in ("Tensor", "SymbolicTensor")

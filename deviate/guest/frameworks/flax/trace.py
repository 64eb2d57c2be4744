"""Traces Flax nnx: compiled functions, which change models in place, and updates outside of them."""

from __future__ import annotations

import sys
from types import FrameType

from ...annotations import Any
from ...seeds import wraps_like
from ..jax.trace import JaxTrace, input_name
from ..jax.trees import is_concrete, named_leaves
from ..jax.weights import JaxWeights

COMPILATION = "flax.nnx.transforms.compilation"


class NnxTrace:
    """Traces models that an nnx optimizer was created for."""

    def __init__(self, jax_trace: JaxTrace, weights: JaxWeights) -> None:
        self.jax_trace = jax_trace
        self.weights = weights
        self.trace = jax_trace.trace
        self.steps = jax_trace.steps
        self._tell = self.steps.attempt
        self.recorded: set[str] = set()
        self.is_training = False
        """Whether an optimizer has updated a model in the function that is being traced."""
        self.is_clean = weights.programs.is_clean

    def patch(self, optimizer: Any) -> None:
        wrapped = getattr(sys.modules.get(COMPILATION), "JitWrapped", None)
        if wrapped is not None:
            wrapped.__call__ = self._calling(wrapped.__call__)

        def update(*args: Any, **kwargs: Any) -> None:
            if self.is_clean():
                frame = sys._getframe(1)
                self._tell(lambda: self.jax_trace.record_update(self._models(), frame))
            else:
                self.is_training = True

        self.jax_trace.context.observe(optimizer, "update", after=update)

    def _calling(self, original: Any) -> Any:
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self.is_clean():
                return original(function, *args, **kwargs)
            frame = sys._getframe(1)
            trains, self.is_training = function.__dict__.get("_deviate_trains"), False
            if trains is not False:
                self._tell(lambda: self._before(args, kwargs, frame))
            result = original(function, *args, **kwargs)
            trains = function.__dict__["_deviate_trains"] = bool(trains or self.is_training)
            if trains:
                self._tell(lambda: self._after(result, frame))
            return result

        return wraps_like(__call__, original)

    def _before(self, args: Any, kwargs: Any, frame: FrameType) -> None:
        if not self.steps.wants_steps:
            return
        place = self.trace.place(frame)
        self.steps.shared_states(place)
        weights = [(name, leaf) for name, leaf in named_leaves(self._models()) if is_concrete(leaf)]
        self.steps.weights([pair for pair in weights if pair[0] not in self.recorded], place)
        self.recorded.update(name for name, _ in weights)
        arguments = [pair for pair in [*enumerate(args), *kwargs.items()] if not _is_graph(pair[1])]
        leaves = [(input_name(str(key), name), leaf) for key, each in arguments for name, leaf in named_leaves(each)]
        self.steps.batch([(name, leaf) for name, leaf in leaves if is_concrete(leaf)], place)

    def _after(self, result: Any, frame: FrameType) -> None:
        self.jax_trace.record_losses(named_leaves(result), self.trace.place(frame))
        self.jax_trace.record_update(self._models(), frame)

    def _models(self) -> Any:
        models = [(model(), weights_of) for model, weights_of, _ in self.weights.models]
        trees = [weights_of(model) for model, weights_of in models if model is not None]
        return trees[0] if len(trees) == 1 else trees


def _is_graph(value: Any) -> bool:
    """Whether an object is an nnx model, optimizer or metric, all of which are trees as well."""
    module = sys.modules["flax.nnx"]
    return isinstance(value, (module.Module, module.Optimizer, getattr(module, "Pytree", module.Module)))

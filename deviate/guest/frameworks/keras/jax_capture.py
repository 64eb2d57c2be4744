"""Keras on JAX: captures outputs of models in calls by the script and in evaluation steps.

A step remains the original compiled function, since an additional output would change its fusion. The part that
computes the outputs is compiled separately and called before the step, which consumes its state.
"""

from __future__ import annotations

import sys
from types import FrameType

from ...annotations import Any
from ...observers.rows import arrays_in, first
from ...regions import Held
from ...seeds import wraps_like
from ..jax.capture import OUTPUTS, CapturedPart, JaxCapture, leading, tag_arrays
from ..jax.trees import is_concrete, replace_leaf
from ..tensorflow.proof import TensorFlowProof
from .capture import KerasCapture, unpack, watch_making


class JaxCalls:
    """Calls of trained models by the script; the adapter of JAX handles calls in compiled functions.

    It also stores these calls, as it knows when training continues.
    """

    def __init__(self, jax_capture: JaxCapture, proof: TensorFlowProof) -> None:
        self.jax_capture = jax_capture
        self.proof = proof

    def see_call(self, model: Any, inputs: list[Any], outputs: Any, frame: FrameType) -> None:
        """A model is called, not by another one and not for training."""
        has_rows = inputs and is_concrete(outputs) and outputs.ndim
        if has_rows and self.jax_capture.capture.is_script_thread() and self.proof.is_trained(model):
            self.jax_capture.add(frame, outputs, None, inputs, model=model)

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is called with labels and outputs."""
        self.jax_capture.scores(truth, outputs)


class JaxSteps:
    """Evaluation steps, as built by the trainer of this backend."""

    def __init__(self, capture: KerasCapture) -> None:
        self.capture = capture
        self.making: Any = None
        self.stepping: Any = None
        self.seen: Any = None

    def patch(self, trainer: Any) -> None:
        """Patch the class `JAXTrainer`."""
        make, capture = trainer._make_function, self
        watch_making(trainer, self, "making")

        def _make_function(model: Any, step: Any, *args: Any, **kwargs: Any) -> Any:
            is_watched = capture.making is model and capture._is_plain(model)
            return make(model, capture._watch_step(model, step) if is_watched else step, *args, **kwargs)

        def stateless_call(model: Any, *args: Any, **kwargs: Any) -> Any:
            above: Any = super(trainer, model)
            result = above.stateless_call(*args, **kwargs)
            return capture._tag_output(result) if capture.stepping is model else result

        trainer._make_function = wraps_like(_make_function, make)
        trainer.stateless_call = wraps_like(stateless_call, sys.modules["keras.src.layers.layer"].Layer.stateless_call)

    def _is_plain(self, model: Any) -> bool:
        if self.capture.has_several_steps(model):
            return False
        # With KERAS_NNX_ENABLED a step is an nnx function, which is not captured; this is reported at the end.
        return not getattr(sys.modules["keras.src.backend.config"], "is_nnx_enabled", bool)()

    def _watch_step(self, model: Any, step: Any) -> Any:
        capture = self
        parts: dict[Any, CapturedPart | None] = {}

        def watched_step(state: Any, data: Any) -> Any:
            capture.stepping, capture.seen = model, None
            try:
                if hasattr(step, "trace"):
                    capture._run_compiled(model, step, parts, state, data)
                    return step(state, data)
                result = step(state, data)
                capture._give(model, capture.seen, state, data)
                return result
            finally:
                capture.stepping = capture.seen = None

        return wraps_like(watched_step, step)

    def _tag_output(self, result: Any) -> Any:
        """The model was called in its own step; only the first call counts."""
        with self.capture.recorder.guarded("outputs of a step"):
            array = first(result[0])
            self.seen = array if self.seen is None else self.seen
            return replace_leaf(result[0], array, tag_arrays(array, OUTPUTS)), *result[1:]
        return result

    def _run_compiled(
        self, model: Any, step: Any, parts: dict[Any, CapturedPart | None], state: Any, data: Any
    ) -> None:
        with self.capture.recorder.guarded("outputs of evaluate"):
            util = sys.modules["jax"].tree_util
            flat, structure = util.tree_flatten((state, data))
            key = (structure, tuple((leaf.shape, str(leaf.dtype)) for leaf in flat))
            if key not in parts:
                parts[key] = None
                part = leading(step.trace(state, data).jaxpr, len(flat))
                if isinstance(part, str):
                    self.capture.sets.refuse("evaluation", part)
                else:
                    parts[key] = part
            compiled_part = parts[key]
            if compiled_part is not None:
                self._give(model, compiled_part.run_on(flat)[-1], state, data)

    def _give(self, model: Any, outputs: Any, state: Any, data: Any) -> None:
        if outputs is None:
            return

        def call(inputs: Any) -> Any:
            """Call the model, whose variables have no values while the trainer hands their state from step to step."""
            with Held(self, "stepping", None):
                return model.stateless_call(*state[:2], inputs, training=False)[0]

        x, y = unpack(data)
        self.capture.add_batch(outputs, y, list(arrays_in(x)), call)

"""Traces of Keras with TensorFlow outside of graphs: gradients, updates and layers of the script's own loops."""

from __future__ import annotations

import sys

from ...seeds import wraps_like
from ..array_trace import named_parts, record, record_batch
from ..tensorflow.proof import to_numpy
from ..tensorflow.step import is_eager_tensor
from .trace import KerasTrace, values_of

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Iterator

OPTIMIZERS, LAYERS = "keras.src.optimizers.base_optimizer", "keras.src.layers.layer"


class EagerTrace:
    """What optimizers and layers do with tensors that have their numbers."""

    def __init__(self, keras_trace: KerasTrace) -> None:
        self.keras_trace = keras_trace
        self.trace = keras_trace.trace
        self.depth = 0

    def patch(self, module: Any) -> None:
        """The module of the base of optimizers, or of the base of layers."""
        if module.__name__ == OPTIMIZERS:
            self._patch_optimizer(module.BaseOptimizer)
        else:
            self._patch_layers(module.Layer)

    def _patch_optimizer(self, optimizer: Any) -> None:
        original = optimizer.apply

        def apply(self_: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if not self.trace.level:
                return original(self_, grads, trainable_variables)
            frame, grads = sys._getframe(1), list(grads)
            trainable_variables = None if trainable_variables is None else list(trainable_variables)
            variables = trainable_variables or list(self_._trainable_variables)
            is_eager = all(is_eager_tensor(each) for each in grads if each is not None)
            self.keras_trace.step.at_change()
            if is_eager:
                self.keras_trace.tell(lambda: self._gradients(frame, grads, variables))
            result = original(self_, grads, trainable_variables)
            if is_eager and not self.keras_trace.step.fitting:
                self.keras_trace.tell(lambda: self._record_update(frame, variables, self_))
            return result

        optimizer.apply = wraps_like(apply, original)

    def _gradients(self, frame: Any, grads: list[Any], variables: list[Any]) -> None:
        if self.trace.level >= 2:
            place = self.trace.place(frame)
            for variable, grad in zip(variables, grads):
                for name, part in _dense(variable.path, grad):
                    record(self.trace, "gradient", name, part.numpy(), place)

    def _record_update(self, frame: Any, variables: list[Any], optimizer: Any) -> None:
        if self.trace.level >= 2:
            place = self.trace.place(frame)
            for variable in [*optimizer.variables, *variables]:
                record(self.trace, "update", variable.path, to_numpy(variable), place)
        self.keras_trace.has_begun = False
        self.trace.tick()

    def _patch_layers(self, layer: Any) -> None:
        """Calls of layers under a tape, outside of graphs: the outermost is the forward pass."""
        original = layer.__call__

        def __call__(self_: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if self.trace.level < 2 or not _is_taped():
                return original(self_, *args, **kwargs)
            frame = sys._getframe(1)
            if not self.depth and not self.keras_trace.step.fitting:
                self.keras_trace.tell(lambda: self._begin(self_, frame, args, kwargs))
            self.depth += 1
            try:
                outputs = original(self_, *args, **kwargs)
            finally:
                self.depth -= 1
            self.keras_trace.tell(lambda: self._record_call(self_, frame, outputs))
            return outputs

        layer.__call__ = wraps_like(__call__, original)

    def _begin(self, layer: Any, frame: Any, args: Any, kwargs: Any) -> None:
        inputs = list(named_parts([*args, {name: each for name, each in kwargs.items() if name != "mask"}], "input"))
        if not inputs or not all(is_eager_tensor(each) or hasattr(each, "tobytes") for _, each in inputs):
            return
        place, values = self.trace.place(frame), values_of(layer)
        if not self.keras_trace.has_begun:
            self.keras_trace.has_begun = True
            self.keras_trace.step.states.record(place)
            self.keras_trace.tell_states(layer, values, place)
        for name, part in inputs:
            record_batch(self.trace, name, sys.modules["numpy"].asarray(part), place)
        if layer.built:
            self.keras_trace.tell_weights(layer, values, place)

    def _record_call(self, layer: Any, frame: Any, result: Any) -> None:
        outputs = [each for _, each in named_parts(result, "output")]
        if not outputs or not all(is_eager_tensor(each) for each in outputs):
            return
        place = self.trace.place(frame)
        if self.depth and self.trace.level >= 3:
            for number, output in enumerate(outputs):
                name = layer.path + ("[%d]" % number if number else "")
                record(self.trace, "module", name, output.numpy(), place, outputs=len(outputs))
        elif not self.depth:
            for number, output in enumerate(outputs):
                record(self.trace, "forward", "output" + ("[%d]" % number if number else ""), output.numpy(), place)


def _is_taped() -> bool:
    tape = sys.modules.get("tensorflow.python.pywrap_tfe")
    return tape is not None and not tape.TFE_Py_TapeSetIsEmpty()


def _dense(name: str, grad: Any) -> Iterator[tuple[str, Any]]:
    if grad is None:
        return
    if hasattr(grad, "indices"):
        yield name + ".indices", grad.indices
        yield name + ".values", grad.values
    else:
        yield name, grad

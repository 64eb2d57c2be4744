"""Detects training and evaluation in Keras through methods of trainers, optimizers, and calls of models."""

from __future__ import annotations

import sys
from threading import get_ident

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any
from ...observers.capture import PREDICTIONS
from ...observers.rows import arrays_in, first
from ...seeds import wraps_like
from ..tensorflow.proof import TensorFlowProof
from ..tensorflow.replicas import Replicas

if TYPE_CHECKING:
    from ..tensorflow.capture import ModelCalls
    from .capture import KerasCapture
    from .jax_capture import JaxCalls

TRAINERS = {
    "keras.src.backend.tensorflow.trainer": "TensorFlowTrainer",
    "keras.src.backend.torch.trainer": "TorchTrainer",
    "keras.src.backend.jax.trainer": "JAXTrainer",
}
TRAINING = ("fit", "train_on_batch")
DRIVEN = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


class Watch:
    """Informs the proof about training and evaluation. In graphs, each call is seen once, when the graph is built."""

    def __init__(self, context: AdapterContext) -> None:
        self.recorder = context.recorder
        self.streams = context.streams
        self.replicas = context.part(Replicas)
        self.proof = context.part(TensorFlowProof)
        self.context = context
        self.capture: KerasCapture | None = None
        self.calls: ModelCalls | JaxCalls | None = None
        if context.capture.wants_predictions or context.capture.wants_weights:
            from .capture import KerasCapture  # most runs keep nothing

            self.capture = KerasCapture(context, self.proof)
        self.driven = 0
        self.depth = 0

    def patch_trainer(self, module: Any) -> None:
        """Patch the trainer module of a backend, which runs models itself."""
        if TRAINERS[module.__name__] == "TorchTrainer":
            self.proof.one_bit.is_pending = False  # the layers are modules of PyTorch, whose adapter flips the bit
            if self.capture is not None:
                self.context.capture.ids_above = self.capture.tensors
        trainer = getattr(module, TRAINERS[module.__name__])
        for name in DRIVEN:
            setattr(trainer, name, self._driving(getattr(trainer, name), name))
        if self.capture is not None and self.context.capture.wants_predictions:
            self._keep(trainer)
        self.context.observe(
            trainer, "make_train_function", before=lambda model, *args, **kwargs: self.proof.train(model)
        )

    def _keep(self, trainer: Any) -> None:
        capture: Any = self.capture
        if trainer.__name__ == "TensorFlowTrainer":
            from ..tensorflow.capture import ModelCalls

            self.calls = self.context.part(ModelCalls)  # with PyTorch, its adapter sees what the script calls
            capture.patch_trainer(trainer)
        elif trainer.__name__ == "TorchTrainer":
            capture.patch_torch(trainer)
        else:
            from ..jax import Parts
            from .jax_capture import JaxCalls, JaxSteps

            self.calls = JaxCalls(self.context.part(Parts).weights.capture, self.proof)
            JaxSteps(capture).patch(trainer)

    def patch_optimizer(self, module: Any) -> None:
        """Patch module `keras.src.optimizers.base_optimizer`."""

        def note_update(optimizer: Any, grads: Any = (), trainable_variables: Any = None) -> None:
            variables = getattr(optimizer, "_trainable_variables", ())
            self.proof.optimize(variables if trainable_variables is None else trainable_variables)
            if not self.driven:  # else it is the trainer that is seen, at its end
                self.recorder.is_hidden = self.recorder.is_hidden or not is_each_call_seen()
                self.recorder.train(optimizer)

        self.context.observe(module.BaseOptimizer, "apply", before=note_update)

    def patch_metrics(self, module: Any) -> None:
        """Patch module `keras.src.metrics.reduction_metrics`."""

        def update(metric: Any, y_true: Any = None, y_pred: Any = None, *args: Any, **kwargs: Any) -> None:
            if self.capture is not None:
                self.capture.scores(y_true, y_pred)
            if self.calls is not None:
                self.calls.scores(y_true, y_pred)

        if self.capture is not None:
            self.context.observe(module.MeanMetricWrapper, "update_state", before=update)

    def patch_layers(self, module: Any) -> None:
        """Patch module `keras.src.layers.layer`: outermost calls of layers with weights."""
        original = module.Layer.__call__

        def __call__(self_: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if self.context.is_own_call or self.depth or self.driven or get_ident() != self.streams.thread:
                outputs = original(self_, *args, **kwargs)
                if self.capture is not None and self_ is self.capture.stepping:
                    self.capture.see_call(outputs)
                return outputs
            is_training = self._begin_call(self_, args, kwargs)
            self.depth += 1
            try:
                outputs = original(self_, *args, **kwargs)
            finally:
                self.depth -= 1
            if self.calls is not None and not is_training and hasattr(self_, "make_train_function"):
                if self.replicas.is_running:
                    reason = "each replica of a strategy computes a part of the outputs"
                    self.context.capture.refuse(PREDICTIONS, "evaluation", reason)
                    return outputs
                inputs = [*args] or [*kwargs.values()]
                with self.recorder.guarded("outputs of a model"):
                    self.calls.see_call(self_, list(arrays_in(inputs)), first(outputs), sys._getframe(1))
            return outputs

        module.Layer.__call__ = wraps_like(__call__, original)

    def _begin_call(self, layer: Any, args: Any, kwargs: Any) -> bool:
        """A layer is called, not by another layer or a trainer; returns whether it trains."""
        is_training = kwargs.get("training")
        with self.recorder.guarded("call of a model"):
            if is_training is None:
                is_training = is_taped()
            is_over = self.proof.evaluations.is_over
            if is_training is True:
                if not is_over:
                    self.proof.training_continues()
                if layer.trainable_variables or not layer.built:
                    self.proof.train(layer)
            elif not is_over and args and not is_training and hasattr(layer, "make_train_function"):
                self.proof.see_call(layer, args)
        return bool(is_training is None or is_training)

    def _driving(self, original: Any, name: str) -> Any:
        """Wrap a trainer method; layers that it calls are not called by the script."""

        def drive(model: Any, *args: Any, **kwargs: Any) -> Any:
            is_routed_thread = get_ident() == self.streams.thread
            if is_routed_thread:
                self._see_evaluation(model, name, args, kwargs)
            was_fitting, self.context.is_fitting = self.context.is_fitting, name in TRAINING
            self.driven += 1
            try:
                if self.capture is None or not is_routed_thread:
                    return original(model, *args, **kwargs)
                return self.capture.drive(original, name, model, args, kwargs, sys._getframe(1))
            finally:
                self.driven -= 1
                self.context.is_fitting = was_fitting
                if name in TRAINING and not self.driven:
                    self.recorder.train(getattr(model, "optimizer", None))

        return wraps_like(drive, original)

    def _see_evaluation(self, model: Any, name: str, args: Any, kwargs: Any) -> None:
        """`predict` only counts after training: before, it may compute training data."""
        if self.proof.evaluations.is_over or name not in ("evaluate", "predict", *TRAINING):
            return
        with self.recorder.guarded("data of the evaluation"):
            if name in TRAINING:
                self.proof.training_continues()
                return
            if name == "evaluate" or self.proof.is_trained(model):
                data = args[0] if args else kwargs.get("x")
                targets = (args[1] if len(args) > 1 else kwargs.get("y")) if name == "evaluate" else None
                self.proof.see_data(data, targets, is_labelled=name == "evaluate")


def is_each_call_seen() -> bool:
    """Whether what is called now is called again in each step, not only when a graph or a program is built."""
    backend = sys.modules["keras.src.backend"].backend()
    return bool(backend == "torch" or (backend == "tensorflow" and sys.modules["tensorflow"].executing_eagerly()))


def is_taped() -> bool:
    """Whether a TensorFlow gradient tape is recording."""
    tape = sys.modules.get("tensorflow.python.pywrap_tfe") or sys.modules.get("tensorflow.python.pywrap_tensorflow")
    return tape is not None and not tape.TFE_Py_TapeSetIsEmpty()

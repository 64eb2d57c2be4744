"""Keras: captures outputs of evaluations, and weights.

`evaluate` returns no outputs. Its step therefore returns them beside its result, from which they are removed before
Keras sees it: more values leave the graph, but none is computed for it. A second pass over the data would cost as much
again, draw from datasets without a fixed order, and compute outputs other than the scored ones.
"""

from __future__ import annotations

import functools
import weakref
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Mapping
from ...observers.capture_sets import CaptureSets
from ...observers.rows import Batches, arrays_in, first
from ...regions import Held
from ...seeds import wraps_like
from ..tensorflow.capture import augmented_calls
from ..tensorflow.proof import TensorFlowProof, identities_of

FRAMEWORK = "keras"
SEEN = ("evaluate", "predict", "test_on_batch", "predict_on_batch")


class ModelPass:
    """One call of `evaluate`, `predict` or similar methods of a model."""

    def __init__(self, model: Any, name: str, data: Any, labels: Any, batches: Batches) -> None:
        self.model = model
        self.name = name
        self.data = data
        self.labels = labels
        self.batches = batches


class KerasCapture:
    """Captures Keras models."""

    def __init__(self, context: AdapterContext, proof: TensorFlowProof) -> None:
        self.capture = context.capture
        self.recorder = context.recorder
        self.proof = proof
        self.context = context
        self.sets = CaptureSets(context.capture, context.project, FRAMEWORK)
        self.passes: list[ModelPass | None] = []
        self.models: weakref.WeakSet[Any] = weakref.WeakSet()
        self.stepping: Any = None
        self.seen: Any = None
        self.scored: Any = None

    def tensors(self) -> set[int]:
        """Ids of all variables of models trained so far, and of their backend variables."""
        self.models.update(self.proof.living_models())
        variables = [variable for _, variable in self.proof.named_variables()]
        variables += [variable for model in self.models for variable in model.variables]
        return {identity for variable in variables for identity in identities_of(variable)}

    # ------------------------------------------------------------ passes

    def drive(self, original: Any, method: str, model: Any, args: Any, kwargs: Any, frame: FrameType) -> Any:
        """Call a trainer method on behalf of the script or of `fit`."""
        current = None
        with self.recorder.guarded("capture of %s" % method):
            current = self._begin(model, method, args, kwargs)
        self.passes.append(current)
        before, self.capture.keeper = self.capture.keeper, FRAMEWORK
        try:
            result = original(model, *args, **kwargs)
            if current is not None:
                with self.recorder.guarded("outputs of %s" % method):
                    self._end(current, frame, result)
            return result
        finally:
            self.capture.keeper = before
            self.passes.pop()

    def _begin(self, model: Any, method: str, args: Any, kwargs: Any) -> ModelPass | None:
        if method not in SEEN:
            self.models.add(model)
            self.capture.end_evaluation()  # training goes on
            return None
        is_scored = method in ("evaluate", "test_on_batch")
        if not self.capture.wants_predictions or not (is_scored or self.proof.is_trained(model)):
            return None
        data = args[0] if args else kwargs.get("x")
        labels = args[1] if len(args) > 1 else kwargs.get("y")
        return ModelPass(model, method, data, labels if is_scored else None, Batches(self.capture))

    def _end(self, current: ModelPass, frame: FrameType, result: Any) -> None:
        if (
            not current.batches
            and current.name.startswith("predict")
            and len(getattr(first(result), "shape", ()) or ())
        ):
            # JAX. Datasets are not iterated a second time, as they may draw random numbers.
            inputs = current.data if hasattr(current.data, "shape") else list(arrays_in(current.data))
            current.batches.add(first(result), current.labels, inputs, self._augment(current, inputs, result))
        is_validation = current.name == "evaluate" and len(self.passes) > 1
        data = next(arrays_in(current.data), current.data)  # of several inputs, the first one has the name
        name, root = self.sets.name(data, frame, "val" if is_validation else "")
        if current.batches:
            self.sets.store(name, root, current.batches, beside=lambda: self.sets.beside(data, frame))
        else:
            self.sets.refuse(name, "%s of Keras gives no outputs with this backend or setting" % current.name)

    def add_batch(self, outputs: Any, truth: Any, inputs: Any, call: Callable[[Any], Any] | None = None) -> None:
        """Add a batch to the pass that is running.

        Args:
            call: calls the model with other inputs, where it cannot be called itself.
        """
        current = self.passes[-1] if self.passes else None
        if current is not None:
            further = self._augment(current, inputs, outputs, call)
            current.batches.add(first(outputs), _labels_of_first(truth), inputs, further)

    def _augment(
        self, current: ModelPass, inputs: Any, outputs: Any, call: Callable[[Any], Any] | None = None
    ) -> Mapping[str, Any]:
        """Mean outputs for augmented images, where this run asks for them."""
        call = call or functools.partial(current.model, training=False)
        return augmented_calls(self.context, call, inputs, outputs)

    # ------------------------------------------------------------ TensorFlow

    def patch_trainer(self, trainer: Any) -> None:
        """Patch the class `TensorFlowTrainer`: the functions that process batches."""
        make, capture = trainer._make_function, self
        watch_making(trainer, self, "stepping")

        def _make_function(model: Any, step: Any) -> Any:
            if capture.stepping is not model or not capture._is_plain(model):
                return make(model, step)
            capture.stepping = None
            function = make(model, capture._tap_step(model, step))

            def give(iterator: Any) -> Any:
                result = function(iterator)
                if type(result) is not tuple or len(result) != 2:
                    return result
                capture._give(result[1])
                return result[0]

            return give

        trainer._make_function = wraps_like(_make_function, make)
        self._patch_functions(trainer, "predict", lambda model, function: self._predicting(function))

    def patch_torch(self, trainer: Any) -> None:
        """Patch the class `TorchTrainer`, whose steps run uncompiled."""
        self._patch_functions(trainer, "predict", lambda model, function: self._predicting(function))
        self._patch_functions(trainer, "test", self._testing)

    def _patch_functions(self, trainer: Any, of: str, watched: Callable[[Any, Any], Any]) -> None:
        """Patch functions that `make_test_function` and similar methods store in the model."""
        making, name = getattr(trainer, "make_%s_function" % of), "%s_function" % of

        def make(model: Any, *args: Any, **kwargs: Any) -> Any:
            before = getattr(model, name)
            result = making(model, *args, **kwargs)
            function = getattr(model, name)
            if function is not before and function is not None:
                setattr(model, name, watched(model, function))
            return result

        setattr(trainer, "make_%s_function" % of, wraps_like(make, making))

    def _testing(self, model: Any, function: Any) -> Any:
        if model.jit_compile:
            return function
        step = self._tap_step(model, lambda data: function([data]))

        def test_function(data: Any) -> Any:
            result, extra = step(data[0])
            self._give(extra)
            return result

        return wraps_like(test_function, function)

    def has_several_steps(self, model: Any) -> bool:
        """Whether one execution runs several steps: then only the last result is returned."""
        if model.steps_per_execution > 1:
            self.sets.refuse("evaluation", "several steps in one execution give the outputs of the last one alone")
        return bool(model.steps_per_execution > 1)

    def _is_plain(self, model: Any) -> bool:
        """Whether the result of each step is returned."""
        if self.has_several_steps(model):
            return False
        if model.distribute_strategy.num_replicas_in_sync > 1:
            self.sets.refuse("evaluation", "outputs of several replicas are added up")
            return False
        return True

    def _tap_step(self, model: Any, step: Any) -> Any:
        """An evaluation step that returns the model's outputs beside its result."""
        capture = self

        @functools.wraps(step)
        def tapped_step(data: Any) -> Any:
            capture.seen = capture.scored = None
            with Held(capture, "stepping", model):
                result = step(data)
            extra: dict[str, Any] = {}
            with capture.recorder.guarded("outputs of a step"):
                extra = capture._extra(data)
            return result, extra

        return tapped_step

    def _give(self, extra: dict[str, Any]) -> None:
        with self.recorder.guarded("outputs of evaluate"):
            if "outputs" in extra:
                self.add_batch(extra["outputs"], extra.get("truth"), extra.get("inputs"))

    def _extra(self, data: Any) -> dict[str, Any]:
        x, y = unpack(data)
        truth, outputs = self.scored or (None, None)
        if self.seen is not None:
            truth, outputs = y, first(self.seen)
        self.seen = self.scored = None
        # A list would be converted to one tensor by an iterator.
        values = {"outputs": outputs, "truth": _labels_of_first(truth), "inputs": tuple(arrays_in(x))}
        return {} if outputs is None else {name: each for name, each in values.items() if each is not None}

    def _predicting(self, function: Any) -> Any:
        capture = self

        def predict_function(data: Any) -> Any:
            outputs = function(data)
            with capture.recorder.guarded("outputs of predict"):
                batches = data if isinstance(data, list) else [data]
                if len(batches) == 1:
                    x, y = unpack(batches[0])
                    capture.add_batch(outputs, y, list(arrays_in(x)))
            return outputs

        return wraps_like(predict_function, function)

    # ------------------------------------------------------------ what is seen in a step

    def see_call(self, outputs: Any) -> None:
        """The model was called in its own step; only the first call counts."""
        if self.seen is None:
            self.seen = outputs

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is called with labels and outputs, in a step that does not call the model itself."""
        if self.stepping is not None and self.scored is None:
            self.scored = truth, first(outputs)


def watch_making(trainer: Any, capture: Any, attribute: str) -> None:
    """Make an attribute of a capture hold the model whose evaluation function is being built."""
    test = trainer.make_test_function

    def make_test_function(model: Any, *args: Any, **kwargs: Any) -> Any:
        with Held(capture, attribute, model):
            return test(model, *args, **kwargs)

    trainer.make_test_function = wraps_like(make_test_function, test)


def unpack(data: Any) -> tuple[Any, Any]:
    """Inputs and labels of a batch, as Keras unpacks them."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None
    return data[0], data[1] if len(data) > 1 else None


def _labels_of_first(truth: Any) -> Any:
    """The labels that belong to the first of several outputs."""
    return next(arrays_in(truth), None)

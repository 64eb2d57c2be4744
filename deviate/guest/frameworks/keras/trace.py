"""Traces Keras: batches of `fit` with TensorFlow and JAX; with TensorFlow also loops of the script in eager mode.

The step of `fit` is compiled, so only its inputs and outputs are visible. Where TensorFlow takes the inputs from an
iterator inside the graph, they are returned beside the results; nothing is added to the computation. In eager mode,
arguments of optimizers and outputs of layers have values, which are recorded there. With PyTorch, layers are PyTorch
modules, and its adapter records everything.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...observers.steps import ObservedSteps, StepRecords, named_parts
from ...regions import Held
from ...seeds import wraps_like
from ..tensorflow.proof import to_numpy
from ..tensorflow.trace import TensorflowTrace, is_eager_tensor
from .proof import TRAINERS, is_taped

FRAMEWORK = "keras"
PARTS = ("input", "target", "weight")
"""What Keras calls x, y and sample_weight, as records name them."""
COMPILED = "`fit` compiles each step as a whole: what is computed inside it never leaves the compiled function"
OPTIMIZERS, LAYERS = "keras.src.optimizers.base_optimizer", "keras.src.layers.layer"
SEVERAL = "several steps are run in one execution (steps_per_execution), of which only the last result comes out"


class KerasTrace:
    """Traces Keras models.

    Attributes:
        making: the model whose step of `fit` is being compiled, and is to return its inputs as well.
        parts: the names of these inputs, by model.
        has_begun: whether the inputs of a step outside of `fit` have been recorded, and its update not yet.
        depth: of the calls of layers that are running, one in another, outside of graphs.
    """

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.trace = context.trace
        self.tensorflow = context.part(TensorflowTrace)
        self.steps = ObservedSteps(
            context.trace, context.streams, FRAMEWORK, StepRecords(context.trace, sys.modules["numpy"].asarray)
        )
        self.making: Any = None
        self.parts: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()
        self.recorded: weakref.WeakSet[Any] = weakref.WeakSet()
        self.place = -1
        self.has_begun = False
        self.depth = 0

    def patch(self, module: Any) -> None:
        """Patch the module of a trainer, of the optimizer base class, or of the layer base class."""
        if module.__name__ == OPTIMIZERS:
            mark = self.tensorflow.mark
            self.context.observe(
                module.BaseOptimizer,
                "apply",
                before=lambda *args, **kwargs: mark(),
                after=self._after_update,
                where="keras",
            )
        elif module.__name__ == LAYERS:
            self._patch_layers(module.Layer)
        elif TRAINERS[module.__name__] != "TorchTrainer":
            self._patch_trainer(getattr(module, TRAINERS[module.__name__]))

    # ------------------------------------------------------------ fit

    def _patch_trainer(self, trainer: Any) -> None:
        make = trainer.make_train_function
        is_jax = trainer.__name__ == "JAXTrainer"

        def make_train_function(model: Any, *args: Any, **kwargs: Any) -> Any:
            old = model.train_function
            is_single = model.steps_per_execution == 1
            if not model.run_eagerly or not is_single:
                self.trace.ends(FRAMEWORK, 2, COMPILED if is_single else SEVERAL)
            gives_batch = is_single and not is_jax and model.distribute_strategy.num_replicas_in_sync == 1
            with Held(self, "making", model if gives_batch and self.trace.requested_level > 1 else None):
                result = make(model, *args, **kwargs)
            function = model.train_function
            if function is not None and function is not old:
                step = self._jax_step if is_jax else self._step
                model.train_function = wraps_like(partial(step, weakref.ref(model), function), function)
            return result

        trainer.make_train_function = wraps_like(make_train_function, make)
        convert = getattr(trainer, "_autoconvert_optionals", None)
        if convert is not None:
            trainer._autoconvert_optionals = wraps_like(self._converting(convert), convert)

    def _converting(self, convert: Any) -> Any:
        """Wrap the compiled step so that it returns its inputs beside its results."""

        def _autoconvert_optionals(model: Any, step: Any) -> Any:
            function = convert(model, step)
            if self.making is not model:
                return function
            parts = self.parts[model] = []

            def give(data: Any) -> Any:
                tensorflow = sys.modules["tensorflow"]
                tensors = [(name, each) for name, each in _parts_of(data) if isinstance(each, tensorflow.Tensor)]
                if tensorflow.executing_eagerly():  # run_eagerly: recorded before its layers are
                    self.steps.attempt(partial(self.steps.batch, tensors, self.place))
                    tensors = []
                parts[:] = [name for name, _ in tensors]
                return function(data), tuple(each for _, each in tensors)

            return give

        return _autoconvert_optionals

    def _step(self, reference: Any, function: Any, iterator: Any) -> Any:
        """A batch with TensorFlow."""
        model = reference()
        parts = self.parts.get(model)
        frame = sys._getframe(1)
        self.steps.attempt(lambda: self._before(model, frame, _values_of(model)))
        with Held(self.tensorflow, "fitting", self.tensorflow.fitting + 1):
            result = function(iterator)
        logs, batch = result if parts is not None else (result, ())
        named = zip(parts or (), batch)
        self.steps.attempt(lambda: self._after(model, frame, logs, named, _values_of(model, model.optimizer)))
        return logs

    def _jax_step(self, reference: Any, function: Any, state: Any, iterator: Any) -> Any:
        """A batch with JAX; the arrays of `state` are deleted after the call."""
        model = reference()
        frame = sys._getframe(1)
        seen = _Seen(iterator)
        self.steps.attempt(lambda: self._before(model, frame, _values_in(model, state)))
        result = function(state, seen)
        batch = _parts_of(seen.latest)
        self.steps.attempt(lambda: self._after(model, frame, result[0], batch, _values_in(model, result[1])))
        return result

    def _before(self, model: Any, frame: Any, values: dict[str, Callable[[], Any]]) -> None:
        """A step begins: states of the generators and, before the first traced step, weights of the model."""
        self.tensorflow.has_loss = False
        if self.steps.wants_steps:
            self.place = self.trace.place(frame)
            seeds = sorted(_seeds_of(model) & set(values))
            self.tensorflow.record_states([("keras/" + name, values[name]()) for name in seeds], self.place)
            self._record_weights(model, values)

    def _record_weights(self, model: Any, values: dict[str, Callable[[], Any]]) -> None:
        if model.built and model not in self.recorded:
            self.recorded.add(model)
            self.steps.weights(_without_seeds(model, values), self.place)

    def _after(self, model: Any, frame: Any, logs: Any, batch: Any, values: dict[str, Callable[[], Any]]) -> None:
        place = self.trace.place(frame)
        self.steps.batch(batch, place)
        if isinstance(logs, dict) and "loss" in logs and not self.tensorflow.has_loss:
            self.steps.loss(logs["loss"], place, of="mean of the epoch so far")
        self.steps.update(_without_seeds(model, values), place)
        self.trace.tick()

    # ------------------------------------------------------------ own loops

    def _after_update(self, result: Any, optimizer: Any, grads: Any, trainable_variables: Any = None) -> None:
        if self.trace.level and _are_eager(grads) and not self.tensorflow.fitting:
            variables = [*optimizer.variables, *(trainable_variables or optimizer._trainable_variables)]
            values = ((variable.path, to_numpy(variable)) for variable in variables)
            self.steps.update(values, self.trace.place(sys._getframe(2)))
            self.has_begun = False
            self.trace.tick()

    def _patch_layers(self, layer: Any) -> None:
        """Calls of layers under a tape in eager mode; the outermost one begins the step of a loop of the script."""
        original = layer.__call__

        def __call__(self_: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self.steps.wants_steps or not is_taped():
                return original(self_, *args, **kwargs)
            frame = sys._getframe(1)
            if not self.depth and not self.tensorflow.fitting:
                self.steps.attempt(lambda: self._begin(self_, frame, args, kwargs))
            with Held(self, "depth", self.depth + 1):
                outputs = original(self_, *args, **kwargs)
            self.steps.attempt(lambda: self._record_call(self_, frame, outputs))
            return outputs

        layer.__call__ = wraps_like(__call__, original)

    def _begin(self, layer: Any, frame: Any, args: Any, kwargs: Any) -> None:
        inputs = list(named_parts([*args, {name: each for name, each in kwargs.items() if name != "mask"}], "input"))
        if inputs and all(is_eager_tensor(each) or hasattr(each, "tobytes") for _, each in inputs):
            values = _values_of(layer)
            if not self.has_begun:
                self.has_begun = True
                self._before(layer, frame, values)
            self._record_weights(layer, values)
            self.steps.batch(inputs, self.trace.place(frame))

    def _record_call(self, layer: Any, frame: Any, result: Any) -> None:
        outputs = [each for _, each in named_parts(result, "output")]
        if outputs and all(map(is_eager_tensor, outputs)):
            self.steps.module(layer.path, outputs, self.trace.place(frame))


class _Seen:
    """An iterator that remembers its last item."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.latest: Any = None

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.latest = next(self.inner)
        return self.latest


def _parts_of(data: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a batch, as Keras unpacks them."""
    for name, part in zip(PARTS, data if isinstance(data, (tuple, list)) else [data]):
        yield from named_parts(part, name)


def _are_eager(grads: Any) -> bool:
    """Whether gradients have values now; what can be read only once is left to the optimizer."""
    return isinstance(grads, (list, tuple)) and all(is_eager_tensor(each) for each in grads if each is not None)


def _seeds_of(layer: Any) -> set[str]:
    """Paths of the states of random generators, which are not weights."""
    weights = {id(variable) for variable in layer.weights}
    return {variable.path for variable in layer.variables if id(variable) not in weights}


def _without_seeds(layer: Any, values: dict[str, Callable[[], Any]]) -> Iterator[tuple[str, Any]]:
    """Names and values of what are weights, read one after the other."""
    seeds = _seeds_of(layer)
    return ((name, give()) for name, give in values.items() if name not in seeds)


def _values_of(layer: Any, optimizer: Any = None) -> dict[str, Callable[[], Any]]:
    """Those of the optimizer first: a moment tells of the gradient, a learning rate of itself, weights of either."""
    variables = [*getattr(optimizer, "variables", ()), *layer.variables]
    return {variable.path: partial(to_numpy, variable) for variable in variables}


def _values_in(model: Any, state: Any) -> dict[str, Callable[[], Any]]:
    """Values in the state that JAX passes from step to step, in the same order."""
    trained, untrained, *optimized = zip(
        [model.trainable_variables, model.non_trainable_variables, getattr(model.optimizer, "variables", ())], state
    )
    asarray = sys.modules["numpy"].asarray
    return {
        variable.path: partial(asarray, value)
        for variables, values in (*optimized, trained, untrained)
        for variable, value in zip(variables, values)
    }

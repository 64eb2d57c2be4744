"""Traces Keras: batches of `fit` with TensorFlow and JAX; with TensorFlow also loops of the script.

The step of `fit` is compiled, so only its inputs and outputs are visible. Where TensorFlow takes the inputs from an
iterator inside the graph, they are returned beside the results; nothing is added to the computation. From level 3 on,
probes hand out gradients and outputs of layers from inside. In eager mode, arguments of optimizers and layers have
values: gradients, updates and layer outputs are recorded there. With PyTorch, layers are PyTorch modules, and its
adapter records everything.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...observers.probes import Probes
from ...observers.steps import ObservedSteps, StepRecords, named_parts, numbered
from ...regions import Held
from ...seeds import wraps_like
from ..tensorflow.probes import XLA
from ..tensorflow.proof import to_numpy
from ..tensorflow.trace import TensorflowTrace, is_eager_tensor
from .proof import TRAINERS, is_taped

FRAMEWORK = "keras"
PARTS = ("input", "target", "weight")
"""What Keras calls x, y and sample_weight, as records name them."""
COMPILED = "`fit` compiles each step as a whole: what its operations compute never leaves the compiled function"
OPTIMIZERS, LAYERS = "keras.src.optimizers.base_optimizer", "keras.src.layers.layer"
SEVERAL = "several steps are run in one execution (steps_per_execution), of which only the last result comes out"


class KerasTrace:
    """Traces Keras models.

    Attributes:
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
        self._tell = self.steps.attempt
        self.is_jax = sys.modules["keras.src.backend"].backend() == "jax"
        self.probes: Probes = self._jax_probes() if self.is_jax else self.tensorflow.probes
        self.making: Any = None
        self.parts: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()
        self.recorded: weakref.WeakSet[Any] = weakref.WeakSet()
        self.place = -1
        self.has_begun = False
        self.depth = 0

    def _jax_probes(self) -> Probes:
        from ..jax import Parts  # most runs of Keras do not have JAX

        jax_trace: Any = self.context.part(Parts).trace
        return jax_trace.probes  # type: ignore[no-any-return]

    def patch(self, module: Any) -> None:
        """Patch the module of a trainer, of the optimizer base class, or of the layer base class."""
        if module.__name__ == OPTIMIZERS:
            self._patch_optimizer(module.BaseOptimizer)
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
            with Held(self, "making", model if self._wants_batches(model, is_jax=is_jax) else None):
                if is_jax or not model.jit_compile or not self._has_probes(model):
                    result = make(model, *args, **kwargs)
                else:
                    self.trace.note(FRAMEWORK, XLA)
                    with Held(model, "jit_compile", False):
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

    def _wants_batches(self, model: Any, *, is_jax: bool) -> bool:
        if model.steps_per_execution > 1 and self.trace.requested_level > 1:
            self.trace.ends(FRAMEWORK, 2, SEVERAL)
            return False
        if not model.run_eagerly:
            self.trace.ends(FRAMEWORK, 3, COMPILED)
        if is_jax or self.trace.requested_level < 2:
            return False
        return bool(model.distribute_strategy.num_replicas_in_sync == 1)

    def _has_probes(self, model: Any) -> bool:
        return self.probes.is_wanted and model.steps_per_execution == 1

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
                if tensorflow.executing_eagerly():  # run_eagerly: told before its layers are
                    self._tell(lambda: self.steps.batch(tensors, self.place))
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
        self._tell(lambda: self._before(model, frame, _values_of(model)))
        result = self._run_step(model, function, iterator)
        logs, batch = result if parts is not None else (result, ())
        self._tell(lambda: self._after(model, frame, logs, zip(parts or (), batch), _values_of(model, model.optimizer)))
        return logs

    def _jax_step(self, reference: Any, function: Any, state: Any, iterator: Any) -> Any:
        """A batch with JAX; the arrays of `state` are deleted after the call."""
        model = reference()
        frame = sys._getframe(1)
        seen = _Seen(iterator)
        self._tell(lambda: self._before(model, frame, _values_in(model, state)))
        result = self._run_step(model, function, state, seen)
        self.context.recorder.tell([partial(self.probes.wait, result)])
        self._tell(lambda: self._after(model, frame, result[0], _parts_of(seen.latest), _values_in(model, result[1])))
        return result

    def _run_step(self, model: Any, function: Any, *arguments: Any) -> Any:
        if self._has_probes(model) and self.trace.level:
            self.probes.begin()
        try:
            with Held(self.tensorflow, "fitting", self.tensorflow.fitting + 1):
                return function(*arguments)
        finally:
            self.probes.end()

    def _before(self, model: Any, frame: Any, values: dict[str, Callable[[], Any]]) -> None:
        self.tensorflow.has_loss = False
        if self.steps.wants_steps:
            place = self.place = self.trace.place(frame)
            self._record_states(model, values, place)
            self._record_weights(model, values, place)

    def _record_states(self, model: Any, values: dict[str, Callable[[], Any]], place: int) -> None:
        seeds = sorted(_seeds_of(model) & set(values))
        self.steps.shared_states(place)
        self.steps.states((("keras/" + name, values[name]()) for name in seeds), place)
        self.tensorflow.tell_states(place)

    def _record_weights(self, model: Any, values: dict[str, Callable[[], Any]], place: int) -> None:
        """Record the weights once, before the first traced step."""
        if model not in self.recorded:
            self.recorded.add(model)
            self.steps.weights(_without_seeds(model, values), place)

    def _after(self, model: Any, frame: Any, logs: Any, batch: Any, values: dict[str, Callable[[], Any]]) -> None:
        place = self.trace.place(frame)
        self.steps.batch(batch, place)
        self.probes.write_forward()
        if isinstance(logs, dict) and "loss" in logs and not self.tensorflow.has_loss:
            self.steps.loss(logs["loss"], place, of="mean of the epoch so far")
        self.probes.write_backward()
        self.steps.update(_without_seeds(model, values), place)
        self.trace.tick()

    # ------------------------------------------------------------ own loops

    def _patch_optimizer(self, optimizer: Any) -> None:
        original = optimizer.apply

        def apply(self_: Any, grads: Any, trainable_variables: Any = None) -> Any:
            if not self.trace.level:
                return original(self_, grads, trainable_variables)
            frame, grads = sys._getframe(1), list(grads)
            trainable_variables = None if trainable_variables is None else list(trainable_variables)
            variables = trainable_variables or list(self_._trainable_variables)
            if self.probes.is_open:
                grads = self._probe_gradients(frame, grads, variables)
            is_eager = not self.is_jax and all(is_eager_tensor(each) for each in grads if each is not None)
            self.tensorflow.mark()
            if is_eager:
                self._tell(lambda: self._gradients(frame, grads, variables))
            result = original(self_, grads, trainable_variables)
            if is_eager and not self.tensorflow.fitting:
                self._tell(lambda: self._record_update(frame, variables, self_))
            return result

        optimizer.apply = wraps_like(apply, original)

    def _probe_gradients(self, frame: Any, grads: list[Any], variables: list[Any]) -> list[Any]:
        """The gradients with probes, those of a program that is being traced."""
        place, probes = self.probes.place(frame), self.probes
        for number, (variable, grad) in enumerate(zip(variables, grads)):
            parts = [part for part in _dense(variable.path, grad) if probes.can_insert(part[1])]
            probed = probes.gradients([name for name, _ in parts], [part for _, part in parts], place)
            if len(parts) == 1 and parts[0][1] is grad:
                grads[number] = probed[0]
        return grads

    def _gradients(self, frame: Any, grads: list[Any], variables: list[Any]) -> None:
        parts = (part for variable, grad in zip(variables, grads) for part in _dense(variable.path, grad))
        self.steps.gradients(parts, self.trace.place(frame))

    def _record_update(self, frame: Any, variables: list[Any], optimizer: Any) -> None:
        values = ((variable.path, to_numpy(variable)) for variable in [*optimizer.variables, *variables])
        self.steps.update(values, self.trace.place(frame))
        self.has_begun = False
        self.trace.tick()

    def _patch_layers(self, layer: Any) -> None:
        """Calls of layers in training steps; under a tape in eager mode, the outermost one is the forward pass."""
        original = layer.__call__

        def __call__(self_: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if self.is_jax or self.trace.level < 2 or not is_taped():
                if self.probes.is_open and (self.is_jax or is_taped()):
                    return self._probe_call(original, self_, sys._getframe(1), args, kwargs)
                return original(self_, *args, **kwargs)
            frame = sys._getframe(1)
            if not self.depth and not self.tensorflow.fitting:
                self._tell(lambda: self._begin(self_, frame, args, kwargs))
            with Held(self, "depth", self.depth + 1):
                outputs = self._probe_call(original, self_, frame, args, kwargs)
            self._tell(lambda: self._record_call(self_, frame, outputs))
            return outputs

        layer.__call__ = wraps_like(__call__, original)

    def _probe_call(self, original: Any, layer: Any, frame: Any, args: Any, kwargs: Any) -> Any:
        outputs = original(layer, *args, **kwargs)
        if not self.probes.is_open:
            return outputs
        return self.probes.module(layer.path or layer.name, outputs, self.probes.place(frame))

    def _begin(self, layer: Any, frame: Any, args: Any, kwargs: Any) -> None:
        inputs = list(named_parts([*args, {name: each for name, each in kwargs.items() if name != "mask"}], "input"))
        if not inputs or not all(is_eager_tensor(each) or hasattr(each, "tobytes") for _, each in inputs):
            return
        place, values = self.trace.place(frame), _values_of(layer)
        if not self.has_begun:
            self.has_begun = True
            self._record_states(layer, values, place)
        self.steps.batch(inputs, place)
        if layer.built:
            self._record_weights(layer, values, place)

    def _record_call(self, layer: Any, frame: Any, result: Any) -> None:
        outputs = [each for _, each in named_parts(result, "output")]
        if not outputs or not all(is_eager_tensor(each) for each in outputs):
            return
        place = self.trace.place(frame)
        if self.depth:
            self.steps.module(layer.path, outputs, place)
        else:
            self.steps.forward(((numbered("output", number), each) for number, each in enumerate(outputs)), place)


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


def _dense(name: str, grad: Any) -> Iterator[tuple[str, Any]]:
    if grad is None:
        return
    if hasattr(grad, "indices"):
        yield name + ".indices", grad.indices
        yield name + ".values", grad.values
    else:
        yield name, grad


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

"""Traces of Keras: the batches of `fit`, with TensorFlow and with JAX.

The step of `fit` is compiled: what goes in and comes out is all there is. Its inputs leave the graph beside its results
where TensorFlow takes them from an iterator inside of it; nothing is added to what is compiled. With PyTorch, layers
are modules of its own, and its adapter sees all of it.
"""

from __future__ import annotations

import functools
import sys
import weakref

from ...adapter_context import AdapterContext
from ...seeds import wraps_like
from ..array_trace import named_parts, record, record_batch, record_loss
from ..tensorflow.proof import to_numpy
from ..tensorflow.step import step_of
from .proof import TRAINERS

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator

FRAMEWORK = "keras"
PARTS = ("input", "target", "weight")
"""What Keras calls x, y and sample_weight, as records name them."""
COMPILED = "`fit` compiles each step as a whole: what its layers compute never leaves the compiled function"
SEVERAL = "several steps are run in one execution (steps_per_execution), of which only the last result comes out"


class KerasTrace:
    """What is traced of the models of Keras."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.trace = context.trace
        self.step = step_of(context)
        self.recorder = context.recorder
        self.making: Any = None
        self.parts: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()
        self.recorded: weakref.WeakSet[Any] = weakref.WeakSet()
        self.place = -1
        self.has_begun = False

    def patch(self, module: Any) -> None:
        """The module of a trainer."""
        name = TRAINERS[module.__name__]
        if name != "TorchTrainer":
            self._patch_trainer(getattr(module, name))

    # ------------------------------------------------------------ fit

    def _patch_trainer(self, trainer: Any) -> None:
        make = trainer.make_train_function
        is_jax = trainer.__name__ == "JAXTrainer"

        def make_train_function(model: Any, *args: Any, **kwargs: Any) -> Any:
            before, self.making = self.making, model if self._wants_batches(model, is_jax=is_jax) else None
            old = model.train_function
            try:
                result = make(model, *args, **kwargs)
            finally:
                self.making = before
            function = model.train_function
            if function is not None and function is not old:
                step = self._jax_step if is_jax else self._step
                model.train_function = wraps_like(functools.partial(step, weakref.ref(model), function), function)
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
            self.trace.ends(FRAMEWORK, 2, COMPILED)
        if is_jax or max([self.trace.requested_level, *self.trace.next]) < 2:
            return False
        return bool(model.distribute_strategy.num_replicas_in_sync == 1)

    def _converting(self, convert: Any) -> Any:
        """What goes around the compiled step: its inputs are given back beside its results."""

        def _autoconvert_optionals(model: Any, step: Any) -> Any:
            function = convert(model, step)
            if self.making is not model:
                return function
            parts = self.parts[model] = []

            def give(data: Any) -> Any:
                tensorflow = sys.modules["tensorflow"]
                tensors = [(name, each) for name, each in _parts_of(data) if isinstance(each, tensorflow.Tensor)]
                if tensorflow.executing_eagerly():  # run_eagerly: told before its layers are
                    self.tell(lambda: self._batch(tensors, self.place))
                    tensors = []
                parts[:] = [name for name, _ in tensors]
                return function(data), tuple(each for _, each in tensors)

            return give

        return _autoconvert_optionals

    def _step(self, reference: Any, function: Any, iterator: Any) -> Any:
        """A batch, with TensorFlow."""
        model = reference()
        parts = self.parts.get(model)
        frame = sys._getframe(1)
        self.tell(lambda: self._before(model, frame, values_of(model)))
        self.step.fitting += 1
        try:
            result = function(iterator)
        finally:
            self.step.fitting -= 1
        logs, batch = result if parts is not None else (result, ())
        self.tell(lambda: self._after(model, frame, logs, zip(parts or (), batch), _values_with_optimizer(model)))
        return logs

    def _jax_step(self, reference: Any, function: Any, state: Any, iterator: Any) -> Any:
        """A batch, with JAX; the arrays of `state` are gone after the call."""
        model = reference()
        frame = sys._getframe(1)
        seen = _Seen(iterator)
        self.tell(lambda: self._before(model, frame, _values_in(model, state)))
        result = function(state, seen)
        self.tell(lambda: self._after(model, frame, result[0], _parts_of(seen.latest), _values_in(model, result[1])))
        return result

    def _before(self, model: Any, frame: Any, values: dict[str, Callable[[], Any]]) -> None:
        trace = self.trace
        self.step.has_loss = False
        if trace.level < 2:
            return
        place = self.place = trace.place(frame)
        self.step.states.record(place)
        self.tell_states(model, values, place)
        self.tell_weights(model, values, place)

    def tell_states(self, model: Any, values: dict[str, Callable[[], Any]], place: int) -> None:
        for name in sorted(_seeds_of(model) & set(values)):
            record(self.trace, "state", "keras/" + name, values[name](), place)
        self.step.at_states(place)

    def tell_weights(self, model: Any, values: dict[str, Callable[[], Any]], place: int) -> None:
        """Once, as they are before the first step that is traced."""
        if model in self.recorded or self.trace.is_dropped:
            return
        self.recorded.add(model)
        seeds = _seeds_of(model)
        for name, give in values.items():
            if name not in seeds:
                record(self.trace, "weights", name, give(), place)

    def _after(self, model: Any, frame: Any, logs: Any, batch: Any, values: dict[str, Callable[[], Any]]) -> None:
        trace, numpy = self.trace, sys.modules["numpy"]
        place = trace.place(frame)
        self._batch(batch, place)
        if isinstance(logs, dict) and "loss" in logs and not self.step.has_loss:
            record_loss(trace, "loss", numpy.asarray(logs["loss"]), place, of="mean of the epoch so far")
        if trace.level >= 2:
            seeds = _seeds_of(model)
            for name, give in values.items():
                if name not in seeds:
                    record(trace, "update", name, give(), place)
        trace.tick()

    def _batch(self, parts: Iterable[tuple[str, Any]], place: int) -> None:
        if self.trace.level >= 2:
            for name, part in parts:
                record_batch(self.trace, name, sys.modules["numpy"].asarray(part), place)

    def tell(self, act: Callable[[], object]) -> None:
        if self.trace.level:
            try:
                act()
            except Exception as error:
                self.recorder.fault("trace of keras", error)


class _Seen:
    """An iterator that knows what it gave last."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.latest: Any = None

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.latest = next(self.inner)
        return self.latest


def _parts_of(data: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a batch as Keras takes them apart."""
    for name, part in zip(PARTS, data if isinstance(data, (tuple, list)) else [data]):
        yield from named_parts(part, name)


def _seeds_of(layer: Any) -> set[str]:
    """Paths of the states of its random generators: no weights."""
    weights = {id(variable) for variable in layer.weights}
    return {variable.path for variable in layer.variables if id(variable) not in weights}


def values_of(layer: Any) -> dict[str, Callable[[], Any]]:
    return {variable.path: functools.partial(to_numpy, variable) for variable in layer.variables}


def _values_with_optimizer(model: Any) -> dict[str, Callable[[], Any]]:
    """Those of the optimizer first: a moment tells of the gradient, a learning rate of itself, weights of either."""
    variables = [*getattr(model.optimizer, "variables", ()), *model.variables]
    return {variable.path: functools.partial(to_numpy, variable) for variable in variables}


def _values_in(model: Any, state: Any) -> dict[str, Callable[[], Any]]:
    """The same of what JAX hands from step to step."""
    trained, untrained, *optimized = zip(
        [model.trainable_variables, model.non_trainable_variables, getattr(model.optimizer, "variables", ())], state
    )
    asarray = sys.modules["numpy"].asarray
    return {
        variable.path: functools.partial(asarray, value)
        for variables, values in (*optimized, trained, untrained)
        for variable, value in zip(variables, values)
    }


@functools.lru_cache(maxsize=None)
def trace_of(context: AdapterContext) -> KerasTrace:
    return KerasTrace(context)

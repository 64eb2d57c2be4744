"""Traces TensorFlow: gradients that are computed eagerly, and calls of functions that train in a graph.

A function is a graph of which only arguments, results and variables are visible. While it is traced its Python code
runs, including tapes and optimizers, which shows whether it trains.
"""

from __future__ import annotations

import sys
import weakref
from zlib import crc32

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...observers.steps import ObservedSteps, StepRecords, named_parts
from ...seeds import wraps_like


def is_eager_tensor(value: Any) -> bool:
    """Whether the value is an eager TensorFlow tensor, dense or sparse."""
    numbers = getattr(value, "values", value) if hasattr(value, "indices") else value
    return hasattr(numbers, "numpy") and not hasattr(value, "graph")


FRAMEWORK = "tensorflow"
COMPILED = "a tf.function is one graph: what is computed inside it never leaves it"
EAGER = "operations outside of graphs are not looked at one by one"
CHANGES = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter")
"""How the names of operations begin that change variables."""


class TensorflowTrace:
    """Traces functions and tapes of the project; the trace of Keras shares what it knows of the current step.

    Attributes:
        fitting: how many calls of `fit` are in a step of theirs.
        has_loss: whether the loss of the step is recorded.
    """

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.trace = context.trace
        self.steps = ObservedSteps(context.trace, context.streams, FRAMEWORK, StepRecords(context.trace, _numbers))
        self.fitting = 0
        self.has_loss = False
        self.running: list[Any] = []
        self.trains: weakref.WeakSet[Any] = weakref.WeakSet()
        self.recorded: weakref.WeakSet[Any] = weakref.WeakSet()
        self.generators: list[Any] = []

    def patch(self) -> None:
        """Patch modules of TensorFlow that are loaded already."""
        tape: Any = sys.modules["tensorflow.python.eager.backprop"].GradientTape
        self.context.observe(tape, "gradient", before=self._differentiates)
        function: Any = sys.modules["tensorflow.python.eager.polymorphic_function.polymorphic_function"].Function
        function.__call__ = self._calling(function.__call__)
        generator: Any = sys.modules["tensorflow.python.ops.stateful_random_ops"].Generator
        self.context.observe(generator, "__init__", after=self._note_generator)

    # ------------------------------------------------------------ tapes

    def _differentiates(self, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> None:
        self.mark()
        if self.running and self.steps.wants_steps:
            self._record_initial(sources)
        elif self.trace.level and is_eager_tensor(target) and not target.shape.ndims:
            self.has_loss = True
            self.trace.ends(FRAMEWORK, 3, EAGER)
            self.steps.loss(target, self.trace.place(sys._getframe(2)))

    def mark(self) -> None:
        """Mark the functions being traced as functions that train."""
        self.trains.update(self.running)

    def _record_initial(self, sources: Any) -> None:
        """A function is traced for the first time: record its weights before it runs."""
        tensorflow = sys.modules["tensorflow"]
        if not all(function in self.recorded for function in self.running):
            self.recorded.update(self.running)
            with tensorflow.init_scope():
                variables = [each for each in tensorflow.nest.flatten(sources) if hasattr(each, "assign")]
                self.steps.weights(((getattr(each, "path", each.name), each) for each in variables), -1)

    # ------------------------------------------------------------ functions

    def _calling(self, original: Any) -> Any:
        tensorflow: Any = sys.modules["tensorflow.python.eager.context"]

        def __call__(self_: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            is_plain = bool(self.trace.level) and not self.fitting and not self.running
            frame = sys._getframe(1)
            if not is_plain or not tensorflow.executing_eagerly() or self.context.project.innermost(frame) is None:
                return original(self_, *args, **kwargs)
            is_told = self_ in self.trains
            if is_told:
                self.steps.attempt(lambda: self._before(self_, frame, args, kwargs))
            self.running.append(self_)
            try:
                result = original(self_, *args, **kwargs)
            finally:
                self.running.pop()
            if self_ in self.trains:
                self.steps.attempt(lambda: self._after(self_, frame, result, None if is_told else (args, kwargs)))
            return result

        return wraps_like(__call__, original)

    def _before(self, function: Any, frame: Any, args: Any, kwargs: Any) -> None:
        place = self.trace.place(frame)
        self.record_states((), place)
        if self.steps.wants_steps and function not in self.recorded:
            self.recorded.add(function)
            self.steps.weights(variables_of(function), place)
        self.steps.batch(_inputs(args, kwargs), place)

    def _after(self, function: Any, frame: Any, result: Any, inputs: Any) -> None:
        """A function that trains was called; whether it does is only known after its first call."""
        place = self.trace.place(frame)
        if inputs is not None:
            self.steps.shared_states(place)
            self.steps.batch(_inputs(*inputs), place)
        self.trace.ends(FRAMEWORK, 2, COMPILED)
        for name, value in named_parts(result, "loss"):
            if is_eager_tensor(value) and not value.shape.ndims and value.dtype.is_floating:
                self.steps.loss(value, place, name)
        if _changes(function):
            self.steps.update(variables_of(function), place)
            self.trace.tick()

    # ------------------------------------------------------------ generators

    def _note_generator(self, result: None, generator: Any, *args: Any, **kwargs: Any) -> None:
        self.generators = [reference for reference in self.generators if reference() is not None]
        self.generators.append(weakref.ref(generator))

    def _states(self) -> Iterator[tuple[str, Any]]:
        """Variables with the states of existing generators, in order of their creation."""
        for number, reference in enumerate(self.generators):
            generator = reference()
            if generator is not None:
                states = generator.__dict__.get("_deviate_states")
                if states is None:
                    yield "tf.Generator[%d]" % number, generator.__dict__.get("_state_var")
                for stream in sorted(states or ()):
                    yield "tf.Generator[%d]/%s" % (number, stream), states[stream]

    def record_states(self, of_model: Any, place: int) -> None:
        """Record the states of all generators: of Python and NumPy, of a model, and of TensorFlow if it is loaded."""
        self.steps.shared_states(place)
        self.steps.states(of_model, place)
        module: Any = sys.modules.get("tensorflow.python.eager.context")
        if module is None or not self.steps.wants_steps:
            return
        context = module.context()
        seeds = getattr(context, "_rng", None)  # of operations that run eagerly
        if seeds is not None and context._seed is not None:
            state = repr((context._seed, seeds.getstate())).encode("ascii")
            self.trace.record("state", "tf", crc32(state), "", place)
        self.steps.states(((name, variable) for name, variable in self._states() if is_eager_tensor(variable)), place)


def _numbers(array: Any) -> Any:
    """The NumPy array of a variable, an eager tensor, or an array of NumPy."""
    return array.numpy() if hasattr(array, "numpy") else array


def _inputs(args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    """Arguments of a function that are arrays with values, variables left out."""
    for name, part in named_parts([*args, *([kwargs] if kwargs else [])], "input"):
        if (is_eager_tensor(part) and not hasattr(part, "assign")) or hasattr(part, "tobytes"):
            yield name, part


def variables_of(function: Any) -> list[tuple[str, Any]]:
    """The variables of a function with their names, without duplicates, in order of creation."""
    variables: dict[int, Any] = {}
    for concrete in function._list_all_concrete_functions():
        for variable in concrete.graph.variables:
            variables.setdefault(id(variable), variable)
    ordered = sorted(variables.values(), key=lambda variable: int(variable._unique_id.rpartition("_")[2]))
    return [(variable.name, variable) for variable in ordered]


def _changes(function: Any) -> bool:
    """Whether a function changes variables, rather than only computing gradients."""
    changes = getattr(function, "_deviate_changes", None)
    if changes is None:
        changes = function._deviate_changes = any(
            operation.type.startswith(CHANGES)
            for concrete in function._list_all_concrete_functions()
            for operation in concrete.graph.get_operations()
        )
    return bool(changes)

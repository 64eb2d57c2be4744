"""Observations: what the adapter of a framework reports, and the observers that each report goes to.

An adapter translates: it patches its framework, and calls a method of `Observations` where a model is called, weights
are updated, a batch is drawn or an evaluation begins. Observers know no framework: they record the hash of the weights
and of the evaluated data, flip one bit, keep predictions and weights, average over augmented images, and take down the
steps of a trace. So a new framework is one adapter, and a new thing to observe is one observer. Generators are reported
to `AdapterContext.seeding` and `AdapterContext.streams`.
"""

from __future__ import annotations

import weakref
from types import FrameType

from .adapter_context import AdapterContext
from .annotations import TYPE_CHECKING, Any, Array, Callable, Iterable, Mapping, Sequence
from .observers.arrays import Arrays
from .observers.bits import OneBit
from .observers.hashing import INPUTS, LABELS, LOADER, Evaluations, weights_digest
from .observers.steps import ObservedSteps, StepRecords, named_parts
from .observers.trace import STEPS
from .pool_workers import is_pool_worker

if TYPE_CHECKING:
    from .observers.capture_sets import Loops
    from .recorder import Recorder

    Weight = tuple[str, Any, bool]
    """Name, array of the framework, and whether its numbers count as parameters; buffers do not."""

NO_MATRIX = "no weight matrix for one-bit"


class Observations:
    """What one framework does in this process; the adapter of a framework with models derives a class from it.

    Attributes:
        framework: what records call the framework.
        arrays: how its arrays are read and changed.
        one_bit: the bit to be flipped.
        evaluations: the hash of what is evaluated.
        ends_evaluation_with_loop: whether the end of a main loop ends an evaluation; else the next training does.
        no_weights: why no bit was flipped where something was trained.
    """

    framework = ""
    ends_evaluation_with_loop = True
    no_weights = NO_MATRIX

    def __init__(self, context: AdapterContext, arrays: Arrays) -> None:
        self.context = context
        self.recorder = context.recorder
        self.arrays = arrays
        self.one_bit = OneBit(context.flip, context.controls.get("one-bit"), arrays)
        self.evaluations = Evaluations(context.recorder, self.framework)
        self._loops: Loops | None = None
        self._steps: ObservedSteps | None = None
        self._recorded: set[str] = set()
        self._has_begun = False
        self._models: weakref.WeakSet[Any] = weakref.WeakSet()
        self._drawn: tuple[Any, Any] | None = None
        """The loader and the batch that it yielded last."""
        self._evidence = INPUTS
        if context.capture.wants_weights:
            context.capture.weights_of[self.framework] = lambda: list(self.kept_weights())
        self.recorder.at_main_end.append(self._end_loop)
        self.recorder.at_close.append(lambda: self.end("exit"))

    # ------------------------------------------------------------ what a framework gives

    def weights(self) -> Iterable[Weight]:
        """The weights of trained models that still exist, in an order that is the same in all runs."""
        return ()

    def kept_weights(self) -> Iterable[tuple[str, Array]]:
        """The weights as they are written to files."""
        return ((name, self.arrays.plain(array)) for name, array, _ in self.weights())

    def has_trained(self) -> bool:
        """Whether anything was trained whose weights the one bit could have been in."""
        return bool(len(self._models))

    def states(self) -> Iterable[tuple[str, Any]]:
        """The states of generators of the framework itself, by name."""
        return ()

    def replace(self, name: str, array: Any) -> None:
        """Put an array in the place of the weight of this name, where arrays cannot be changed in place."""

    # ------------------------------------------------------------ training

    def training_begins(self, model: Any, frame: FrameType) -> None:
        """A step that trains a model is about to run, and what was evaluated before is complete."""
        self.context.look_for_held_out(frame)
        self._models.add(model)
        self.training_continues()
        if self.context.capture.open or (self._loops is not None and self._loops.loops):
            self.context.capture.end_evaluation()
        if self.one_bit.is_due:
            weights = [(name, array, self._shape_of_floats(array)) for name, array, _ in self.weights()]
            flipped = self.one_bit.flip(self.framework, weights)
            if flipped is not None:
                self.replace(weights[flipped[0]][0], flipped[1])
        if self.context.trace.level >= STEPS:
            self._begin_step(self.steps, self.context.trace.place(frame))
        self._drawn = None

    def training_continues(self) -> None:
        """What was evaluated before is complete, and what is evaluated later is another evaluation."""
        self.end_evaluation()
        self.evaluations.train()

    def _begin_step(self, steps: ObservedSteps, place: int) -> None:
        if not self._has_begun:
            self._has_begun = True
            steps.shared_states(place)
            steps.states(self.states(), place)
            weights = [(name, array) for name, array, _ in self.weights() if name not in self._recorded]
            self._recorded.update(name for name, _ in weights)
            steps.weights(weights, place)
        if self._drawn is not None:
            parts = named_parts(self._drawn[1], "input")
            steps.batch(((name, array) for name, array in parts if self.arrays.is_array(array)), place)

    def loss(self, value: Any, frame: FrameType) -> None:
        """The loss of a training step is known."""
        if self.context.trace.level:
            self.steps.loss(value, self.context.trace.place(frame))

    def gradients(self, gradients: Iterable[tuple[str, Any]], frame: FrameType) -> None:
        """Gradients are known, by the names of their weights."""
        if self.context.trace.level:
            self.steps.gradients(gradients, self.context.trace.place(frame))

    def weights_updated(self, frame: FrameType) -> None:
        """An update of the weights is complete, which ends the step."""
        if self.context.trace.level:
            self._has_begun = False
            weights = ((name, array) for name, array, _ in self.weights())
            self.steps.update(weights, self.context.trace.place(frame))
            self.context.trace.tick()

    def batch_drawn(self, loader: Any, batch: Any) -> None:
        """A loader has yielded a batch, which the next call of a model or the next step belongs to.

        Args:
            loader: what the script goes through, in one object for each iteration: its iterator.
            batch: the inputs, or the inputs and the labels.
        """
        self._drawn = loader, batch

    # ------------------------------------------------------------ models

    def model_called(
        self,
        model: Any,
        inputs: Sequence[Any],
        outputs: Any,
        frame: FrameType,
        *,
        is_training: bool,
        again: Callable[[Any], Any] | None = None,
    ) -> None:
        """A model was called by the script, not by another model.

        Args:
            again: calls the model with another first input, without gradients and without moving a generator; gives
                the outputs. Without it there is no test-time augmentation.
        """
        if is_training:
            if self.context.trace.level:
                self.steps.forward(named_parts(outputs, "output"), self.context.trace.place(frame))
            return
        if model not in self._models:
            return
        loader, batch = self._drawn or (None, None)
        self._drawn = None
        examples = list(inputs) if batch is None else [*batch] if isinstance(batch, (list, tuple)) else [batch]
        self.add_to_hash(examples if loader is not None else examples[:1], INPUTS if loader is None else LOADER, loader)
        if self.context.capture.wants_predictions:
            loops = self.loops
            labels = examples[1] if loader is not None and len(examples) > 1 else None
            more = self._augmented(inputs[0], outputs, again) if again is not None else {}
            numbers = self.arrays.numbers
            loop = loops.loop_of(inputs[0], frame, loader)
            if labels is None and loader is None:
                labels = loops.sets.beside(inputs[0], frame)
            loop.add(numbers(outputs), None if labels is None else numbers(labels), [numbers(inputs[0])], more)

    def module_called(self, path: str, outputs: Any, frame: FrameType) -> None:
        """A module within a model was called, in training."""
        if self.context.trace.level:
            arrays = [array for _, array in named_parts(outputs, "")]
            self.steps.module(path, arrays, self.context.trace.place(frame))

    # ------------------------------------------------------------ evaluations

    def evaluated(self, data: Sequence[Any], *, is_labelled: bool) -> None:
        """All data of an evaluation was handed over at once: to `score`, `evaluate` or `predict`."""
        self.end_evaluation()
        self.add_to_hash(data, LABELS if is_labelled else INPUTS)
        self.end_evaluation()

    def add_to_hash(self, examples: Sequence[Any], evidence: str, of_pass: Any = None) -> None:
        """Add a batch to the hash of the evaluation: arrays with a row for each example."""
        if not self.evaluations.is_over:
            arrays = (self.arrays.exact(array) for array in examples if self.arrays.is_array(array))
            read = [(kind, shape, data() if callable(data) else data) for kind, shape, data in arrays]
            self.evaluations.add(read, None if of_pass is None else id(of_pass))
            self._evidence = evidence

    def end_evaluation(self) -> None:
        """The evaluation is over, if there was one."""
        self.evaluations.end(self._evidence)
        self._evidence = INPUTS

    def _end_loop(self) -> None:
        if not self.context.is_beside():
            self.end("loop")

    def end(self, moment: str) -> None:
        """The main loop has ended, "loop", or the process ends, "exit"."""
        is_exit = moment == "exit"
        if is_exit or self.ends_evaluation_with_loop:
            self.end_evaluation()
        if is_exit:
            self.evaluations.close()
            if self.one_bit.is_pending and self.has_trained():
                self.one_bit.moment.record_miss(self.no_weights)
        if not is_pool_worker():  # whose models are those of the tasks that it happened to get
            self.record_weights(moment)

    def record_weights(self, moment: str) -> None:
        """Record the hash of the weights, if there are any."""
        record_weights(self.recorder, self.arrays, self.framework, moment, self.weights())

    # ------------------------------------------------------------ arrays

    def _augmented(self, batch: Any, outputs: Any, again: Callable[[Any], Any]) -> Mapping[str, Any]:
        capture, numbers = self.context.capture, self.arrays.numbers
        if not capture.augmentations:
            return {}
        from .observers.augmentations import Augmentation  # few runs ask for copies

        def call(copy: Any) -> Any:
            return numbers(again(self.arrays.like(copy, batch)))

        return Augmentation(capture, self.arrays.images()).outputs(numbers(batch), numbers(outputs), call)

    def _shape_of_floats(self, array: Any) -> Sequence[int]:
        """The shape of an array, () where its numbers are no floating-point numbers."""
        kind, shape = self.arrays.form(array)
        return shape if "float" in kind else ()

    @property
    def loops(self) -> Loops:
        """Keeps outputs, where this run keeps any."""
        if self._loops is None:
            from .observers.capture_sets import Loops  # most runs keep nothing

            self._loops = Loops(self.context.capture, self.context.project, self.framework)
        return self._loops

    @property
    def steps(self) -> ObservedSteps:
        """Takes down training steps, where this run is traced."""
        if self._steps is None:
            trace = self.context.trace
            records = StepRecords(trace, self.arrays.numbers)
            self._steps = ObservedSteps(trace, self.context.streams, self.framework, records)
        return self._steps


def record_weights(recorder: Recorder, arrays: Arrays, framework: str, moment: str, weights: Iterable[Weight]) -> None:
    """Record the hash of these weights, if there are any.

    Args:
        framework: what the record calls the framework.
        moment: "loop" where the main loop has ended, "exit" where the process ends.
    """
    exact: list[tuple[str, Array]] = []
    n_parameters = 0
    for name, array, is_parameter in weights:
        exact.append((name, arrays.exact(array)))
        n_parameters += arrays.size(array) if is_parameter else 0
    if exact:
        recorder.event("weights", moment, framework, weights_digest(exact), n_parameters)

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
from .annotations import TYPE_CHECKING, Any, Callable, Iterable, Sequence
from .observers.array_trace import named_parts
from .observers.arrays import Arrays
from .observers.bits import OneBit
from .observers.evaluations import INPUTS, LABELS, LOADER, Evaluations
from .observers.weights import record_weights

if TYPE_CHECKING:
    from .observers.augmentations import Augmentation
    from .observers.loops import Loops
    from .observers.steps import Steps
    from .observers.weights import Weight

NO_MATRIX = "no weight matrix for one-bit"


class Observations:
    """What one framework does in this process.

    Args:
        framework: what records call it.
        arrays: how its arrays are read and changed.
        weights: gives the weights of trained models that still exist, in an order that is the same in all runs.
        replace: puts an array in the place of the weight of this name, where arrays cannot be changed in place.
        states: gives the states of generators of the framework itself, by name.

    Attributes:
        one_bit: the bit to be flipped.
        evaluations: the hash of what is evaluated.
        predictions: keeps outputs; None where this run keeps none.
        steps: takes down training steps; None where this run is not traced.
    """

    def __init__(
        self,
        context: AdapterContext,
        framework: str,
        arrays: Arrays,
        weights: Callable[[], Iterable[Weight]],
        *,
        replace: Callable[[str, Any], object] = lambda name, array: None,
        states: Callable[[], Iterable[tuple[str, Any]]] = lambda: (),
    ) -> None:
        self.context = context
        self.recorder = context.recorder
        self.capture = context.capture
        self.framework = framework
        self.arrays = arrays
        self.weights = weights
        self.replace = replace
        self.states = states
        self.one_bit = OneBit(context.flip, context.controls.get("one-bit"), arrays)
        self.evaluations = Evaluations(context.recorder, framework)
        self.predictions: Loops | None = None
        if self.capture.wants_predictions:
            from .observers.loops import Loops  # most runs keep nothing

            self.predictions = Loops(self.capture, context.project, framework)
            self.capture.at_end.append(self.predictions.hand_over)
        self.augmentation: Augmentation | None = None
        if self.capture.wants_predictions and self.capture.augmentations:
            from .observers.augmentations import Augmentation  # few runs ask for copies

            self.augmentation = Augmentation(self.capture, arrays.images())
        if self.capture.wants_weights:
            self.capture.weights_of[framework] = lambda: [(name, arrays.plain(array)) for name, array, _ in weights()]
        self.steps: Steps | None = None
        if context.trace.requested_level:
            from .observers.steps import Steps  # most runs are not traced

            self.steps = Steps(context.trace, context.streams, framework, arrays.numbers)
        self.recorded: set[str] = set()
        self.has_begun = False
        self.trained: weakref.WeakSet[Any] = weakref.WeakSet()
        self.drawn: tuple[Any, Any] | None = None
        """The loader and the batch that it yielded last."""
        self.evidence = ""
        self.recorder.at_main_end.append(lambda: self.end("loop"))
        self.recorder.at_close.append(lambda: self.end("exit"))

    # ------------------------------------------------------------ training

    def training_begins(self, model: Any, frame: FrameType) -> None:
        """A step that trains a model is about to run, and what was evaluated before is complete."""
        self.context.look_for_held_out(frame)
        self.trained.add(model)
        self._end_evaluation()
        self.evaluations.train()
        if self.capture.open or (self.predictions is not None and self.predictions.loops):
            self.capture.end_evaluation()
        if self.one_bit.is_due:
            weights = [(name, array, self._shape_of_floats(array)) for name, array, _ in self.weights()]
            flipped = self.one_bit.flip(self.framework, weights)
            if flipped is not None:
                self.replace(weights[flipped[0]][0], flipped[1])
        if self.steps is not None and self.steps.wants_steps:
            self._begin_step(self.steps, self.context.trace.place(frame))
        self.drawn = None

    def _begin_step(self, steps: Steps, place: int) -> None:
        if not self.has_begun:
            self.has_begun = True
            steps.shared_states(place)
            steps.states(self.states(), place)
            if not self.context.trace.is_dropped:
                weights = [(name, array) for name, array, _ in self.weights() if name not in self.recorded]
                self.recorded.update(name for name, _ in weights)
                steps.weights(weights, place)
        if self.drawn is not None:
            parts = named_parts(self.drawn[1], "input")
            steps.batch(((name, array) for name, array in parts if self.arrays.is_array(array)), place)

    def loss(self, value: Any, frame: FrameType) -> None:
        """The loss of a training step is known."""
        if self.steps is not None:
            self.steps.loss(value, self.context.trace.place(frame))

    def gradients(self, gradients: Iterable[tuple[str, Any]], frame: FrameType) -> None:
        """Gradients are known, by the names of their weights."""
        if self.steps is not None:
            self.steps.gradients(gradients, self.context.trace.place(frame))

    def weights_updated(self, frame: FrameType) -> None:
        """An update of the weights is complete, which ends the step."""
        if self.steps is not None:
            self.has_begun = False
            weights = ((name, array) for name, array, _ in self.weights())
            self.steps.update(weights, self.context.trace.place(frame))
            if self.context.trace.level:
                self.context.trace.tick()

    def batch_drawn(self, loader: Any, batch: Any) -> None:
        """A loader has yielded a batch, which the next call of a model or the next step belongs to.

        Args:
            loader: what the script goes through, in one object for each iteration: its iterator.
            batch: the inputs, or the inputs and the labels.
        """
        self.drawn = loader, batch

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
            if self.steps is not None:
                self.steps.forward(named_parts(outputs, "output"), self.context.trace.place(frame))
            return
        if model not in self.trained:
            return
        loader, batch = self.drawn or (None, None)
        self.drawn = None
        examples = list(inputs) if batch is None else [*batch] if isinstance(batch, (list, tuple)) else [batch]
        self.add_to_hash(examples if loader is not None else examples[:1], INPUTS if loader is None else LOADER, loader)
        if self.predictions is not None:
            labels = examples[1] if loader is not None and len(examples) > 1 else None
            more = self._augmented(inputs[0], outputs, again) if again is not None else {}
            numbers = self.arrays.numbers
            loop = self.predictions.loop_of(inputs[0], frame, loader)
            if labels is None and loader is None:
                labels = self.predictions.sets.beside(inputs[0], frame)
            loop.add(numbers(outputs), None if labels is None else numbers(labels), [numbers(inputs[0])], more)

    def module_called(self, path: str, outputs: Any, frame: FrameType) -> None:
        """A module within a model was called, in training."""
        if self.steps is not None:
            arrays = [array for _, array in named_parts(outputs, "")]
            self.steps.module(path, arrays, self.context.trace.place(frame))

    def compiled(self, level: int, reason: str) -> None:
        """A region is compiled as a whole: a trace shows nothing above this level, for this reason, in words."""
        self.context.trace.ends(self.framework, level, reason)

    # ------------------------------------------------------------ evaluations

    def evaluated(self, data: Sequence[Any], *, is_labelled: bool) -> None:
        """All data of an evaluation was handed over at once: to `score`, `evaluate` or `predict`."""
        self._end_evaluation()
        self.add_to_hash(data, LABELS if is_labelled else INPUTS)
        self._end_evaluation()

    def add_to_hash(self, examples: Sequence[Any], evidence: str, of_pass: Any = None) -> None:
        """Add a batch to the hash of the evaluation: arrays with a row for each example."""
        if not self.evaluations.is_over:
            arrays = [self.arrays.exact(array) for array in examples if self.arrays.is_array(array)]
            self.evaluations.add(arrays, None if of_pass is None else id(of_pass))
            self.evidence = evidence

    def _end_evaluation(self) -> None:
        self.evaluations.end(self.evidence or INPUTS)
        self.evidence = ""

    def end(self, moment: str) -> None:
        """The main loop has ended, "loop", or the process ends, "exit"."""
        self._end_evaluation()
        if moment == "exit":
            self.evaluations.close()
            if self.one_bit.is_pending and len(self.trained):
                self.one_bit.moment.record_miss(NO_MATRIX)
        record_weights(self.recorder, self.arrays, self.framework, moment, self.weights())

    # ------------------------------------------------------------ arrays

    def _augmented(self, batch: Any, outputs: Any, again: Callable[[Any], Any]) -> dict[str, Any]:
        if self.augmentation is None:
            return {}
        numbers = self.arrays.numbers

        def call(copy: Any) -> Any:
            return numbers(again(self.arrays.like(copy, batch)))

        return self.augmentation.outputs(numbers(batch), numbers(outputs), call)

    def _shape_of_floats(self, array: Any) -> Sequence[int]:
        """The shape of an array, () where its numbers are no floating-point numbers."""
        kind, shape = self.arrays.form(array)
        return shape if "float" in kind else ()

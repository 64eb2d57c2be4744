"""Evidence that runs of TensorFlow and Keras are equal: hashes of trained weights and of the first evaluation's data.

Trained weights belong to models that are fitted, to variables that Keras optimizers change, and to variables that
gradients are computed for. Nothing here keeps them alive, draws random numbers, or changes any number except the one
bit to be flipped.
"""

from __future__ import annotations

import gc
import sys
import weakref
from threading import get_ident
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Array, Callable, Iterable, Iterator
from ...npz import CODES
from ...observations import Observations, record_weights
from ...observers.arrays import Arrays
from ...observers.hashing import INPUTS, LABELS, LOADER


class Variables(Arrays):
    """Variables of any Keras backend, and of TensorFlow; NumPy arrays of examples."""

    def numbers(self, array: Any) -> Any:
        return array if type(array).__module__ == "numpy" else to_numpy(array)

    def exact(self, array: Any) -> Array:
        """For object arrays, such as strings, the bytes are those of their representations."""
        kind, shape, data = super().exact(array)
        if kind == "object":
            numpy = sys.modules["numpy"]
            data = numpy.array([repr(item) for item in array.ravel()]).reshape(shape).tobytes()
        return kind, shape, data

    def flip(self, array: Any, index: tuple[int, ...]) -> tuple[Any, float, float] | None:
        flipped = super().flip(array, index)
        if flipped is not None:
            array.assign(flipped[0])
        return flipped


class TensorFlowProof(Observations):
    """Trained models and variables, in order of training."""

    framework = "keras"

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context, Variables())
        context.flip.at_step.append(self._flip_later)
        self.models: dict[int, Any] = {}
        self.variables: dict[int, Any] = {}
        self.is_told = False
        self.called: Callable[[], Any] = lambda: None
        """The model whose calls are the evaluation, and the steps of main loops in which it was called."""
        self.step: tuple[tuple[int, int], ...] = ()

    # ------------------------------------------------------------ what is trained

    def train(self, model: Any) -> None:
        """A Keras model is about to be trained."""
        self._remember(self.models, model)
        if self.one_bit.is_due and model.built:
            self.flip(model.trainable_variables)

    def optimize(self, variables: Any) -> None:
        """Variables are about to be updated, or their gradients are computed."""
        if not isinstance(variables, (list, tuple)):
            return
        assignable = [variable for variable in variables if hasattr(variable, "assign")]
        for variable in assignable:
            self._remember(self.variables, variable)
        if assignable and self.one_bit.is_due:
            self.flip(assignable)

    def _remember(self, references: dict[int, Any], target: Any) -> None:
        """Remember an object; those trained before the last reported hash are dropped, as they may no longer exist."""
        if self.is_told:
            self.is_told = False
            self.models.clear()
            self.variables.clear()
        reference = references.get(id(target))
        if reference is None or reference() is not target:
            references.pop(id(target), None)
            references[id(target)] = weakref.ref(target)

    def is_trained(self, layer: Any) -> bool:
        """Whether a Keras layer has trained weights."""
        identities = {id(tensor) for variable in self._live(self.variables) for tensor in identities_of(variable)}
        return any(not identities.isdisjoint(identities_of(variable)) for variable in layer.trainable_variables) or any(
            layer is model for model in self._live(self.models)
        )

    def living_models(self) -> Iterator[Any]:
        """The trained models that still exist."""
        return self._live(self.models)

    def _live(self, references: dict[int, Any]) -> Iterator[Any]:
        for reference in list(references.values()):
            target = reference()
            if target is not None:
                yield target

    # ------------------------------------------------------------ their hash

    def record_weights(self, moment: str) -> None:
        frame = sys._getframe(1)
        models = list(self._live(self.models))
        held = [model for model in models if _is_held(model, frame)]
        if moment == "exit" and self.is_told and models and not held:
            return  # they were told when they had been trained, and nobody can have changed them since
        if len(held) < len(models) or not self._have_all_variables(held):
            # Models are in cycles of references: without this, the result would depend on when garbage is collected.
            # To look at every object of the framework takes up to half a second, and few scripts need it.
            del models, held
            gc.collect()
        framework = "keras" if any(self._live(self.models)) else "tensorflow"
        record_weights(self.recorder, self.arrays, framework, moment, self.weights())
        self.is_told = True

    def _have_all_variables(self, models: Iterable[Any]) -> bool:
        """Whether each variable that was trained and still exists is one of these models'."""
        identities = {identity for model in models for weight in model.weights for identity in identities_of(weight)}
        return all(not identities.isdisjoint(identities_of(variable)) for variable in self._live(self.variables))

    def kept_weights(self) -> Iterator[tuple[str, Array]]:
        """All variables of trained models that hold numbers."""
        return (pair for pair in super().kept_weights() if pair[1][0] in CODES)

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        """Names and variables, without duplicates, and whether they are trained."""
        recorded: set[int] = set()
        for name, variable in self.named_variables():
            identities = identities_of(variable)
            if recorded.isdisjoint(identities):
                recorded.update(identities)
                is_trained = bool(getattr(variable, "trainable", True))
                first, *others = _copies_of(variable) or [variable]
                yield name, first, is_trained
                for number, copy in enumerate(others, 1):
                    if copy.numpy().tobytes() != first.numpy().tobytes():
                        yield "%s, copy %d" % (name, number), copy, is_trained

    def named_variables(self) -> Iterator[tuple[str, Any]]:
        for number, model in enumerate(self._live(self.models)):
            for index, variable in enumerate(model.weights):
                yield "model %d.%d.%s" % (number, index, getattr(variable, "path", variable.name)), variable
        for number, variable in enumerate(self._live(self.variables)):
            yield "variable %d.%s" % (number, variable.name), variable

    def has_trained(self) -> bool:
        return bool(self.models or self.variables)

    # ------------------------------------------------------------ evaluations

    def see_data(self, data: Any, targets: Any, *, is_labelled: bool) -> None:
        """All data of an evaluation is handed over at once: arrays, or a dataset.

        Args:
            is_labelled: whether the method compares outputs with true labels: nobody hands it what a model made.
        """
        self.end_evaluation()
        arrays = list(_arrays((data, targets)))
        evidence = LABELS if is_labelled else INPUTS
        if not arrays:
            arrays, evidence = list(_sources(data) or ()), LOADER
        self._add_rows(arrays, evidence)
        self.end_evaluation()

    def see_call(self, model: Any, value: Any) -> None:
        """A trained model is called for inference, not by another model."""
        running = self.recorder.running.get(get_ident(), [])
        step = tuple((loop.id, loop.step) for loop in running if loop.id in self.recorder.main_ids)
        if self.called() is not model or self.step != step:
            self.end_evaluation()
        if not self.evaluations.is_over and self.is_trained(model):
            arrays = list(_arrays(value))[:1]
            if arrays:
                self.called, self.step = weakref.ref(model), step
                self._add_rows(arrays, INPUTS)

    def _add_rows(self, arrays: list[Any], evidence: str) -> None:
        """Add those arrays that have as many rows as the first."""
        self.add_to_hash([each for each in arrays if each.shape[0] == arrays[0].shape[0]], evidence)

    # ------------------------------------------------------------ one bit

    def flip(self, variables: Iterable[Any]) -> None:
        """Flip the lowest bit of one element; in a graph under construction, before its first run."""
        with self.recorder.guarded("one-bit"), _outside_of_graphs():
            weights = [
                (getattr(weight, "path", weight.name), weight, tuple(map(int, weight.shape)))
                for weight in _each_once(variables)
            ]
            if weights and to_numpy(weights[0][1]).shape == weights[0][2]:
                # Else a graph is being built, and its variables have no values yet.
                self.one_bit.flip("keras" if self.models else "tensorflow", weights)

    def _flip_later(self) -> None:
        """A later step of the main loop begins, with models and variables that were trained before it."""
        if self.one_bit.is_pending:
            trainable = [variable for model in self._live(self.models) for variable in model.trainable_variables]
            self.flip(trainable or self._live(self.variables))


MOST_HELD = 10_000
"""Objects of the script among which a model is looked for."""


def _is_held(target: Any, frame: FrameType | None) -> bool:
    """Whether this frame, one that called it or the main module has an object, be it in a container or an attribute."""
    waiting: list[Any] = []
    while frame is not None:
        waiting.append(dict(frame.f_locals))
        frame = frame.f_back
    waiting.append(vars(sys.modules["__main__"]))  # which has it most often, and is looked at first
    seen: set[int] = set()
    while waiting and len(seen) < MOST_HELD:
        candidate = waiting.pop()
        if candidate is target:
            return True
        if id(candidate) not in seen:
            seen.add(id(candidate))
            if type(candidate) is dict:  # what is derived from it may run code of the script
                waiting += candidate.values()
            elif type(candidate) in (list, tuple):
                waiting += candidate
            elif type(candidate).__module__ == "__main__":
                waiting.append(getattr(candidate, "__dict__", None))
    return False


def to_numpy(variable: Any) -> Any:
    """The value of a variable of any Keras backend."""
    if hasattr(variable, "_value") and "keras.src.backend" in sys.modules:
        return sys.modules["keras.src.backend"].convert_to_numpy(variable)
    return variable.numpy()


def identities_of(variable: Any) -> set[int]:
    """Ids of a Keras variable and of the backend variable in it."""
    return {id(variable), id(getattr(variable, "_value", variable))}


def _copies_of(variable: Any) -> list[Any]:
    """The variables in this process that a strategy keeps for one; none without a strategy.

    Reading the one may add up the copies of all workers, for which each of them would have to read it.
    """
    distributed = getattr(variable, "_value", variable)
    is_distributed = type(distributed).__module__.startswith("tensorflow.python.distribute")
    return list(getattr(distributed, "values", ())) if is_distributed else []


def _each_once(variables: Iterable[Any]) -> Iterator[Any]:
    seen: set[int] = set()
    for variable in variables:
        identities = identities_of(variable)
        is_float = "float" in str(getattr(variable.dtype, "name", variable.dtype))
        if is_float and getattr(variable, "trainable", True) and seen.isdisjoint(identities):
            seen.update(identities)
            yield variable


def _outside_of_graphs() -> Any:
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        import contextlib

        return contextlib.nullcontext()
    return tensorflow.init_scope()


# ---------------------------------------------------------------- evaluations

# Arrays are read that are passed to `evaluate`, to `predict` after training, or to a model called for inference. For a
# dataset, the arrays that it was created from are read, if each of their rows becomes one example. No dataset is
# iterated.

SAME_ROWS = frozenset((
    "CacheDataset", "_BatchDataset", "_MapDataset", "_OptionsDataset", "_PaddedBatchDataset", "_ParallelBatchDataset",
    "_ParallelMapDataset", "_PrefetchDataset", "_ShuffleDataset",
))  # fmt: skip
"""Datasets with the examples of the one that they are made of: in batches, in another order, or changed one by one."""
DEEPEST = 100


def _arrays(value: Any) -> Iterator[Any]:
    """NumPy arrays of the arrays, tensors and tables in a structure that have rows; graph tensors are skipped."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
    elif hasattr(value, "__array__") and hasattr(value, "shape") and not hasattr(value, "_input_dataset"):
        numpy = sys.modules["numpy"]
        try:
            array = numpy.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
        except Exception:  # a graph tensor, or one on a device that its library does not copy from
            return
        if array.ndim:
            yield array


def _sources(dataset: Any) -> list[Any] | None:
    """Arrays whose rows are the examples of a dataset; None if that is unknown without iterating."""
    splits: list[tuple[str, int]] = []
    for _ in range(DEEPEST):
        kind = type(dataset).__name__
        if kind == "_TensorSliceDataset":
            arrays = list(_arrays(list(dataset._tensors)))
            for name, count in reversed(splits):
                arrays = [array[:count] if name == "_TakeDataset" else array[count:] for array in arrays]
            return arrays
        if kind in ("_TakeDataset", "_SkipDataset"):
            splits.append((kind, int(dataset._count)))
            if splits[-1][1] < 0:
                return None
        elif kind not in SAME_ROWS:
            return None
        elif splits and kind in ("_ShuffleDataset", "_BatchDataset", "_ParallelBatchDataset", "_PaddedBatchDataset"):
            return None  # which rows are selected depends on the order or the batch size
        dataset = getattr(dataset, "_deviate_input", None) or getattr(dataset, "_input_dataset", None)
    return None

"""Evidence that runs of TensorFlow and Keras are equal: hash of trained weights; also the flip of one bit.

Trained weights belong to models that are fitted, to variables that Keras optimizers change, and to variables that
gradients are computed for. Nothing here keeps them alive or draws random numbers.
"""

from __future__ import annotations

import gc
import sys
import weakref

from ...adapter_context import AdapterContext
from ...annotations import Any, Array, Iterable, Iterator
from ...npz import CODES
from ...observations import Observations
from ...observers.arrays import Arrays
from ...observers.hashing import record_weights


class Variables(Arrays):
    """Variables of any Keras backend, and of TensorFlow."""

    def numbers(self, array: Any) -> Any:
        return to_numpy(array)

    def flip(self, array: Any, index: tuple[int, ...]) -> tuple[Any, float, float] | None:
        flipped = super().flip(array, index)
        if flipped is not None:
            array.assign(flipped[0])
        return flipped


class Proof(Observations):
    """Trained models and variables, in order of training."""

    framework = "keras"

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context, Variables())
        context.flip.at_step.append(self._flip_later)
        self.models: dict[int, Any] = {}
        self.variables: dict[int, Any] = {}
        self.is_told = False

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
        n_trained = len(self.models) + len(self.variables)
        if n_trained > 1 or (n_trained and moment == "exit"):
            gc.collect()  # otherwise the result would depend on when garbage is collected
        framework = "keras" if any(self._live(self.models)) else "tensorflow"
        record_weights(self.recorder, self.arrays, framework, moment, self.weights())
        self.is_told = True

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
                yield name, variable, bool(getattr(variable, "trainable", True))

    def named_variables(self) -> Iterator[tuple[str, Any]]:
        for number, model in enumerate(self._live(self.models)):
            for index, variable in enumerate(model.weights):
                yield "model %d.%d.%s" % (number, index, getattr(variable, "path", variable.name)), variable
        for number, variable in enumerate(self._live(self.variables)):
            yield "variable %d.%s" % (number, variable.name), variable

    def has_trained(self) -> bool:
        return bool(self.models or self.variables)

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


def to_numpy(variable: Any) -> Any:
    """The value of a variable of any Keras backend."""
    if hasattr(variable, "_value") and "keras.src.backend" in sys.modules:
        return sys.modules["keras.src.backend"].convert_to_numpy(variable)
    return variable.numpy()


def identities_of(variable: Any) -> set[int]:
    """Ids of a Keras variable and of the backend variable in it."""
    return {id(variable), id(getattr(variable, "_value", variable))}


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

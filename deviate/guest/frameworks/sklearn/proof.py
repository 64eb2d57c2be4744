"""Hashes what was fitted with scikit-learn, the arrays of estimators, and the data that they predict or score first."""

from __future__ import annotations

import functools
import sys
import weakref
from threading import get_ident

from ...adapter_context import AdapterContext
from ...annotations import Any, Array, Callable, Iterator, Sequence
from ...npz import CODES
from ...observations import Observations
from ...observers.arrays import Arrays, array_of
from ...observers.hashing import INPUTS, LABELS
from ...regions import Held
from ...seeds import wraps_like

DEEPEST = 6
NO_WEIGHTS = "an estimator makes its weights within its first `fit` or `partial_fit`, so there are none before that"


class SklearnProof(Observations):
    """Estimators fitted by the script that still exist, except those that are parts of others."""

    framework = "sklearn"
    ends_evaluation_with_loop = False
    no_weights = NO_WEIGHTS

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context, Arrays())
        self.capture: Any = None
        self.tracing: Any = None
        if context.trace.requested_level:
            from .trace import SklearnTrace  # most runs are not traced

            self.tracing = SklearnTrace(self, _arrays)
        self.fitted: list[Any] = []
        self.inside = 0
        self.watched: set[tuple[type, str]] = set()
        self.predicting = 0
        self.latest: Any = _nothing
        self.evidence = LABELS

    def patch(self, base: Any) -> None:
        """Patch the decorator through which scikit-learn defines all `fit` methods."""
        original = base._fit_context
        base._fit_context = wraps_like(lambda *args, **kwargs: self._decorator(original(*args, **kwargs)), original)

    def _decorator(self, decorate: Any) -> Any:
        def decorate_method(method: Any) -> Any:
            original = decorate(method)

            def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
                if self.capture is not None and not self.inside:
                    self.recorder.tell([self.capture.begin_training])
                if not self.inside:
                    self.context.look_for_held_out(sys._getframe(1))
                    self.training_continues()
                self.inside += 1
                self.recorder.fitting += 1
                try:
                    if self.tracing is None:
                        return original(estimator, *args, **kwargs)
                    with self.tracing.step(estimator, args, kwargs, sys._getframe(1)):
                        return original(estimator, *args, **kwargs)
                finally:
                    self.inside -= 1
                    self.recorder.fitting -= 1
                    if not self.inside:
                        self._note(estimator)
                        if is_predictor(estimator):
                            goes_on = method.__name__ == "partial_fit" or getattr(estimator, "warm_start", False)
                            self.recorder.train(estimator, is_anew=not goes_on)
                        if not self.evaluations.is_over:
                            # Methods of the script's own classes are not replaced, as they may be pickled by value.
                            watch_methods(type(estimator), METHODS, self._watching, self.watched, "sklearn.")
                    if self.capture is not None:
                        self.recorder.tell([lambda: self.capture.see_fit(estimator)])

            return wraps_like(fit, original)

        return decorate_method

    def _note(self, estimator: Any) -> None:
        if not any(reference() is estimator for reference in self.fitted):
            self.fitted.append(weakref.ref(estimator))

    def fitted_arrays(self) -> Iterator[tuple[str, Any]]:
        """Arrays of the estimators that still exist, by name."""
        for number, reference in enumerate(self.fitted):
            estimator = reference()
            if estimator is not None:
                yield from _arrays("%d.%s" % (number, type(estimator).__name__), estimator, 0)

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        return ((name, array, True) for name, array in self.fitted_arrays())

    def kept_weights(self) -> Iterator[tuple[str, Array]]:
        """Numeric arrays that are no single numbers."""
        return ((name, array) for name, array in super().kept_weights() if array[0] in CODES and array[1])

    def has_trained(self) -> bool:
        return bool(self.fitted) and not self.one_bit.moment.is_over

    # ------------------------------------------------------------ evaluations

    def _watching(self, name: str, original: Any) -> Any:
        """Watch a method, unless it is called by another one or while an estimator is fitted, which may predict."""

        @functools.wraps(original)
        def method(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            is_nested = self.predicting or self.inside
            if is_nested or self.evaluations.is_over or get_ident() != self.context.streams.thread:
                return original(estimator, *args, **kwargs)
            with self.recorder.guarded("data of %s" % name):
                self._take(name, args, kwargs)
            with Held(self, "predicting", self.predicting + 1):
                return original(estimator, *args, **kwargs)

        return method

    def _take(self, name: str, args: Any, kwargs: Any) -> None:
        """Add a call, which is one pass. Consecutive calls on one array, for classes and probabilities, count once."""
        data = [args[0] if args else kwargs.get("X")]
        if name == SCORE:
            data.append(args[1] if len(args) > 1 else kwargs.get("y"))
        if self.latest() is data[0]:
            return
        try:
            self.latest = weakref.ref(data[0])
        except TypeError:  # a list
            pass
        if len(data) < 2 or data[1] is None:
            self.evidence = INPUTS
        arrays = [_array(value) for value in data if value is not None]
        if arrays and all(array[1][0] == arrays[0][1][0] for array in arrays):
            self.evaluations.add(arrays)

    def end_evaluation(self) -> None:
        self.evaluations.end(self.evidence)
        self.latest = _nothing
        self.evidence = LABELS


PREDICTORS = frozenset((
    "ClassifierMixin", "RegressorMixin", "ClusterMixin", "DensityMixin", "OutlierMixin", "BaseSearchCV",
))  # fmt: skip
"""Base classes of what is trained to predict; others prepare the data …"""
CALIBRATORS = frozenset(("CalibratedClassifierCV", "IsotonicRegression"))
"""… and these correct what was predicted."""


def is_predictor(estimator: Any) -> bool:
    """Whether an estimator predicts; a pipeline is what its last step is."""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        return is_predictor(steps[-1][-1])
    names = {cls.__name__ for cls in type(estimator).__mro__}
    return not names.isdisjoint(PREDICTORS) and names.isdisjoint(CALIBRATORS)


def _arrays(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Numeric arrays in fitted attributes, whose names end with an underscore.

    Structured arrays are split into fields, since padding between fields has arbitrary contents.
    """
    if depth > DEEPEST:
        return
    dtype = getattr(value, "dtype", None)
    if dtype is not None and hasattr(value, "tobytes"):
        if dtype.names:
            for field in dtype.names:
                yield from _arrays("%s.%s" % (name, field), value[field], depth + 1)
        elif dtype.kind in "fiub":
            yield name, value
        elif dtype.hasobject:  # members of an ensemble
            yield from _arrays(name, value.tolist(), depth)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _arrays("%s.%d" % (name, index), item, depth + 1)
    else:
        for key, item in sorted(_parts(value).items()):
            yield from _arrays("%s.%s" % (name, key), item, depth + 1)


def _parts(value: Any) -> dict[str, Any]:
    """Fitted attributes of an estimator, and the arrays of a scikit-learn tree."""
    if hasattr(value, "get_params"):
        mine = vars(value).items()
        attributes = {key: item for key, item in mine if key.endswith("_") and not key.startswith("_")}
        for key, pairs in mine:  # a pipeline fits its steps themselves, not copies that it keeps in `steps_`
            for pair in pairs if isinstance(pairs, list) else ():
                if isinstance(pair, tuple) and len(pair) > 1 and hasattr(pair[1], "get_params"):
                    attributes["%s.%s" % (key, pair[0])] = pair[1]
        return attributes
    return value.__getstate__() if type(value).__module__.startswith("sklearn.tree") else {}


# ---------------------------------------------------------------- evaluations

SCORE = "score"
METHODS = (SCORE, "predict", "predict_proba", "predict_log_proba", "decision_function")


def watch_methods(
    kind: type, names: Sequence[str], watch: Callable[[str, Any], Any], watched: set[tuple[type, str]], prefix: str = ""
) -> None:
    """Replace methods of a class by the results of `watch`, where they are defined.

    Args:
        watched: classes and names of methods that are replaced already.
        prefix: what the module of a class begins with whose methods are replaced.
    """
    for name in names:
        owner = next((cls for cls in kind.__mro__ if name in cls.__dict__), None)
        if owner is None or (owner, name) in watched or not owner.__module__.startswith(prefix):
            continue
        watched.add((owner, name))
        method = owner.__dict__[name]
        if hasattr(method, "fn") and hasattr(method, "check"):  # available under a condition
            setattr(owner, name, type(method)(watch(name, method.fn), method.check, method.attribute_name))
        elif callable(method):
            setattr(owner, name, watch(name, method))


def _nothing() -> None:
    """What there was before the first data."""


def _array(value: Any) -> Array:
    """Rows of numbers or strings; for sparse matrices and tables, those of their contents."""
    if hasattr(value, "tocsr"):
        value = value.tocsr()
        value.sort_indices()
        numpy = sys.modules["numpy"]
        rows = [
            repr((value.indices[first:last].tolist(), value.data[first:last].tolist()))
            for first, last in zip(value.indptr, value.indptr[1:])
        ]
        texts = numpy.array(rows)
        return texts.dtype.str, texts.shape, texts.tobytes()
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    return array_of(value)

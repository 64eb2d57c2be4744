"""Hashes the data of the first evaluation in scikit-learn: data that fitted estimators predict or score."""

from __future__ import annotations

import functools
import sys
import weakref
from threading import get_ident

from ...adapter_context import AdapterContext
from ...annotations import Any, Array, Callable, Iterator, Sequence
from ...arrays import array_of
from ...observers.hashing import INPUTS, LABELS, Evaluations

SCORE = "score"
METHODS = (SCORE, "predict", "predict_proba", "predict_log_proba", "decision_function")


class Evaluation:
    """Watches methods of fitted classes; nested calls are ignored.

    Args:
        data: the hash of what is evaluated.
        is_fitting: whether an estimator is being fitted, which may predict for itself.
    """

    def __init__(self, context: AdapterContext, data: Evaluations, is_fitting: Callable[[], bool]) -> None:
        self.recorder = context.recorder
        self.thread = context.streams.thread
        self.is_fitting = is_fitting
        self.data = data
        self.kinds: set[type] = set()
        self.watched: set[tuple[type, str]] = set()
        self.inside = 0
        self.latest: Any = _nothing
        self.evidence = LABELS

    def patch(self, kind: type) -> None:
        """A class was fitted. Methods of the script's own classes are not patched, as they may be pickled by value."""
        if kind in self.kinds or self.data.is_over:
            return
        self.kinds.add(kind)
        for owner, name in owners_of(kind, METHODS):
            if (owner, name) not in self.watched and owner.__module__.startswith("sklearn."):
                self.watched.add((owner, name))
                replace_method(owner, name, self._watching)

    def _watching(self, name: str, original: Any) -> Any:
        @functools.wraps(original)
        def method(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            is_asked = not (self.inside or self.data.is_over or self.is_fitting()) and get_ident() == self.thread
            if not is_asked:
                return original(estimator, *args, **kwargs)
            with self.recorder.guarded("data of %s" % name):
                self._take(name, args, kwargs)
            self.inside += 1
            try:
                return original(estimator, *args, **kwargs)
            finally:
                self.inside -= 1

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
            self.data.add(arrays)

    def end(self) -> None:
        """An estimator is about to be fitted, or the process ends."""
        self.data.end(self.evidence)
        self.latest = _nothing
        self.evidence = LABELS


def owners_of(kind: type, names: Sequence[str]) -> Iterator[tuple[type, str]]:
    """The classes that define the methods of a class."""
    for name in names:
        owner = next((cls for cls in kind.__mro__ if name in cls.__dict__), None)
        if owner is not None:
            yield owner, name


def replace_method(owner: type, name: str, watch: Callable[[str, Any], Any]) -> None:
    """Replace a method by the result of `watch`."""
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

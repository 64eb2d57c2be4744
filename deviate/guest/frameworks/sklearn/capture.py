"""scikit-learn: captures predictions and scores of fitted estimators that the script requests, and fitted arrays."""

from __future__ import annotations

import sys
from threading import get_ident
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Array
from ...observers.capture_sets import CaptureSets
from ...observers.rows import keys_of, numbers, rows
from ...regions import Held
from ...seeds import wraps_like
from .proof import SklearnProof, watch_methods

FRAMEWORK = "sklearn"
LABELS = "predict"
SCORES = ("predict_proba", "decision_function")
METHODS = (LABELS, *SCORES, "score")
METRICS = "sklearn.metrics"


class Outputs:
    """Keeps what estimators put out for data that the script hands them as a whole.

    Args:
        framework: under whose name the outputs are kept.
    """

    def __init__(self, context: AdapterContext, framework: str) -> None:
        self.capture = context.capture
        self.recorder = context.recorder
        self.project = context.project
        self.sets = CaptureSets(context.capture, context.project, framework)
        self.inside = 0

    def begin_training(self) -> None:
        """An estimator is about to be fitted: training continues, which ends an evaluation."""
        if self.capture.open:
            self.capture.end_evaluation()

    def add(
        self, estimator: Any, method: str, data: Any, inputs: Any, outputs: Any, truth: Any, frame: FrameType
    ) -> tuple[str, Any] | None:
        """Keep the outputs for data, with labels where there are any.

        Args:
            method: that gave the outputs.
            data: what the script calls the method with. inputs: its features, as an array.

        Returns:
            the name of the set, and the classes of the estimator; None where nothing could be kept.
        """
        name, root = self.sets.name(data, frame)
        if not getattr(outputs, "ndim", 0):
            self.sets.refuse(name, "%s of %s gives no outputs" % (method, type(estimator).__name__))
            return None
        if truth is None:
            truth = self.sets.beside(data, frame)
        classes = numbers(getattr(estimator, "classes_", None))
        if method not in SCORES:
            outputs = places(outputs, classes)
        arrays = rows(outputs, places(numbers(truth), classes), keys_of([inputs], len(outputs)))
        if arrays is None:
            self.sets.refuse(name, "%s of %s gives no numbers" % (method, type(estimator).__name__))
            return None
        number = self.sets.number_of(estimator)
        name = name if number == 1 else "%s_%d" % (name, number)
        if not self._has_better(name, arrays, outputs):
            name = self.sets.keep(name, root, arrays)
        return name, classes

    def _has_better(self, name: str, arrays: dict[str, Array], outputs: Any) -> bool:
        """Whether scores of the same examples are captured, which contain more information than class labels."""
        open_set = self.capture.open.get(name)
        if open_set is None or outputs.ndim > 1 or "keys" not in arrays or "keys" not in open_set.parts:
            return False
        numpy: Any = sys.modules["numpy"]
        kind, shape, buffer = open_set.parts["outputs"].whole()
        if open_set.parts["keys"].whole()[2] != bytes(arrays["keys"][2]) or not kind.startswith("float"):
            return False
        scores = numpy.frombuffer(buffer, kind).reshape(shape)
        labels = scores.argmax(1) if scores.ndim == 2 else scores > 0
        return bool((labels == outputs).all())


class EstimatorCapture(Outputs):
    """Captures estimators that the script has fitted, except those that are parts of others."""

    def __init__(self, context: AdapterContext, proof: SklearnProof) -> None:
        super().__init__(context, FRAMEWORK)
        self.proof = proof
        self.watched: set[tuple[type, str]] = set()
        self.inner: Any = None
        self.latest: tuple[Any, str, Any] | None = None

    # ------------------------------------------------------------ methods

    def see_fit(self, estimator: Any) -> None:
        """Watch the methods of a class from its first fit on."""
        if self.capture.wants_predictions:
            watch_methods(type(estimator), METHODS, self._watch, self.watched)

    def _watch(self, name: str, original: Any) -> Any:
        def method(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            is_routed_thread = get_ident() == self.capture.thread and not self.proof.inside
            if not is_routed_thread or self.inside:
                result = original(estimator, *args, **kwargs)
                if is_routed_thread and name == LABELS:  # the last to return is the outermost
                    self.inner = result
                return result
            frame = sys._getframe(1)
            if self.project.place(frame.f_code) is None:
                return original(estimator, *args, **kwargs)
            self.inner = None
            with Held(self, "inside", self.inside + 1):
                result = original(estimator, *args, **kwargs)
            with self.recorder.guarded("outputs of %s" % name):
                self._add_result(estimator, name, args, kwargs, result, frame)
            return result

        return wraps_like(method, original)

    def _add_result(self, estimator: Any, method: str, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        data = args[0] if args else kwargs.get("X")
        truth = None
        if method == "score":
            truth = args[1] if len(args) > 1 else kwargs.get("y")
            result, self.inner = self.inner, None
        outputs = numbers(result[0] if isinstance(result, list) else result)
        kept = self.add(estimator, method, data, numbers(data), outputs, truth, frame)
        if kept is not None:
            self.latest = result, *kept

    # ------------------------------------------------------------ true labels

    def metric(self, original: Any) -> Any:
        """A function of `sklearn.metrics` is called with labels and predictions."""

        def metric(*args: Any, **kwargs: Any) -> Any:
            if self.latest is not None:
                truth = args[0] if args else kwargs.get("y_true")
                by_name = next(map(kwargs.get, {"y_pred", "y_score", "y_prob"} & {*kwargs}), None)
                predictions = args[1] if len(args) > 1 else by_name
                if predictions is self.latest[0] and truth is not None:
                    with self.recorder.guarded("true labels"):
                        self._true(truth)
            return original(*args, **kwargs)

        return wraps_like(metric, original)

    def _true(self, truth: Any) -> None:
        result, name, classes = self.latest  # type: ignore[misc]
        self.latest = None
        open_set = self.capture.open.get(name)
        labels = rows(numbers(result), places(numbers(truth), classes), None)
        if open_set is None or open_set.why_not or not labels or "truth" not in labels:
            return
        if labels["truth"][1][0] != open_set.parts["outputs"].rows:
            return
        whole = {part: each.whole() for part, each in open_set.parts.items()}
        if whole.get("truth") != labels["truth"]:
            self.capture.again(name)
            self.capture.rows(name, {**whole, "truth": labels["truth"]}, FRAMEWORK)


def places(labels: Any, classes: Any) -> Any:
    """Indices of class labels among an estimator's classes, -1 for others; other values are unchanged."""
    if labels is None or not hasattr(classes, "dtype") or classes.ndim != 1 or labels.ndim != 1 or not len(classes):
        return labels
    numpy: Any = sys.modules["numpy"]
    are_numbers = [each.dtype.kind in "iufb" for each in (labels, classes)]
    if are_numbers[0] != are_numbers[1]:
        return labels
    indices = numpy.minimum(numpy.searchsorted(classes, labels), len(classes) - 1)
    return numpy.where(classes[indices] == labels, indices, -1)

"""LightGBM, XGBoost and CatBoost: captures what trained models predict for the script, with labels where it has any."""

from __future__ import annotations

from sys import _getframe
from threading import get_ident
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..observers.capture_sets import Sets
from ..observers.rows import keys_of, numbers, rows
from ..project import beyond
from ..seeds import wraps_like
from .sklearn.capture import places

LABELS = "predict"
METHODS = (LABELS, "predict_proba", "inplace_predict")
SCORE = "score"
"""The method of estimators that calls `predict`, and compares with the labels that it is given. That of CatBoost calls
something else, and is not captured."""
NO_PREDICTIONS = ("pred_leaf", "pred_contrib", "pred_contribs", "pred_interactions")
"""Arguments with which these methods return something else."""
GUEST = __name__.partition(".")[0]


class Predictions:
    """Captures calls by the script, not those of one method by another.

    Args:
        library: under whose name they are kept.
    """

    def __init__(self, context: AdapterContext, library: str) -> None:
        self.capture = context.capture
        self.recorder = context.recorder
        self.project = context.project
        self.sets = Sets(context.capture, context.project, library)
        self.inside = 0

    def begin_training(self) -> None:
        """A model is trained further, which ends an evaluation."""
        if self.capture.open:
            self.capture.end_evaluation()

    def patch(self, *classes: Any) -> None:
        for owner in classes:
            for name in METHODS:
                if name in vars(owner):
                    setattr(owner, name, self._watch(name, vars(owner)[name]))

    def _watch(self, name: str, original: Any) -> Any:
        def method(model: Any, *args: Any, **kwargs: Any) -> Any:
            if self.inside or get_ident() != self.capture.thread:
                return original(model, *args, **kwargs)
            self.inside += 1
            try:
                result = original(model, *args, **kwargs)
            finally:
                self.inside -= 1
            frame = _getframe(1)
            with self.recorder.guarded("outputs of %s" % name):
                caller = beyond((GUEST,), frame.f_back if frame.f_code.co_name == SCORE else frame)
                is_asked = caller is not None and self.project.place(caller.f_code) is not None
                if is_asked and not any(kwargs.get(option) for option in NO_PREDICTIONS):
                    self._add(model, name, args[0] if args else next(iter(kwargs.values()), None), result, frame)
            return result

        return wraps_like(method, original)

    def _add(self, model: Any, method: str, data: Any, result: Any, frame: FrameType) -> None:
        name, root = self.sets.name(data, frame)
        outputs, inputs = numbers(result), _inputs(data)
        truth = frame.f_locals.get("y") if frame.f_code.co_name == SCORE else _labels(data)
        if truth is None:
            truth = self.sets.beside(data, frame)
        if outputs is not None and outputs.ndim == 2 and outputs.shape[1] == 1:
            outputs = outputs[:, 0]
        classes = getattr(model, "classes_", None)
        classes = None if classes is None or not len(classes) else numbers(classes)
        if method == LABELS:
            outputs = places(outputs, classes)
        arrays = rows(outputs, places(numbers(truth), classes), keys_of([inputs], len(outputs)))
        if arrays is None:
            self.sets.refuse(name, "%s of %s gives no numbers" % (method, type(model).__name__))
            return
        number = self.sets.number_of(model)
        name = name if number == 1 else "%s_%d" % (name, number)
        if method != LABELS or classes is None or not self._has_probabilities(name, arrays):
            self.sets.keep(name, root, arrays)

    def _has_probabilities(self, name: str, arrays: dict[str, Any]) -> bool:
        """Whether probabilities of the same examples are captured, which tell more than classes."""
        parts = getattr(self.capture.open.get(name), "parts", {})
        if "keys" not in arrays or "keys" not in parts or not parts["outputs"].whole()[0].startswith("float"):
            return False
        return bool(parts["keys"].whole()[2] == bytes(arrays["keys"][2]))


def _inputs(data: Any) -> Any:
    """Features as an array, those of a `DMatrix` of XGBoost and a `Pool` of CatBoost included; else None."""
    for name in ("get_data", "get_features"):
        if hasattr(data, name):
            features = getattr(data, name)()
            return features.toarray() if hasattr(features, "toarray") else numbers(features)
    return numbers(data)


def _labels(data: Any) -> Any:
    """The labels of a `DMatrix` or `Pool`; None if it has none."""
    labels = numbers(data.get_label()) if hasattr(data, "get_label") else None
    return labels if labels is not None and len(labels) else None

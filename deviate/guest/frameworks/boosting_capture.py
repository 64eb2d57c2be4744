"""LightGBM, XGBoost and CatBoost: captures what trained models predict for the script, with labels where it has any."""

from __future__ import annotations

from sys import _getframe
from threading import get_ident
from types import FrameType

from ..annotations import Any
from ..observers.rows import numbers
from ..project import beyond
from ..regions import Held
from ..seeds import wraps_like
from .boosting_trace import features_of
from .sklearn.capture import Outputs

METHODS = ("predict", "predict_proba", "inplace_predict")
SCORE = "score"
"""The method of estimators that calls `predict`, and compares with the labels that it is given. That of CatBoost calls
something else, and is not captured."""
NO_PREDICTIONS = ("pred_leaf", "pred_contrib", "pred_contribs", "pred_interactions")
"""Arguments with which these methods return something else."""
GUEST = __name__.partition(".")[0]


class BoosterPredictions(Outputs):
    """Captures calls by the script, not those of one method by another."""

    def patch(self, *classes: Any) -> None:
        for owner in classes:
            for name in METHODS:
                if name in vars(owner):
                    setattr(owner, name, self._watch(name, vars(owner)[name]))

    def _watch(self, name: str, original: Any) -> Any:
        def method(model: Any, *args: Any, **kwargs: Any) -> Any:
            if self.inside or get_ident() != self.capture.thread:
                return original(model, *args, **kwargs)
            with Held(self, "inside", self.inside + 1):
                result = original(model, *args, **kwargs)
            frame = _getframe(1)
            with self.recorder.guarded("outputs of %s" % name):
                caller = beyond((GUEST,), frame.f_back if frame.f_code.co_name == SCORE else frame)
                is_asked = caller is not None and self.project.place(caller.f_code) is not None
                if is_asked and not any(kwargs.get(option) for option in NO_PREDICTIONS):
                    self._add(model, name, args[0] if args else next(iter(kwargs.values()), None), result, frame)
            return result

        return wraps_like(method, original)

    def _add(self, model: Any, method: str, data: Any, result: Any, frame: FrameType) -> None:
        outputs = numbers(result)
        if outputs is not None and outputs.ndim == 2 and outputs.shape[1] == 1:
            outputs = outputs[:, 0]
        truth = frame.f_locals.get("y") if frame.f_code.co_name == SCORE else _labels(data)
        self.add(model, method, data, _inputs(data), outputs, truth, frame)


def _inputs(data: Any) -> Any:
    """Features as an array, those of a `DMatrix` of XGBoost and a `Pool` of CatBoost included; else None."""
    if not hasattr(data, "get_label"):
        return numbers(data)
    features = features_of(data)
    return features.toarray() if hasattr(features, "toarray") else numbers(features)


def _labels(data: Any) -> Any:
    """The labels of a `DMatrix` or `Pool`; None if it has none."""
    labels = numbers(data.get_label()) if hasattr(data, "get_label") else None
    return labels if labels is not None and len(labels) else None

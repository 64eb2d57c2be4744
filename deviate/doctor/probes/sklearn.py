"""Facts of scikit-learn: the places where it draws."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {
    "shuffle": ["utils.shuffle"],
    "split": ["model_selection.train_test_split", "model_selection.KFold"],
    "other": ["utils.check_random_state"],
    "weights": ["base.BaseEstimator"],
}


def look(sklearn: Any, notes: Any) -> None:
    notes.record_missing(sklearn, PLACES)

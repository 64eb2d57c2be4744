"""Facts of Optax: where updates reach the weights."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {"weights": ["apply_updates"]}


def look(optax: Any, notes: Any) -> None:
    notes.record_missing(optax, PLACES)

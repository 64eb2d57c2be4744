"""Facts of Haiku: the places where it hands out keys."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {"init": ["transform"], "dropout": ["next_rng_key", "transform"]}


def look(haiku: Any, notes: Any) -> None:
    notes.record_missing(haiku, PLACES)

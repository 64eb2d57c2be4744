"""Kinds of origin: what a value is, as far as the source tells."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """What a value is.

    Attributes:
        kind: `counter`, `size`, `setting`, `rate` (learning rate), `clock`, `duration`, `speed`, `memory`, `text`,
            `constant`, `object`, `quality`, `computed`, `cycle` (the value it had before), `unknown`.
        reason: the telling step, for the user.
    """

    kind: str
    reason: str = ""


UNKNOWN = Origin("unknown")
WEIGHT = (
    *("quality", "duration", "speed", "computed", "memory", "rate", "clock", "counter", "size"),
    *("unknown", "setting", "text", "object", "constant", "cycle"),
)
"""Kinds of origin, the most telling first."""


def strongest(origins: Iterable[Origin]) -> Origin:
    """The origin that decides where several meet."""
    return min(origins, key=lambda origin: WEIGHT.index(origin.kind), default=UNKNOWN)

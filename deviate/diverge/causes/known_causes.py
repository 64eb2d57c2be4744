"""Definition of known causes: description, evidence, and remedy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.findings import Certainty, Difference, Place
from deviate.model import Hazard

Group = Literal["kernels", "machine", "draws", "order", "timing", "state"]
GROUPS: dict[Group, str] = {
    "kernels": "Kernels that do not add in one order",
    "machine": "Another machine, library or configuration",
    "draws": "Random numbers",
    "order": "Order that nothing fixes",
    "timing": "Which work is done first, and when",
    "state": "What was there before",
}


@dataclass(frozen=True, slots=True)
class CauseMatch:
    """Evidence for a cause in two runs.

    Attributes:
        why: half a sentence, beginning with what was found.
        places: in the user's program, the most telling one first.
        order: the other half: what it has to do with what differs first; empty where that is plain.
        code: of the cure, where what was found asks for another one than the table has.
        is_circumstance: whether it is only something that was so around the runs, such as two versions of a library or
            a line of the source, and would explain whatever differs: likely where nothing else is, and no more.
    """

    certainty: Certainty
    why: str
    places: tuple[Place, ...] = ()
    order: str = ""
    code: str = ""
    is_circumstance: bool = False


See = Callable[[Difference, Evidence], CauseMatch | None]


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A known cause.

    Attributes:
        id: in lower case with hyphens.
        title: what it is, in a few words.
        reason: how it makes runs part.
        signs: what points to it.
        cure: what to do, in words.
        code: the same as code; empty where words are all.
        source: where it is documented.
        see: gives what points to it in two runs, None where nothing does.
        holds: streams and factors that deviate holds against it.
        environment: variables that help as well, where streams and factors stay as they are.
    """

    id: str
    title: str
    group: Group
    reason: str
    signs: str
    cure: str
    source: str
    see: See
    code: str = ""
    holds: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


def hazard_places(evidence: Evidence, *names: str) -> tuple[Place, ...]:
    """Places in the source with these hazards."""
    return tuple(Place(hazard.file, hazard.line, hazard.code) for hazard in hazards_named(evidence, *names))


def hazards_named(evidence: Evidence, *names: str) -> tuple[Hazard, ...]:
    return tuple(hazard for hazard in evidence.hazards if hazard.name in names)


def here(difference: Difference) -> tuple[Place, ...]:
    """The place of the difference."""
    return (difference.place,) if difference.place is not None else ()


def is_at(difference: Difference, places: tuple[Place, ...]) -> bool:
    """Whether the difference is on one of these lines."""
    return any((place.file, place.line) == (at.file, at.line) for place in places for at in here(difference))


def format_places(places: tuple[Place, ...]) -> str:
    """The places in brackets, the first three by name: " (train.py:6, data.py:12)"; empty where there is none."""
    names = list(dict.fromkeys(f"{place.file}:{place.line}" for place in places))
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f" ({', '.join([*names[:3], *more])})" if names else ""

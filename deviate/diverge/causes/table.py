"""Known causes: a row each, made from the function that detects it and its docstring."""

import inspect
import re
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


Detector = Callable[[Difference, Evidence], CauseMatch | None]
"""Gives what points to a cause in two runs, None where nothing does."""


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
        phases: what has to differ first for it; empty for anything.
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
    detect: Detector
    code: str = ""
    phases: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def match(self, difference: Difference, evidence: Evidence) -> CauseMatch | None:
        """What points to the cause in two runs, None where nothing does."""
        return self.detect(difference, evidence) if not self.phases or difference.phase in self.phases else None


PARTS = re.compile(r"^(Signs|Cure|Code|Source):", flags=re.MULTILINE)


def cause(
    table: list[KnownCause],
    group: Group,
    name: str,
    *,
    phases: tuple[str, ...] = (),
    holds: tuple[str, ...] = (),
    environment: tuple[tuple[str, str], ...] = (),
) -> Callable[[Detector], Detector]:
    """Add a cause to a table; the decorated function detects it, and its docstring describes it.

    The docstring has the title, a paragraph with the reason, and one each that begin with `Signs:`, `Cure:`, `Code:`
    (which may be absent) and `Source:`. The documentation page is written from it.
    """

    def register(detect: Detector) -> Detector:
        text, *parts = PARTS.split(inspect.getdoc(detect) or "")
        title, _, reason = text.partition("\n")
        words = {part: " ".join(words.split()) for part, words in zip(parts[::2], parts[1::2], strict=True)}
        table.append(
            KnownCause(
                id=name,
                title=f"{title[:1].lower()}{title[1:].removesuffix('.')}",
                group=group,
                reason=" ".join(reason.split()),
                signs=words.get("Signs", ""),
                cure=words.get("Cure", ""),
                source=words.get("Source", ""),
                detect=detect,
                code=dict(zip(parts[::2], parts[1::2], strict=True)).get("Code", "").strip(),
                phases=phases,
                holds=holds,
                environment=environment,
            )
        )
        return detect

    return register


def source_match(
    evidence: Evidence,
    hazards: tuple[str, ...],
    why: str,
    certainty: Certainty = "possible",
    order: str = "",
    *,
    is_circumstance: bool = False,
) -> CauseMatch | None:
    """A match by the places in the source with these hazards, which are added to `why`; None where there are none."""
    places = hazard_places(evidence, *hazards)
    if not places:
        return None
    return CauseMatch(certainty, f"{why}{format_places(places)}", places, order, is_circumstance=is_circumstance)


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

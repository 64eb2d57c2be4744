"""Known causes of divergence: the evidence for them, and a row each, made from the function that detects it."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from deviate.base import place_text
from deviate.diverge.findings import Certainty, Difference, Place
from deviate.model import ControlEvent, Hazard, Run, SeedEvent, SideEffect, Variant
from deviate.records import ALWAYS_TOLD, VARIABLE

LIBRARIES = frozenset({"random", "numpy", "torch", "tensorflow", "keras", "jax", "sklearn"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about two runs besides their first difference.

    Attributes:
        variant: of both runs; None where they are of two variants, or nobody knows.
        frameworks: that the runs have imported, of LIBRARIES.
        hazards, side_effects: of the static analysis, over all that the script reaches.
        operations: used without a deterministic version, a phrase each with its place, of either run.
        uncontrolled: what was drawn or chosen beyond all control, likewise.
        warnings: of either run.
        seed_events, control_events: of the first run and of the second.
        facts: of the environment, of the first run and of the second: name to value, as in `Run.environment`.
        devices: on which they computed, the first run's and the second's: "cpu", "cuda", "mps", "xpu", "tpu"; empty
            where nobody knows.
        n_ranks: processes that trained together.
        n_steps: complete updates of the first run and of the second; None where nobody knows.
        seeds: that deviate gave to the first run and to the second, stream to seed; empty where it gave none.
        above: first differences that rungs above the lowest one showed.
        runs: what the two are called.
    """

    variant: Variant | None = None
    frameworks: frozenset[str] = frozenset()
    hazards: tuple[Hazard, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    operations: tuple[str, ...] = ()
    uncontrolled: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed_events: tuple[tuple[SeedEvent, ...], tuple[SeedEvent, ...]] = ((), ())
    control_events: tuple[tuple[ControlEvent, ...], tuple[ControlEvent, ...]] = ((), ())
    facts: tuple[Mapping[str, str], Mapping[str, str]] = field(default_factory=lambda: ({}, {}))
    devices: tuple[str, str] = ("", "")
    n_ranks: int = 1
    n_steps: tuple[int, int] | None = None
    seeds: tuple[Mapping[str, int], Mapping[str, int]] = field(default_factory=lambda: ({}, {}))
    above: tuple[Difference, ...] = ()
    runs: tuple[str, str] = ("the first run", "the second run")

    @property
    def is_touched(self) -> bool:
        """Whether deviate sets the seeds."""
        return any(self.seeds) or (self.variant is not None and bool(self.variant.varied or self.variant.held))

    def is_held(self, factor: str) -> bool:
        """Whether deviate holds this stream or factor."""
        return self.variant is not None and factor in self.variant.held

    def varies(self, factor: str) -> bool:
        return self.variant is not None and factor in self.variant.varied

    @property
    def reseeded(self) -> tuple[str, ...]:
        """Streams that no variant varies, but for which the runs got different seeds, or only one got a seed."""
        first, second = self.seeds
        names = dict.fromkeys((*first, *second))
        return tuple(name for name in names if first.get(name) != second.get(name) and not self.varies(name))

    def fact(self, name: str) -> tuple[str, str]:
        """The value of a fact in both runs; empty if one did not report it."""
        first, second = self.facts
        return first.get(name, ""), second.get(name, "")

    def differing(self, *names: str) -> tuple[str, ...]:
        """Facts with these names that differ between the runs; for variables, absence counts as a value."""
        first, second = self.facts
        are_whole = ALWAYS_TOLD in first and ALWAYS_TOLD in second
        return tuple(
            name
            for name in names
            if first.get(name) != second.get(name)
            and ((name in first and name in second) or (are_whole and name.startswith(VARIABLE)))
        )

    @property
    def device(self) -> str:
        """Device of both runs: "cpu", "cuda", …; empty if it is unknown or differs."""
        if any(self.devices):
            return self.devices[0] if self.devices[0] == self.devices[1] else ""
        facts = [fact for fact in self.facts if fact]
        return "cpu" if facts and not any("GPU" in fact for fact in facts) else ""

    @property
    def has_free_kernels(self) -> bool:
        """Whether kernels may be nondeterministic, as far as known: neither run requested otherwise."""
        setting = self.fact("torch deterministic algorithms")
        return setting != ("on", "on") if any(setting) else not self.is_held("kernels")


def gather_evidence(first: Run, second: Run, variant: Variant | None) -> Evidence:
    """Evidence about two recorded runs of one variant. Missing information has its default value."""
    return Evidence(
        variant=variant,
        frameworks=frozenset({*first.draws, *second.draws, *first.environment, *second.environment} & LIBRARIES),
        operations=tuple(dict.fromkeys((*first.operations, *second.operations))),
        uncontrolled=tuple(dict.fromkeys((*first.uncontrolled, *second.uncontrolled))),
        warnings=tuple(dict.fromkeys((*first.warnings, *second.warnings))),
        seed_events=(first.seed_events, second.seed_events),
        control_events=(first.control_events, second.control_events),
        facts=(first.environment, second.environment),
        seeds=(first.seeds, second.seeds),
    )


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
    names = list(dict.fromkeys(place_text(place.file, place.line) for place in places))
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f" ({', '.join([*names[:3], *more])})" if names else ""

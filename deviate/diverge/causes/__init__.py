"""Known causes of divergence: the evidence for them, and a row each, made from the function that detects it."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from deviate.base.notebooks import place_text
from deviate.diverge.findings import Certainty, Difference, InputDifference, Place, Standing
from deviate.model.analysis import Hazard, SideEffect
from deviate.model.plan import Variant
from deviate.model.records import ControlEvent, Run, SeedEvent
from deviate.records.environment import ALWAYS_TOLD, VARIABLE

LIBRARIES = frozenset(
    {"random", "numpy", "torch", "tensorflow", "keras", "jax", "sklearn", "lightgbm", "xgboost", "catboost"}
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about two runs besides their first difference.

    Attributes:
        variant: of both runs; None for runs of two variants, or if unknown.
        frameworks: imported by the runs, a subset of LIBRARIES.
        hazards, side_effects: of the static analysis, over all code that the script reaches.
        operations: operations without a deterministic version, a phrase each with its place, of either run.
        uncontrolled: draws and choices beyond control, likewise.
        warnings: of either run.
        seed_events, control_events: of the first run and of the second.
        facts: of the environment, of the first run and of the second: name to value, as in `Run.environment`.
        devices: of the first run and of the second: "cpu", "cuda", "mps", "xpu", "tpu"; empty if unknown.
        n_ranks: number of processes that trained together.
        n_steps: complete updates of the first run and of the second; None if unknown.
        seeds: seeds set by deviate in the first run and in the second, stream to seed; empty if it set none.
        above: first differences on the levels above the last one.
        inputs: inputs that differ between the runs, in the order in which they entered.
        equal_inputs: source, file and line of inputs that both runs recorded with equal values.
        idle_lines: lines that either trace watched and neither run executed, as file and line.
        runs: names of the two runs.
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
    inputs: tuple[InputDifference, ...] = ()
    equal_inputs: frozenset[tuple[str, str, int]] = frozenset()
    idle_lines: frozenset[tuple[str, int]] = frozenset()
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


ITSELF = -1
"""Position of a match whose evidence is the first difference itself: everything before it was equal."""
Group = Literal["kernels", "machine", "draws", "order", "timing", "state"]
GROUPS: dict[Group, str] = {
    "kernels": "Nondeterministic kernels",
    "machine": "Different machine, library or configuration",
    "draws": "Random numbers",
    "order": "Unordered iteration",
    "timing": "Parallel work and timing",
    "state": "State left by earlier code",
}


@dataclass(frozen=True, slots=True)
class CauseMatch:
    """Evidence for a cause in two runs.

    Attributes:
        why: the evidence, as a clause.
        places: in the user's program, the most relevant one first.
        order: a second clause: the relation of the evidence to the first difference; empty if that is plain.
        code: code of the cure, if the evidence needs other code than the table has.
        is_circumstance: whether the evidence is only a circumstance of the runs, such as two versions of a library or
            a line of the source, which would explain any difference: at most likely, and only if nothing else is.
        standing: whether the runs recorded the evidence, and before the first difference.
        position: of the input among those that differ, the earliest of which is the likeliest; ITSELF if the first
            difference is itself the evidence.
    """

    certainty: Certainty
    why: str
    places: tuple[Place, ...] = ()
    order: str = ""
    code: str = ""
    is_circumstance: bool = False
    standing: Standing = "possible"
    position: int = sys.maxsize


Detector = Callable[[Difference, Evidence], CauseMatch | None]
"""Returns the evidence for a cause in two runs; None without evidence."""


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A known cause.

    Attributes:
        id: in lower case with hyphens.
        title: in a few words.
        reason: how it makes runs diverge.
        signs: the evidence for it.
        cure: what to do, in words.
        code: the same as code; empty if there is none.
        source: where it is documented.
        phases: phases of the first difference that it can explain; empty for all.
        sources: sources of inputs whose differences are evidence for it.
        selects: whether a differing input of the sources is evidence for it; None for all.
        code_for: code of the cure for such an input, empty for that of the table; None to use that always.
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
    sources: tuple[str, ...] = ()
    selects: "Selector | None" = None
    code_for: "Coder | None" = None

    def match(self, difference: Difference, evidence: Evidence) -> CauseMatch | None:
        """The evidence for the cause in two runs; None without evidence."""
        return self.detect(difference, evidence) if not self.phases or difference.phase in self.phases else None


Selector = Callable[[InputDifference, Evidence], bool]
Coder = Callable[[InputDifference], str]


PARTS = re.compile(r"^(Signs|Cure|Code|Source):", flags=re.MULTILINE)


def cause(
    table: list[KnownCause],
    group: Group,
    name: str,
    *,
    phases: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
    selects: Selector | None = None,
    code_for: Coder | None = None,
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
                sources=sources,
                selects=selects,
                code_for=code_for,
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
    """A match by the places in the source with these hazards, which are added to `why`; None if there are none."""
    places = hazard_places(evidence, *hazards)
    if not places:
        return None
    return CauseMatch(certainty, f"{why}{format_places(places)}", places, order, is_circumstance=is_circumstance)


def hazard_places(evidence: Evidence, *names: str) -> tuple[Place, ...]:
    """Places in the source with these hazards."""
    return tuple(Place(hazard.file, hazard.line, hazard.code) for hazard in hazards_named(evidence, *names))


INPUT_OF = {
    "file-order": "listing",
    "set-order": "set-order",
    "hash-value": "hash",
    "unordered-results": "completion",
}
"""Hazards whose values the runs record, with the source of the input."""


def hazards_named(evidence: Evidence, *names: str) -> tuple[Hazard, ...]:
    """Hazards with these names on lines that ran, without those whose values were equal in both runs."""
    return tuple(
        hazard
        for hazard in evidence.hazards
        if hazard.name in names
        and (hazard.file, hazard.line) not in evidence.idle_lines
        and (INPUT_OF.get(hazard.name, ""), hazard.file, hazard.line) not in evidence.equal_inputs
    )


def here(difference: Difference) -> tuple[Place, ...]:
    """The place of the difference."""
    return (difference.place,) if difference.place is not None else ()


def is_at(difference: Difference, places: tuple[Place, ...]) -> bool:
    """Whether the difference is on one of these lines."""
    return any((place.file, place.line) == (at.file, at.line) for place in places for at in here(difference))


def format_places(places: tuple[Place, ...]) -> str:
    """The places in brackets, the first three by name: " (train.py:6, data.py:12)"; empty if there are none."""
    names = list(dict.fromkeys(place_text(place.file, place.line) for place in places))
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f" ({', '.join([*names[:3], *more])})" if names else ""

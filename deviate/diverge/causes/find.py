"""The causes that a difference and what else is known point to, the likeliest first."""

import dataclasses
from collections.abc import Sequence

from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.causes.known import Known, Sight, is_at
from deviate.diverge.causes.operations import ENTRY, is_one_of
from deviate.diverge.causes.switches import switch_for
from deviate.diverge.causes.table import KNOWN
from deviate.diverge.causes.unknown import what_to_try
from deviate.model.divergence import Cause, Certainty, Difference, Phase

ORDER: tuple[Certainty, ...] = ("certain", "likely", "possible")
MOST = 5
"""Causes that are told: who gets twenty gets none."""
HIDDEN: tuple[Phase, ...] = ("data", "backward")
"""What may stand behind a value that differs, where nothing but values was compared."""
VAGUE = frozenset({"data", "another-way", "from-outside", "free-kernels", "no-version"})
"""They say where to look rather than what it is, and stand behind others that are as certain."""


def find_causes(difference: Difference, evidence: Evidence) -> tuple[Cause, ...]:
    """The causes that may have made this difference.

    Args:
        difference: the first one, as the lowest rung that was reached shows it.

    Returns:
        The likeliest first, each id once; never empty: where nothing is likely, the last says what to try.
    """
    if difference.kind == "operation" and difference.only_in is None and is_one_of(difference.name, ENTRY):
        difference = dataclasses.replace(difference, phase="data")  # what enters there was computed by no operation
    weighed_causes = [(cause, sight) for cause in KNOWN if (sight := _best(cause, difference, evidence)) is not None]
    weighed_causes = _weighed(weighed_causes)
    weighed_causes.sort(key=lambda pair: _rank(pair[0], pair[1], difference))  # the order of the table among equals
    causes = [_cause(cause, sight, evidence) for cause, sight in weighed_causes[:MOST]]
    if all(cause.certainty == "possible" for cause in causes):
        causes.append(what_to_try(difference, evidence))
    return tuple(causes)


def _best(cause: Known, difference: Difference, evidence: Evidence) -> Sight | None:
    """What points to it the most: the difference itself, or what a rung above has seen of generators and of order."""
    above = [
        earlier
        for earlier in evidence.above
        if earlier.phase in ("random", "order") and earlier.step == difference.step
    ]
    sights = [sight for item in (difference, *above) if (sight := cause.see(item, evidence)) is not None]
    if not sights and difference.rung == "metrics" and difference.only_in is None:
        hidden = [dataclasses.replace(difference, phase=phase) for phase in HIDDEN]
        behind = [match for at in hidden if (match := cause.see(at, evidence)) is not None]
        sights = [Sight("possible", sight.why, sight.places, "only values could be compared") for sight in behind]
    return min(sights, key=lambda sight: ORDER.index(sight.certainty), default=None)


def _weighed(sights: Sequence[tuple[Known, Sight]]) -> list[tuple[Known, Sight]]:
    """Circumstances are less sure by one step where they do not stand alone: nothing tells them from the others."""
    rivals = {cause.id for cause, sight in sights if sight.certainty != "possible" and cause.id not in VAGUE}

    def weighed(cause: Known, sight: Sight) -> Sight:
        if sight.certainty == "possible" or not sight.is_circumstance or not rivals - {cause.id}:
            return sight
        return dataclasses.replace(sight, certainty=ORDER[ORDER.index(sight.certainty) + 1])

    return [(cause, weighed(cause, sight)) for cause, sight in sights]


def _rank(cause: Known, sight: Sight, difference: Difference) -> tuple[int, bool, bool]:
    return ORDER.index(sight.certainty), cause.id in VAGUE, not is_at(difference, sight.places)


def _cause(cause: Known, sight: Sight, evidence: Evidence) -> Cause:
    code = sight.code or cause.code
    return Cause(
        id=cause.id,
        title=cause.title,
        why=f"{sight.why}, and {sight.order}" if sight.order else sight.why,
        cure=f"{cause.cure}\n{code}" if code else cause.cure,
        switch=switch_for(evidence, cause.holds, cause.environment) if cause.holds or cause.environment else None,
        places=sight.places,
        source=cause.source if cause.source.startswith("https:") else "",
        certainty=sight.certainty,
    )

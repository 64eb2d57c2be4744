"""Finds the causes that the difference and other evidence point to, most likely first."""

import dataclasses
from collections.abc import Sequence

from deviate.diverge.causes.evidence import Evidence
from deviate.diverge.causes.known_causes import CauseMatch, KnownCause, is_at
from deviate.diverge.causes.operations import ENTRY, is_one_of
from deviate.diverge.causes.switches import switch_for
from deviate.diverge.causes.table import KNOWN_CAUSES
from deviate.diverge.causes.unknown import what_to_try
from deviate.diverge.findings import Cause, Certainty, Difference, Phase

ORDER: tuple[Certainty, ...] = ("certain", "likely", "possible")
MOST = 5
"""Causes that are told: who gets twenty gets none."""
HIDDEN: tuple[Phase, ...] = ("data", "backward")
"""What may stand behind a value that differs, where nothing but values was compared."""
VAGUE = frozenset({"data", "another-way", "from-outside", "free-kernels", "no-version"})
"""They say where to look rather than what it is, and stand behind others that are as certain."""


def find_causes(difference: Difference, evidence: Evidence) -> tuple[Cause, ...]:
    """Find possible causes of this difference.

    Args:
        difference: the first one, as the lowest rung that was reached shows it.

    Returns:
        The likeliest first, each id once; never empty: where nothing is likely, the last says what to try.
    """
    if difference.kind == "operation" and difference.only_in is None and is_one_of(difference.name, ENTRY):
        difference = dataclasses.replace(difference, phase="data")  # what enters there was computed by no operation
    weighed_causes = [
        (cause, finding) for cause in KNOWN_CAUSES if (finding := _best(cause, difference, evidence)) is not None
    ]
    weighed_causes = _weigh(weighed_causes)
    weighed_causes.sort(key=lambda pair: _rank(pair[0], pair[1], difference))  # table order among equal ones
    causes = [_cause(cause, finding, evidence) for cause, finding in weighed_causes[:MOST]]
    if all(cause.certainty == "possible" for cause in causes):
        causes.append(what_to_try(difference, evidence))
    return tuple(causes)


def _best(cause: KnownCause, difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The strongest evidence for a cause: the difference, or differences of generators or order on a rung above."""
    above = [
        earlier
        for earlier in evidence.above
        if earlier.phase in ("random", "order") and earlier.step == difference.step
    ]
    findings = [finding for item in (difference, *above) if (finding := cause.see(item, evidence)) is not None]
    if not findings and difference.rung == "metrics" and difference.only_in is None:
        hidden = [dataclasses.replace(difference, phase=phase) for phase in HIDDEN]
        behind = [match for at in hidden if (match := cause.see(at, evidence)) is not None]
        findings = [
            CauseMatch("possible", finding.why, finding.places, "only values could be compared") for finding in behind
        ]
    return min(findings, key=lambda finding: ORDER.index(finding.certainty), default=None)


def _weigh(findings: Sequence[tuple[KnownCause, CauseMatch]]) -> list[tuple[KnownCause, CauseMatch]]:
    """Lower the likelihood of circumstances that are not the only ones, as nothing distinguishes them."""
    rivals = {cause.id for cause, finding in findings if finding.certainty != "possible" and cause.id not in VAGUE}

    def weigh(cause: KnownCause, finding: CauseMatch) -> CauseMatch:
        if finding.certainty == "possible" or not finding.is_circumstance or not rivals - {cause.id}:
            return finding
        return dataclasses.replace(finding, certainty=ORDER[ORDER.index(finding.certainty) + 1])

    return [(cause, weigh(cause, finding)) for cause, finding in findings]


def _rank(cause: KnownCause, finding: CauseMatch, difference: Difference) -> tuple[int, bool, bool]:
    return ORDER.index(finding.certainty), cause.id in VAGUE, not is_at(difference, finding.places)


def _cause(cause: KnownCause, finding: CauseMatch, evidence: Evidence) -> Cause:
    code = finding.code or cause.code
    return Cause(
        id=cause.id,
        title=cause.title,
        why=f"{finding.why}, and {finding.order}" if finding.order else finding.why,
        cure=f"{cause.cure}\n{code}" if code else cause.cure,
        switch=switch_for(evidence, cause.holds, cause.environment) if cause.holds or cause.environment else None,
        places=finding.places,
        source=cause.source if cause.source.startswith("https:") else "",
        certainty=finding.certainty,
    )

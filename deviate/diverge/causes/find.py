"""Finds the causes that the difference and other evidence point to, most likely first."""

import dataclasses
from collections.abc import Sequence

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, is_at
from deviate.diverge.causes.draws import DRAWS
from deviate.diverge.causes.kernels import KERNELS
from deviate.diverge.causes.machine import MACHINE
from deviate.diverge.causes.observed import observed_match
from deviate.diverge.causes.operations import ENTRY, is_one_of
from deviate.diverge.causes.order import ORDER
from deviate.diverge.causes.state import STATE
from deviate.diverge.findings import STANDINGS, Cause, Certainty, Difference, Phase

CERTAINTIES: tuple[Certainty, ...] = ("proved", "certain", "likely", "possible")
KNOWN_CAUSES: tuple[KnownCause, ...] = (*MACHINE, *DRAWS, *ORDER, *KERNELS, *STATE)
"""Known causes; equally likely ones are listed in this order."""
MOST = 5
"""Maximum number of causes to list."""
HIDDEN: tuple[Phase, ...] = ("data", "backward")
"""Phases to assume for a reported value that differs, if only values were compared."""
VAGUE = frozenset({"data", "another-way", "from-outside", "free-kernels", "no-version"})
"""Causes that name a place to inspect rather than a mechanism; listed after others of the same certainty."""
UNKNOWN = "unknown"
FACTORS = ("init", "shuffle", "augment", "dropout", "split", "other", "hash", "kernels", "autotune", "precision")
COMPUTED = "run once with one thread (--hold threads), and compare the inputs: weights, batches, settings"
FURTHER = "run once with one thread (--hold threads), and compare operations (--level operations)"
TRY = {
    "initial": "print a checksum of the weights after each part of the model is created; look for uninitialised "
    "memory, loaded files and draws in threads",
    "random": "one run drew more often than the other, or its state was set: check all draws since the previous step, "
    "in threads and callbacks too",
    "order": "sort directory listings, items of sets and results of parallel work before examples are numbered",
    "data": "load the same example twice in one process, then in two; compare checksums of the files",
    "forward": COMPUTED,
    "loss": COMPUTED,
    "backward": COMPUTED,
    "update": "check code that changes weights outside the optimizer, and optimizer settings that depend on time",
    "metric": "check whether weights and losses are equal (--level steps); if so, how the metric is computed, on which "
    "examples and in which order",
    "program": "check the condition that leads to this line: time, files, environment variables, process id",
}
VALUES_ALONE = (
    "only reported values could be compared: report their inputs as well; check sets of objects, the clock, threads, "
    "and random numbers from the operating system"
)
TRACED = frozenset({"torch", "tensorflow", "keras", "jax", "sklearn", "lightgbm", "xgboost", "catboost"})
"""Libraries for which deviate compares more than reported values."""
SOURCE = "https://docs.pytorch.org/docs/stable/notes/randomness.html"


def find_causes(difference: Difference, evidence: Evidence) -> tuple[Cause, ...]:
    """Find possible causes of this difference.

    Args:
        difference: the first one, on the most detailed level with a difference.

    Returns:
        The likeliest first, each id once; never empty: if nothing is likely, the last says what to try.
    """
    if difference.kind == "operation" and difference.only_in is None and is_one_of(difference.name, ENTRY):
        difference = dataclasses.replace(difference, phase="data")  # what enters there was computed by no operation
    weighed_causes = [
        (cause, finding) for cause in KNOWN_CAUSES if (finding := _best(cause, difference, evidence)) is not None
    ]
    weighed_causes = _weigh(weighed_causes)
    is_upstream = any(match.standing == "upstream" for _, match in weighed_causes)
    # table order among equal ones
    weighed_causes.sort(key=lambda pair: _rank(pair[0], pair[1], difference, is_upstream=is_upstream))
    causes = [_cause(cause, finding) for cause, finding in weighed_causes[:MOST]]
    if not causes:
        causes.append(what_to_try(difference, evidence))
    return tuple(causes)


def _best(cause: KnownCause, difference: Difference, evidence: Evidence) -> CauseMatch | None:
    """The strongest evidence for a cause: the difference, or differences of generators or order on a level above."""
    above = [
        earlier
        for earlier in evidence.above
        if earlier.phase in ("random", "order") and earlier.step == difference.step
    ]
    findings = [finding for item in (difference, *above) if (finding := cause.match(item, evidence)) is not None]
    observation = observed_match(cause, evidence) if cause.sources else None
    if observation is not None:
        findings = [observation, *findings]
    if not findings and difference.rung == "metrics" and difference.only_in is None:
        hidden = [dataclasses.replace(difference, phase=phase) for phase in HIDDEN]
        behind = [match for at in hidden if (match := cause.match(at, evidence)) is not None]
        order = "only reported values could be compared"
        findings = [dataclasses.replace(finding, certainty="possible", order=order) for finding in behind]
    return min(
        findings,
        key=lambda finding: (CERTAINTIES.index(finding.certainty), STANDINGS.index(finding.standing)),
        default=None,
    )


def _weigh(findings: Sequence[tuple[KnownCause, CauseMatch]]) -> list[tuple[KnownCause, CauseMatch]]:
    """Lower the likelihood of circumstances that are not the only ones, as nothing distinguishes them."""
    rivals = {cause.id for cause, finding in findings if finding.certainty != "possible" and cause.id not in VAGUE}

    def weigh(cause: KnownCause, finding: CauseMatch) -> CauseMatch:
        if finding.certainty == "possible" or not finding.is_circumstance or not rivals - {cause.id}:
            return finding
        return dataclasses.replace(finding, certainty=CERTAINTIES[CERTAINTIES.index(finding.certainty) + 1])

    return [(cause, weigh(cause, finding)) for cause, finding in findings]


def _rank(
    cause: KnownCause, finding: CauseMatch, difference: Difference, *, is_upstream: bool
) -> tuple[bool, int, int, bool, int, bool, bool]:
    """The key to sort causes by: certainty first, then whether and when the runs recorded the evidence."""
    is_vague = cause.id in VAGUE and finding.standing == "possible"
    certainty, standing = CERTAINTIES.index(finding.certainty), STANDINGS.index(finding.standing)
    is_elsewhere = not is_at(difference, finding.places)
    has_no_place = not finding.places
    return is_vague and is_upstream, certainty, standing, is_vague, finding.position, is_elsewhere, has_no_place


def _cause(cause: KnownCause, finding: CauseMatch) -> Cause:
    code = finding.code or cause.code
    return Cause(
        id=cause.id,
        title=cause.title,
        why=f"{finding.why}, and {finding.order}" if finding.order else finding.why,
        cure=f"{cause.cure}\n{code}" if code else cause.cure,
        places=finding.places,
        source=cause.source if cause.source.startswith("https:") else "",
        certainty=finding.certainty,
        standing=finding.standing,
    )


def what_to_try(difference: Difference, evidence: Evidence) -> Cause:
    """An unknown cause, whose cure says what to try next; it ends the list of causes."""
    is_all_held = _is_all_held(evidence)
    why = "the records do not distinguish between causes"
    if is_all_held:
        why += ", although all factors were held"
    cure = TRY[difference.phase]
    if cure == COMPUTED and difference.rung != "operations" and "torch" in evidence.frameworks:
        cure = FURTHER  # other frameworks have no level of operations
    if difference.phase == "metric" and not evidence.frameworks & TRACED:
        cure = VALUES_ALONE
    return Cause(
        id=UNKNOWN,
        title="not found",
        why=why,
        cure=cure,
        places=(difference.place,) if difference.place is not None else (),
        source=SOURCE,
        certainty="possible",
    )


def _is_all_held(evidence: Evidence) -> bool:
    return all(evidence.is_held(factor) for factor in FACTORS)

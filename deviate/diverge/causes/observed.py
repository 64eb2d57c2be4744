"""Inputs that differ between the runs, as evidence for causes."""

import re
from collections.abc import Iterable, Iterator

from deviate.diverge.causes import CauseMatch, Evidence, KnownCause, format_places
from deviate.diverge.findings import HARMLESS, Certainty, InputDifference, Place
from deviate.model.records import SeedEvent

SYSTEM_SEED = "None"
"""Recorded value of a seeding call without an argument."""
VARIABLE_READ = re.compile(r"\w*(?:environ|getenv|env)\w*(?:\.get)?[\[(]\s*['\"](?P<name>\w+)['\"]")
PLAIN_VALUE = re.compile(r"[\w./:@%+-]{1,60}")
LISTED = re.compile(r"(?:(?P<count>\d+) names?: )?(?P<names>.*)", re.DOTALL)
VERBS = {"environment": " was", "set-order": " had", "completion": ":", "thread-order": ":"}
"""What stands between the call and the value, by source; "gave" for others."""
NOTHING = "nothing"


def observed_match(cause: KnownCause, evidence: Evidence) -> CauseMatch | None:
    """A match by the inputs of a cause that differ and can matter; None if there are none."""
    candidates = [
        item
        for item in relevant_inputs(evidence, *cause.sources)
        if cause.selects is None or cause.selects(item, evidence)
    ]
    if not candidates:
        return None
    # A line that the analysis lists decides, and not one that only notes the beginning.
    listed = {(hazard.file, hazard.line) for hazard in evidence.hazards}

    def order_of(item: InputDifference) -> tuple[bool, bool, bool]:
        is_listed = (item.place.file, item.place.line) in listed
        return not item.is_upstream, certainty_of(item, evidence) != "likely", not is_listed

    item = min(candidates, key=order_of)
    order = "before the first difference" if item.is_upstream else "but not before the first difference"
    others = (other.place for other in candidates if other.is_upstream == item.is_upstream)
    return CauseMatch(
        certainty_of(item, evidence),
        f"{describe_input(item, evidence.runs)}, {order}{format_places((item.place,))}",
        tuple(dict.fromkeys((item.place, *others))),
        code="" if cause.code_for is None else cause.code_for(item),
        standing="upstream" if item.is_upstream else "observed",
        position=evidence.inputs.index(item),
    )


def relevant_inputs(evidence: Evidence, *sources: str) -> list[InputDifference]:
    """Differing inputs of these sources that can matter, without those that only made a seed."""
    used = used_for_seeds(evidence)
    return [
        item
        for item in evidence.inputs
        if item.source in sources
        and not (item.source == "process-id" and item.use != "computed")  # libraries ask for it on many lines
        and not (item.use == "reported" or (item.use == "sorted" and not has_other_names(item)))
        and (item.source, item.place) not in used
    ]


def certainty_of(item: InputDifference, evidence: Evidence) -> Certainty:
    """How far an input explains the first difference.

    An input that only one run has follows from an earlier difference. Clocks and the like differ in any two runs, so
    they have to reach a result.
    """
    earlier = evidence.inputs[: evidence.inputs.index(item)]
    follows = item.only_in is not None and any(other.is_suspect and other.only_in is None for other in earlier)
    return "likely" if item.is_suspect and not follows else "possible"


def describe_input(item: InputDifference, runs: tuple[str, str]) -> str:
    """`os.listdir('data') gave a, b in run 0 and b, a in run 1`."""
    subject, (first, second) = f"{item.call}{VERBS.get(item.source, ' gave')}", item.shown
    if item.only_in is not None:
        run, other = runs if item.only_in == 1 else runs[::-1]
        return f"{subject} {item.shown[item.only_in - 1] or NOTHING} in {run}, and {other} did not call it"
    if first == second:
        return f"{subject} {first or 'values'}, not the same in {runs[0]} and {runs[1]}"
    return f"{subject} {first or NOTHING} in {runs[0]} and {second or NOTHING} in {runs[1]}"


def has_other_names(item: InputDifference) -> bool:
    """Whether a folder had other files in the two runs, and not the same ones in another order, as far as known."""
    if item.source != "listing" or item.only_in is not None:
        return False
    (first_count, first), (second_count, second) = map(_names_in, item.shown)
    return first_count != second_count or (first is not None and second is not None and first != second)


def _names_in(shown: str) -> tuple[str, list[str] | None]:
    """The number of names that a listing shows, and the names in their order; None if the text is cut off."""
    match = LISTED.fullmatch(shown)
    count, text = (match["count"] or "", match["names"]) if match else ("", shown)
    return count, None if text.endswith(("...", "…")) else sorted(name.strip() for name in text.split(","))


def variable_of(item: InputDifference) -> tuple[tuple[str, str], ...]:
    """The environment variable that an input is, with its value in the first run that has it; empty if unknown."""
    match = VARIABLE_READ.search(item.call) if item.source == "environment" else None
    value = next((shown.strip("'\"") for shown in item.shown if shown), "")
    return ((match["name"], value),) if match and PLAIN_VALUE.fullmatch(value) else ()


def seed_pairs(evidence: Evidence) -> list[tuple[SeedEvent, SeedEvent]]:
    """Seeding calls of both runs that received different values, the first of each place.

    The same values in another order are no other seeds: workers that share the work seed in the order in which they
    get to it.
    """
    first, second = map(_by_place, evidence.seed_events)
    pairs = []
    for place, events in first.items():
        others = second.get(place, [])
        if sorted(event.value for event in events) != sorted(event.value for event in others):
            pairs += [pair for pair in zip(events, others, strict=False) if pair[0].value != pair[1].value][:1]
    return pairs


def _by_place(events: Iterable[SeedEvent]) -> dict[tuple[str, str, int], list[SeedEvent]]:
    places: dict[tuple[str, str, int], list[SeedEvent]] = {}
    for event in events:
        places.setdefault((event.call, event.file, event.line), []).append(event)
    return places


def seed_origin(seed: SeedEvent, evidence: Evidence) -> InputDifference | None:
    """The input that a changing seed was computed from: one on its line, or else the only one that can be it."""
    upstream = [item for item in evidence.inputs if item.is_upstream and item.use not in HARMLESS]
    at_line = [item for item in upstream if (item.place.file, item.place.line) == (seed.file, seed.line)]
    before = [item for item in upstream if item.place.file != seed.file or item.place.line < seed.line]
    computed = [item for item in before if item.use == "computed"] or before
    return at_line[0] if at_line else computed[0] if len(computed) == 1 else None


def used_for_seeds(evidence: Evidence) -> frozenset[tuple[str, Place]]:
    """Inputs, by source and place, that only made a seed: the causes of seeds name them."""
    return frozenset(_used_for_seeds(evidence))


def _used_for_seeds(evidence: Evidence) -> Iterator[tuple[str, Place]]:
    for one, _ in seed_pairs(evidence):
        origin = seed_origin(one, evidence)
        if origin is not None:
            yield origin.source, origin.place
    from_system = {
        (event.file, event.line) for events in evidence.seed_events for event in events if event.value == SYSTEM_SEED
    }
    for item in evidence.inputs:
        if item.source == "entropy" and (item.place.file, item.place.line) in from_system:
            yield item.source, item.place

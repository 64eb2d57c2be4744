"""What became of the seeds that a script sets itself, in one sentence built from the recorded seeding calls."""

from collections.abc import Collection, Iterable, Sequence

from deviate.model.places import place_text
from deviate.model.records import SeedEvent
from deviate.model.texts import first_few
from deviate.report.format import clean

STREAMS = frozenset({"init", "shuffle", "augment", "dropout", "other"})
"""Streams of random numbers whose seeds are replaced even where they are held; `split` is not among them."""
MOST_PLACES = 3
MOST_CALLS = 4
KEPT = "kept"
KEYWORD = "random_state"

Recorded = tuple[str, Collection[str], Collection[str], Iterable[SeedEvent]]
"""Name of a variant or experiment, what its runs varied and held, and the seeding calls of its runs."""


def seed_sentence(recorded: Sequence[Recorded]) -> str:
    """Which seeds of the script were replaced, and which were kept; empty without a recorded seed.

    The text is not the verdict that the seed has no effect: what replaces a seed is derived from it, too.
    """
    values: dict[tuple[str, str], dict[str, None]] = {}
    fates: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    for label, varied, held, events in recorded:
        for event in events:
            if event.value == "None":
                continue
            site = clean(event.call), clean(place_text(event.file, event.line))
            values.setdefault(site, {})[clean(event.value)] = None
            fates.setdefault(site, {}).setdefault(_fate(event, varied, held), {})[label] = None
    places: dict[tuple[str, str], list[str]] = {}
    for (call, place), labels in fates.items():
        fate = " and ".join(f"{text} in {', '.join(of)}" if len(labels) > 1 else text for text, of in labels.items())
        places.setdefault((_with_value(call, tuple(values[call, place])), fate), []).append(place)
    clauses = [f"{call} in {first_few(of, MOST_PLACES)} was {fate}" for (call, fate), of in places.items()]
    clauses.sort(key=lambda clause: clause.endswith(f" was {KEPT}"))
    more = [f"{len(clauses) - MOST_CALLS} more in Provenance"] if len(clauses) > MOST_CALLS else []
    return f"The script's own seeds: {'; '.join([*clauses[:MOST_CALLS], *more])}." if clauses else ""


def _fate(event: SeedEvent, varied: Collection[str], held: Collection[str]) -> str:
    if event.action != "replaced":
        return KEPT
    if set(varied) >= STREAMS:
        return "replaced by one per run"
    return "replaced by one for all runs" if set(held) >= STREAMS else "replaced"


def _with_value(call: str, values: tuple[str, ...]) -> str:
    """`numpy.random.default_rng(0)`, `random_state=1`; values that differ between runs are left out."""
    value = values[0] if len(values) == 1 else "…"
    return f"{KEYWORD}={value}" if call.endswith(f".{KEYWORD}") else f"{call}({value})"

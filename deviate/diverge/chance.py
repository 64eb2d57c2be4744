"""What enters a program by chance, as the host draws it, and what the runs recorded of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deviate.model.plan import Variant
from deviate.model.records import Run
from deviate.records.files import json_lines
from deviate.records.layout import event_files
from deviate.replay.variants import DRAWN, ENTROPY, HASH, derive_seed, with_levels


@dataclass(frozen=True, slots=True)
class Chance:
    """What one run drew by chance.

    Attributes:
        places: in order, each `FILE:LINE` of the project, or the library of a shared generator that nothing had seeded.
        first_draws: library to the line that draws first from its shared generator, where that was watched.
        without_seed: name, file and line of what draws from NumPy's shared generator for want of a seed of its own.
    """

    places: tuple[str, ...] = ()
    first_draws: tuple[tuple[str, str, int], ...] = ()
    without_seed: tuple[tuple[str, str, int], ...] = ()


def chance_of(run: Run) -> Chance:
    """What the processes of a run recorded of chance."""
    found: dict[str, dict[tuple[str, str, int], None]] = {"drawn": {}, "first": {}, "without seed": {}}
    for path in event_files(run.folder):
        for event in json_lines(path):
            if isinstance(event, list) and event[:1] == ["chance"]:
                _, what, name, file, line = event
                found[what][name, file, line] = None
    places = (name or f"{file}:{line}" for name, file, line in found["drawn"])
    return Chance(tuple(places), tuple(found["first"]), tuple(found["without seed"]))


def draw_chance(variant: Variant, *, is_hash_set: bool) -> Variant:
    """The variant with chance drawn by the host: each run has a hash seed and numbers of the system of its own.

    Args:
        is_hash_set: whether the user sets PYTHONHASHSEED.
    """
    return with_levels(variant, [(name, DRAWN) for name in ((ENTROPY,) if is_hash_set else (ENTROPY, HASH))])


def is_drawn(variant: Variant, source: str) -> bool:
    """Whether each run has a seed of its own for the hash or for numbers of the system."""
    return dict(variant.controls).get(source) == DRAWN


def give_chance(
    variant: Variant, seed: int, given: Iterable[str], *, watched: Sequence[str] = (), is_pair: bool = False
) -> Variant:
    """The variant in which these sources have the values of run 0, and all others those of run 1.

    Args:
        given: `hash`, places and libraries.
        watched: libraries of which the line that draws first is recorded.
        is_pair: whether each of two runs has the other values of its own.
    """
    names, levels = set(given), dict[str, str]()
    if is_drawn(variant, ENTROPY):
        own_seed = DRAWN if is_pair else str(derive_seed(seed, ENTROPY, 1))
        places = ",".join(sorted(names - {HASH}))
        levels[ENTROPY] = "/".join((own_seed, str(derive_seed(seed, ENTROPY, 0)), places, ",".join(watched)))
    if is_drawn(variant, HASH) and (HASH in names or not is_pair):
        levels[HASH] = str(derive_seed(seed, HASH, 0 if HASH in names else 1))
    return with_levels(variant, levels.items())

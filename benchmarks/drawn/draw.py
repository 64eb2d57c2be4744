"""Draw the scripts of the three further looks from `candidates.json`, and print them with an ordered reserve.

    python benchmarks/drawn/draw.py

Of each kind, the candidates are shuffled: the first two belong to the first look, the next two to the second, and the
others are the reserve, of which the third look takes the next two that are not used. A drawn script whose project
cannot be fetched, that does not parse or that trains nothing gives its place to the next one of the reserve of its
kind; `drawn.json` holds what came of that.
"""

import json
import random
from pathlib import Path

SEED = 20261126
"""Fixed before the first draw, the day of the draw."""

N_PER_LOOK = 2
"""Scripts of each kind in one look."""

PLACES = ("first look",) * N_PER_LOOK + ("second look",) * N_PER_LOOK

CANDIDATES = Path(__file__).with_name("candidates.json")


def main() -> None:
    candidates: list[dict[str, str]] = json.loads(CANDIDATES.read_text(encoding="utf-8"))
    for kind in sorted({candidate["kind"] for candidate in candidates}):
        print(kind)
        for index, candidate in enumerate(shuffled(candidates, kind)):
            place = PLACES[index] if index < len(PLACES) else f"reserve {index - len(PLACES) + 1}"
            print(f"  {place:<12} {candidate['repo']} {candidate['script']}")


def shuffled(candidates: list[dict[str, str]], kind: str) -> list[dict[str, str]]:
    """All candidates of one kind in the order of the draw, which neither their order nor other kinds change."""
    of_kind = sorted((each for each in candidates if each["kind"] == kind), key=lambda each: each["repo"])
    random.Random(f"{SEED} {kind}").shuffle(of_kind)
    return of_kind


if __name__ == "__main__":
    main()

"""The lines of the user's files around the places that findings name."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deviate.base import redacted
from deviate.model.divergence import Cause, Difference, DivergenceFindings, Place, RungFindings
from deviate.records import Texts, snapshot_folder

AROUND = 4
"""Lines before a place, and as many after it."""
LONGEST_LINE = 400


def with_lines_around(found: DivergenceFindings, attempt: Path) -> DivergenceFindings:
    """The same with the lines around each place, and its text; secrets are covered.

    They are read once all is found, for traces name places by the million.

    Args:
        attempt: of one of the runs; files are read as they were frozen for its experiment.
    """
    return _filled(found, Texts(snapshot_folder(attempt.parent.parent.parent)).lines)


def _filled(found: DivergenceFindings, lines_of: Callable[[str], list[str]]) -> DivergenceFindings:
    place = functools.partial(_place, lines_of)

    def difference(it: Difference | None) -> Difference | None:
        if it is None:
            return None
        more = {key: place(value) if isinstance(value, Place) else value for key, value in it.more.items()}
        return replace(it, place=None if it.place is None else place(it.place), more=more)

    def rung(it: RungFindings) -> RungFindings:
        ranks = tuple(one for one in map(difference, it.by_rank) if one is not None)
        return replace(it, difference=difference(it.difference), by_rank=ranks)

    def cause(it: Cause) -> Cause:
        return replace(it, places=tuple(map(place, it.places)))

    return replace(found, rungs=tuple(map(rung, found.rungs)), causes=tuple(map(cause, found.causes)))


def _place(lines_of: Callable[[str], list[str]], it: Place) -> Place:
    lines = lines_of(it.file)
    if not 0 < it.line <= len(lines):
        return it
    first = max(1, it.line - AROUND)
    # Together, for a secret may go over several lines; as many as there were, or the numbers would be wrong.
    told = redacted("\n".join(lines[first - 1 : it.line + AROUND])).split("\n")
    if len(told) != len(lines[first - 1 : it.line + AROUND]):
        return it
    around = tuple(line[:LONGEST_LINE] for line in told)
    return replace(it, text=around[it.line - first].strip(), around=around, from_line=first)

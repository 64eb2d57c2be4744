"""The lines of the user's files around the places that findings name."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deviate.base import redact
from deviate.model.divergence import Cause, Difference, DivergenceFindings, Place, RungFindings
from deviate.records import Texts, snapshot_folder

AROUND = 4
"""Lines before a place, and as many after it."""
LONGEST_LINE = 400


def attach_source_context(findings: DivergenceFindings, attempt: Path) -> DivergenceFindings:
    """The same with the lines around each place, and its text; secrets are covered.

    They are read once all is found, for traces name places by the million.

    Args:
        attempt: of one of the runs; files are read as they were frozen for its experiment.
    """
    return _fill_places(findings, Texts(snapshot_folder(attempt.parent.parent.parent)).lines)


def _fill_places(findings: DivergenceFindings, lines_of: Callable[[str], list[str]]) -> DivergenceFindings:
    place = functools.partial(_place, lines_of)

    def difference(item: Difference | None) -> Difference | None:
        if item is None:
            return None
        more = {key: place(value) if isinstance(value, Place) else value for key, value in item.more.items()}
        return replace(item, place=None if item.place is None else place(item.place), more=more)

    def rung(item: RungFindings) -> RungFindings:
        ranks = tuple(one for one in map(difference, item.by_rank) if one is not None)
        return replace(item, difference=difference(item.difference), by_rank=ranks)

    def cause(item: Cause) -> Cause:
        return replace(item, places=tuple(map(place, item.places)))

    return replace(findings, rungs=tuple(map(rung, findings.rungs)), causes=tuple(map(cause, findings.causes)))


def _place(lines_of: Callable[[str], list[str]], place: Place) -> Place:
    lines = lines_of(place.file)
    if not 0 < place.line <= len(lines):
        return place
    first = max(1, place.line - AROUND)
    # Together, for a secret may go over several lines; as many as there were, or the numbers would be wrong.
    lines_shown = redact("\n".join(lines[first - 1 : place.line + AROUND])).split("\n")
    if len(lines_shown) != len(lines[first - 1 : place.line + AROUND]):
        return place
    around = tuple(line[:LONGEST_LINE] for line in lines_shown)
    return replace(place, text=around[place.line - first].strip(), around=around, from_line=first)

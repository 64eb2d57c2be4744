"""Some experiments of findings on stability, as findings of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from deviate.model import Convergence, SetStability, StabilityDifference, StabilityFindings, WeakModels, WeightStability

Part = TypeVar("Part", SetStability, WeightStability, Convergence, WeakModels, StabilityDifference)


def stability_of(findings: StabilityFindings, places: Sequence[int]) -> StabilityFindings:
    """What is told of the experiments at these places, counted anew in this order.

    Differences stay where the baseline, which they are from, is the first of them.
    """
    anew = {place: number for number, place in enumerate(places)}
    has_baseline = bool(places) and places[0] == 0

    def select(parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(replace(part, experiment=anew[part.experiment]) for part in parts if part.experiment in anew)

    return StabilityFindings(
        sets=select(findings.sets),
        weights=select(findings.weights),
        convergence=select(findings.convergence),
        weak=select(findings.weak),
        reasons=tuple(findings.reasons[place] for place in places if place < len(findings.reasons)),
        differences=select(findings.differences) if has_baseline else (),
    )

"""Some experiments of findings on stability, as findings of their own."""

from collections.abc import Sequence
from dataclasses import replace

from deviate.model import StabilityFindings


def stability_of(findings: StabilityFindings, places: Sequence[int]) -> StabilityFindings:
    """What is told of the experiments at these places, counted anew in this order.

    Differences stay where the baseline, which they are from, is the first of them.
    """
    anew = {place: number for number, place in enumerate(places)}
    has_baseline = bool(places) and places[0] == 0
    return StabilityFindings(
        sets=tuple(replace(it, experiment=anew[it.experiment]) for it in findings.sets if it.experiment in anew),
        weights=tuple(replace(it, experiment=anew[it.experiment]) for it in findings.weights if it.experiment in anew),
        convergence=tuple(
            replace(it, experiment=anew[it.experiment]) for it in findings.convergence if it.experiment in anew
        ),
        weak=tuple(replace(it, experiment=anew[it.experiment]) for it in findings.weak if it.experiment in anew),
        reasons=tuple(findings.reasons[place] for place in places if place < len(findings.reasons)),
        differences=tuple(
            replace(it, experiment=anew[it.experiment])
            for it in findings.differences
            if has_baseline and it.experiment in anew
        ),
    )

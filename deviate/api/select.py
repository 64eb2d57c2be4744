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
        sets=tuple(
            replace(part, experiment=anew[part.experiment]) for part in findings.sets if part.experiment in anew
        ),
        weights=tuple(
            replace(weight, experiment=anew[weight.experiment])
            for weight in findings.weights
            if weight.experiment in anew
        ),
        convergence=tuple(
            replace(convergence, experiment=anew[convergence.experiment])
            for convergence in findings.convergence
            if convergence.experiment in anew
        ),
        weak=tuple(
            replace(weak_runs, experiment=anew[weak_runs.experiment])
            for weak_runs in findings.weak
            if weak_runs.experiment in anew
        ),
        reasons=tuple(findings.reasons[place] for place in places if place < len(findings.reasons)),
        differences=tuple(
            replace(difference, experiment=anew[difference.experiment])
            for difference in findings.differences
            if has_baseline and difference.experiment in anew
        ),
    )

"""Findings on stability become a view."""

from collections.abc import Iterator, Sequence

from deviate.model import Findings
from deviate.report.format import counted
from deviate.report.parts.stability import absent, classes, groups
from deviate.report.parts.stability.brief import brief_lines
from deviate.report.parts.stability.convergence import convergence_part, weak_part
from deviate.report.parts.stability.measure_labels import methods
from deviate.report.parts.stability.sets import N_OPEN, N_SETS, by_name, set_parts
from deviate.report.parts.stability.weights import weights_part
from deviate.report.view.stability import StabilityPart, StabilityView

N_CLASS_PARTS = 24


def stability_view(findings: Findings, labels: Sequence[str]) -> StabilityView:
    """Everything on stability; `labels` are the names of the experiments as the report uses them."""
    nothing = absent.nothing(findings)
    if nothing:
        told = " ".join([nothing, *absent.reasons(findings, labels)])
        return StabilityView(
            no_stability=told,
            no_classes=absent.NO_CLASSES,
            no_groups=absent.NO_GROUPS,
            lines=brief_lines(findings, labels),
        )
    sets = findings.stability.sets
    has_classes, has_groups = any(it.classes for it in sets), any(it.groups for it in sets)
    return StabilityView(
        no_stability="",
        parts=(
            *set_parts(findings, labels),
            *weights_part(findings, labels),
            *convergence_part(findings, labels),
            *weak_part(findings, labels),
        ),
        absent=(*absent.reasons(findings, labels), *absent.parts(findings)),
        footnotes=tuple(_footnotes(findings)),
        classes=tuple(_class_parts(findings, labels)),
        no_classes="" if has_classes else absent.NO_CLASSES,
        no_groups="" if has_groups else absent.NO_GROUPS,
        class_footnotes=(*classes.footnotes(findings), *groups.footnotes(findings)),
        lines=brief_lines(findings, labels),
    )


def _class_parts(findings: Findings, labels: Sequence[str]) -> Iterator[StabilityPart]:
    shown = findings.stability.sets[:N_CLASS_PARTS]
    for place, it in enumerate(shown):
        if it.classes:
            yield classes.class_part(it, place, labels, is_folded=place >= N_OPEN)
        if it.groups:
            yield groups.group_part(it, place, labels)


def _footnotes(findings: Findings) -> Iterator[str]:
    it = findings.stability
    measures = [one for found in it.sets for one in found.measures] + [found.distance for found in it.weights]
    if told := methods(one.interval for one in measures):
        yield f"Intervals: {told}. They come from runs, never from pairs: pairs share their runs."
    if it.sets:
        yield (
            "Disagreement counts examples on which two runs predict different classes, whichever of them is right. "
            "Averaged outputs are probabilities where there are any."
        )
        yield "No verdict rests on these figures; intervals of differences are not corrected for their number."
    left = len(by_name(findings)) - N_SETS
    if left > 0:
        yield f"{counted(left, 'further evaluation set')} not shown; JSON and CSV have all."

"""Builds the sections on stability from findings."""

from collections.abc import Iterator, Sequence

from deviate.model import Findings
from deviate.report import Absent, Block, Items, Section, counted
from deviate.stability.report import absent, classes, groups
from deviate.stability.report.convergence import convergence_part, weak_part
from deviate.stability.report.measure_labels import methods
from deviate.stability.report.sets import N_OPEN, N_SETS, by_name, set_parts
from deviate.stability.report.weights import weights_part

N_CLASS_PARTS = 24


def sections(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """The sections of a page on stability, in its order; `labels` name the experiments."""
    return stability_section(findings, labels), class_section(findings, labels)


def stability_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on evaluation sets, weights, convergence and weak runs; `labels` name the experiments."""
    nothing = absent.nothing(findings)
    if nothing:
        reasons = [Absent(" ".join([nothing, *absent.reasons(findings, labels)]))]
        return Section("stability", "Stability", (*reasons, Items((), "footnotes")))
    blocks: tuple[Block, ...] = (
        *set_parts(findings, labels),
        *weights_part(findings, labels),
        *convergence_part(findings, labels),
        *weak_part(findings, labels),
        *map(Absent, (*absent.reasons(findings, labels), *absent.parts(findings))),
        Items(tuple(_footnotes(findings)), "footnotes"),
    )
    return Section("stability", "Stability", blocks)


def class_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on classes and sub-groups of evaluation sets."""
    is_there = not absent.nothing(findings)
    sets = findings.stability.sets if is_there else ()
    notes = (*classes.footnotes(findings), *groups.footnotes(findings)) if is_there else ()
    blocks = (
        *(_class_parts(findings, labels) if is_there else ()),
        Items(notes, "footnotes"),
        *([] if any(captured.classes for captured in sets) else [Absent(absent.NO_CLASSES)]),
        *([] if any(captured.groups for captured in sets) else [Absent(absent.NO_GROUPS)]),
    )
    return Section("classes", "Classes of evaluation sets", blocks)


def _class_parts(findings: Findings, labels: Sequence[str]) -> Iterator[Section]:
    sets = findings.stability.sets[:N_CLASS_PARTS]
    for place, captured in enumerate(sets):
        if captured.classes:
            yield classes.class_part(captured, place, labels, is_folded=place >= N_OPEN)
        if captured.groups:
            yield groups.group_part(captured, place, labels)


def _footnotes(findings: Findings) -> Iterator[str]:
    stability = findings.stability
    measures = [one for captured in stability.sets for one in captured.measures] + [
        weight_stability.distance for weight_stability in stability.weights
    ]
    if methods_text := methods(one.interval for one in measures):
        yield f"Intervals: {methods_text}. They come from runs, never from pairs: pairs share their runs."
    if stability.sets:
        yield (
            "Disagreement counts examples on which two runs predict different classes, whichever of them is right. "
            "Averaged outputs are probabilities where there are any."
        )
        yield "No verdict rests on these figures; intervals of differences are not corrected for their number."
    n_left = len(by_name(findings)) - N_SETS
    if n_left > 0:
        yield f"{counted(n_left, 'further evaluation set')} not shown; JSON and CSV have all."


def limits(findings: Findings) -> Iterator[str]:
    """Limits of what predictions and weights show."""
    sets = findings.stability.sets
    if any(captured.disagreement for captured in sets):
        yield "How often runs disagree is not how often they are wrong, and no verdict rests on it."
    if any(captured.classes or captured.groups for captured in sets):
        yield "Classes and sub-groups are explored, not tested: the widest of many is wide by chance too."
    if findings.stability.weights:
        yield "Distance of weights is not distance of functions: units of a layer may change places."

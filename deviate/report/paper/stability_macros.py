r"""Stability figures as LaTeX commands: for each evaluation set, its least stable class, and the weights."""

from collections.abc import Callable, Iterator, Sequence

from deviate.model import Estimate, Findings, Interval, Measure, MeasureName, SetStability, Unavailable
from deviate.report.numbers import Number, Pieces, factor
from deviate.report.paper.letters import prefixes
from deviate.report.paper.macro import Macro, maths, missing
from deviate.report.parts.stability.classes import places_of
from deviate.report.parts.stability.measure_labels import MEASURES, places_for, scale_number

NAMES: dict[MeasureName, str] = {
    "churn": "Churn",
    "majority-agreement": "MajorityAgreement",
    "unstable-examples": "UnstableExamples",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "cka": "CKA",
    "ensemble-accuracy": "EnsembleGain",
    "ensemble-cross-entropy": "EnsembleLoss",
    "accuracy-sd": "AccuracySD",
    "cross-entropy-sd": "CrossEntropySD",
    "ece": "ECE",
    "ece-sd": "ECESD",
    "weight-distance": "WeightDistance",
}
"""Shares in percent, differences and SDs of shares in points, as in the table."""
OF_CLASSES = ("WorstClass", "WorstClassSD", "WorstClassRange", "WorstClassRatio")
ENDINGS = (*(f"{name}{end}" for name in NAMES.values() for end in ("", "Low", "High")), "Examples", *OF_CLASSES)


def stability_macros(
    findings: Findings, experiment_prefixes: Sequence[tuple[str, ...]], commands: Sequence[str]
) -> Iterator[Macro]:
    """LaTeX commands of the stability figures; none where nothing was captured.

    Args:
        experiment_prefixes: how the command names of each experiment begin. commands: names already in use.
    """
    stability = findings.stability
    macro_groups: list[tuple[tuple[str, ...], list[Macro]]] = []
    macro_groups += [
        ((*experiment_prefixes[captured.experiment], captured.name), list(_of_set(captured)))
        for captured in stability.sets
    ]
    macro_groups += [
        ((*experiment_prefixes[weights.experiment], "weights"), list(_of_measure(weights.distance)))
        for weights in stability.weights
    ]
    for prefix, (_, macros) in zip(
        prefixes([name for name, _ in macro_groups], ENDINGS, commands), macro_groups, strict=True
    ):
        yield from (Macro(f"deviate{prefix}{macro.name}", macro.body, macro.remark) for macro in macros)


def _of_set(captured: SetStability) -> Iterator[Macro]:
    yield Macro("Examples", maths(Number(captured.n_examples, 0)))
    for measure in captured.measures:
        yield from _of_measure(measure)
    if captured.classes:
        first = captured.classes[0]
        places = places_of(first)
        yield Macro("WorstClass", maths(str(first.label)), "the class whose accuracy has the largest SD over runs")
        for name, value in (("SD", first.sd), ("Range", first.range)):
            yield _figure(f"WorstClass{name}", value, lambda one: (Number(100 * one, places),))
        yield _figure("WorstClassRatio", first.ratio, factor)


def _of_measure(measure: Measure) -> Iterator[Macro]:
    labels, name = MEASURES[measure.name], NAMES[measure.name]
    places = places_for(measure.value, measure.interval, labels)
    yield _figure(name, measure.value, lambda value: (scale_number(value, places, labels),))
    for end in ("Low", "High"):
        if isinstance(measure.interval, Interval):
            value = measure.interval.low if end == "Low" else measure.interval.high
            yield Macro(f"{name}{end}", maths(Number(labels.scale * value, places)), measure.interval.note)
        else:
            yield missing(f"{name}{end}", measure.interval)


def _figure(name: str, value: Estimate, written: Callable[[float], Pieces]) -> Macro:
    return missing(name, value) if isinstance(value, Unavailable) else Macro(name, maths(*written(value)))

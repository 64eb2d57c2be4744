r"""Stability figures as LaTeX commands: for each evaluation set, its least stable class, and the weights."""

from collections.abc import Iterator, Sequence

from deviate.model import Findings, Interval, Measure, MeasureName, SetStability, Unavailable
from deviate.report import Number, factor
from deviate.report.paper import Macro, maths, of_ends, of_estimate, prefixes
from deviate.stability.measures.jackknife import JACKKNIFE
from deviate.stability.report.classes import places_of
from deviate.stability.report.measure_labels import MEASURES, places_for, scale_number

NAMES: dict[MeasureName, str] = {
    "churn": "Churn", "majority-agreement": "MajorityAgreement", "unstable-examples": "UnstableExamples",
    "pearson": "Pearson", "spearman": "Spearman", "cka": "CKA", "ensemble-accuracy": "EnsembleGain",
    "ensemble-cross-entropy": "EnsembleLoss", "accuracy-sd": "AccuracySD", "cross-entropy-sd": "CrossEntropySD",
    "ece": "ECE", "ece-sd": "ECESD", "weight-distance": "WeightDistance",
}  # fmt: skip
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
    macro_groups = [
        ((*experiment_prefixes[captured.experiment], captured.name), _set_macros(captured))
        for captured in stability.sets
    ]
    macro_groups += [
        ((*experiment_prefixes[weights.experiment], "weights"), _measure_macros(weights.distance))
        for weights in stability.weights
    ]
    for prefix, (_, macros) in zip(
        prefixes([name for name, _ in macro_groups], ENDINGS, commands), macro_groups, strict=True
    ):
        yield from (macro.behind(prefix) for macro in macros)


def _set_macros(captured: SetStability) -> Iterator[Macro]:
    yield Macro("Examples", maths(Number(captured.n_examples, 0)))
    for measure in captured.measures:
        yield from _measure_macros(measure)
    if captured.classes:
        first = captured.classes[0]
        places = places_of(first)
        yield Macro("WorstClass", maths(str(first.label)), "the class whose accuracy has the largest SD over runs")
        for name, value in (("SD", first.sd), ("Range", first.range)):
            yield of_estimate(f"WorstClass{name}", value, lambda one: (Number(100 * one, places),))
        yield of_estimate("WorstClassRatio", first.ratio, factor)


def _measure_macros(measure: Measure) -> Iterator[Macro]:
    words, name = MEASURES[measure.name], NAMES[measure.name]
    places = places_for(measure.value, measure.interval, words)
    yield of_estimate(name, measure.value, lambda value: (scale_number(value, places, words),))
    yield from of_ends(name, measure.interval, lambda value: (Number(words.scale * value, places),))


def citations(findings: Findings) -> Iterator[str]:
    """Keys of the publications behind the measures of a report."""
    stability = findings.stability
    measures = [measure for captured in stability.sets for measure in captured.measures]
    measures += [weights.distance for weights in stability.weights]
    names = {measure.name for measure in measures if not isinstance(measure.value, Unavailable)}
    intervals = [measure.interval for measure in measures if isinstance(measure.interval, Interval)]
    uses = {
        "tukey1958": any(interval.method == JACKKNIFE for interval in intervals),
        "milanifard2016": "churn" in names,
        "summers2021": bool({"ensemble-accuracy", "ensemble-cross-entropy"} & names),
        "zhuang2022": "weight-distance" in names or any(captured.groups for captured in stability.sets),
        "pham2020": bool(stability.convergence) or any(captured.classes for captured in stability.sets),
        "kornblith2019": "cka" in names,
        "guo2017": "ece" in names,
    }
    return (key for key, is_used in uses.items() if is_used)

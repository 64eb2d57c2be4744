"""Pairs: each candidate against the baseline, metric by metric, as one family of comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

import numpy as np

from deviate.model.comparisons import Comparison, CompletionComparison, Description
from deviate.model.estimates import NOT_ASKED, Estimate, Unavailable
from deviate.model.findings import ExperimentFindings, PairFindings
from deviate.model.phrases import Note, remarks
from deviate.model.records import Experiment
from deviate.series.remarks import contention
from deviate.series.sides import shared_runs, why_apart
from deviate.stats.compare import compare_descriptions, refine_p, with_adjusted_p
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.hypothesis.curves import compare_curves
from deviate.stats.hypothesis.failures import compare_completion, worst_rank
from deviate.stats.hypothesis.survival import compare_attainment
from deviate.stats.interim_analysis import standing
from deviate.stats.options import AnalysisOptions
from deviate.stats.verdict import without_unfair


def compare_all(
    described: Sequence[ExperimentFindings],
    options: AnalysisOptions,
    *,
    is_chosen_after: bool,
    resamples: Resamples,
) -> tuple[PairFindings, ...]:
    """Compare every further experiment with the first; one family of p-values over all of them.

    Runs of a candidate with other rules than the baseline's are never paired.

    Args:
        is_chosen_after: whether the primary metric was named after results were seen.
        resamples: those of the descriptions, drawn from the analysis seed.
    """
    baseline = described[0]
    experiments = [findings.experiment for findings in described]
    matched = [match_metrics(baseline.descriptions, one.descriptions, options.matches) for one in described[1:]]
    standings = [
        standing(experiments[0], candidate, confidence=options.confidence, is_paired=options.is_paired)
        for candidate in experiments[1:]
    ]
    base_name, *other_names = (label_of(experiment, experiments) for experiment in experiments)
    statuses = [
        [
            at.refusing(*why_apart((base_name, name), both, shared))
            for shared in [shared_runs(baseline, candidate)]
            for both in of_metrics
        ]
        for candidate, name, of_metrics, at in zip(described[1:], other_names, matched, standings, strict=True)
    ]
    compared = [
        [
            at.apply(
                _with_outcomes(
                    compare_descriptions(
                        before,
                        after,
                        rng=_rng(options.analysis_seed),
                        confidence=at.confidence,
                        is_paired=options.is_paired,
                        spread_ratio=options.spread_ratio,
                        resamples=resamples,
                    ),
                    experiments[0],
                    candidate,
                    names=(base_name, name),
                    rng=_rng(options.analysis_seed),
                    confidence=at.confidence,
                )
            )
            for (before, after), at in zip(both, of_metrics, strict=True)
        ]
        for both, candidate, name, of_metrics in zip(matched, experiments[1:], other_names, statuses, strict=True)
    ]
    has_looks = any(at.plan is not None for at in standings)
    corrected, family = adjust(
        compared,
        confidence=options.confidence,
        has_looks=has_looks,
        is_chosen_after=is_chosen_after,
    )
    pairs = []
    for candidate, name, adjusted_pair, at, of_metrics in zip(
        described[1:], other_names, corrected, standings, statuses, strict=True
    ):
        contended = contention([*baseline.experiment.runs, *candidate.experiment.runs])
        looked = headline.note if (headline := find_headline(adjusted_pair)) is not None else ""
        comparisons = tuple(
            without_unfair(
                _add_contention(_without_remark(status.judge(comparison), looked), contended), status.confidence
            )
            for comparison, status in zip(adjusted_pair, of_metrics, strict=True)
        )
        ours = {comparison.metric.name for comparison in comparisons}
        theirs = {comparison.candidate_metric.name for comparison in comparisons}
        pairs.append(
            PairFindings(
                baseline=base_name,
                candidate=name,
                comparisons=comparisons,
                headline=find_headline(comparisons),
                unmatched_baseline=_others(baseline, ours),
                unmatched_candidate=_others(candidate, theirs),
                family=family,
                looks=at.sentence,
                completion=at.on_completion(_completions(baseline, candidate)),
            )
        )
    return tuple(pairs)


def _with_outcomes(
    comparison: Comparison,
    baseline: Experiment,
    candidate: Experiment,
    *,
    names: tuple[str, str],
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> Comparison:
    """The comparison with failed runs ranked worst, the metric against steps, and the time to its target.

    Args:
        rng: gives one number, with which the generator of the curves begins, as in `compare_descriptions`.
    """
    before, after = comparison.baseline, comparison.candidate
    has_target = comparison.metric.target is not None
    return replace(
        comparison,
        names=names,
        worst_rank=worst_rank(before, after),
        curve=compare_curves(
            baseline,
            candidate,
            comparison.metric,
            comparison.candidate_metric,
            rng=np.random.default_rng(int(rng.integers(2**63))),
            confidence=confidence,
        ),
        attainment=compare_attainment(before.attainment, after.attainment) if has_target else NOT_ASKED,
    )


def _completions(baseline: ExperimentFindings, candidate: ExperimentFindings) -> CompletionComparison | Unavailable:
    if isinstance(baseline.completion, Unavailable):
        return baseline.completion
    if isinstance(candidate.completion, Unavailable):
        return candidate.completion
    return compare_completion(baseline.completion, candidate.completion)


def match_metrics(
    baseline: Sequence[Description], candidate: Sequence[Description], matches: Mapping[str, str]
) -> list[tuple[Description, Description]]:
    """Pairs of metrics in the baseline's order: as matched by the user, else by name.

    A candidate's metric that the user has matched is not matched again by its own name.
    """
    by_name = {description.metric.name: description for description in candidate}
    renamed = {name: other for name, other in matches.items() if other in by_name}
    pairs = []
    for description in baseline:
        name = description.metric.name
        other = renamed.get(name, name)
        if other in by_name and (name in renamed or other not in renamed.values()):
            pairs.append((description, by_name[other]))
    return pairs


def label_of(experiment: Experiment, experiments: Sequence[Experiment]) -> str:
    """Name of the experiment, with its variant where another one has the same name."""
    is_unique = [other.name for other in experiments].count(experiment.name) == 1
    return experiment.name if is_unique else f"{experiment.name}:{experiment.variant}"


def _without_remark(comparison: Comparison, remark: str) -> Comparison:
    """The comparison without a remark that its primary metric makes already."""
    is_repeated = bool(remark) and not comparison.metric.is_primary
    return replace(comparison, note="") if is_repeated else comparison


def _add_contention(comparison: Comparison, note: str) -> Comparison:
    if comparison.metric.role != "time":
        return comparison
    return replace(comparison, note=remarks(note, comparison.note))


def _rng(analysis_seed: int) -> np.random.Generator:
    """A new generator for each metric, with the same seed for all.

    So no p depends on the other metrics, and all metrics with equally many runs share their permutations.
    """
    return np.random.default_rng(analysis_seed)


def find_headline(comparisons: Sequence[Comparison]) -> Comparison | None:
    """The comparison of the primary metric; None without one."""
    return next((comparison for comparison in comparisons if comparison.metric.is_primary), None)


def _others(findings: ExperimentFindings, compared: set[str]) -> tuple[str, ...]:
    return tuple(d.metric.name for d in findings.descriptions if d.metric.name not in compared)


# Families of comparisons: adjusted p-values by Holm's method, and which comparisons belong together.

Family = Literal["primary", "quality", "outside"]
"""`outside`: time and other metrics, apart from the others: they do not make the correction for quality stricter."""


def adjust(
    pairs: Sequence[Sequence[Comparison]],
    *,
    confidence: float,
    has_looks: bool = False,
    is_chosen_after: bool = False,
) -> tuple[tuple[tuple[Comparison, ...], ...], str]:
    """Correct `p_adjusted` in each family over its metrics and over all candidates, and decide the verdicts anew.

    Where the Monte-Carlo error of a p leaves open whether it is below alpha once adjusted, it is computed anew from
    more arrangements.

    Args:
        is_chosen_after: whether the primary metric was named after results were seen: then it is one of the quality
            metrics, any of which could have been named.

    Returns:
        The comparisons of each candidate after correction, and the sentence that names the families.
    """
    members: dict[Family, list[Comparison]] = {"primary": [], "quality": [], "outside": []}

    def family_of(comparison: Comparison) -> Family:
        if comparison.metric.is_primary and not is_chosen_after:
            return "primary"
        return "quality" if comparison.metric.role == "quality" or comparison.metric.is_primary else "outside"

    for comparison in chain.from_iterable(pairs):
        members[family_of(comparison)].append(comparison)
    adjusted = {name: iter(_adjust_family(family, confidence, has_looks=has_looks)) for name, family in members.items()}
    return tuple(tuple(next(adjusted[family_of(c)]) for c in comparisons) for comparisons in pairs), _label(members)


def _adjust_family(family: Sequence[Comparison], confidence: float, *, has_looks: bool) -> list[Comparison]:
    p_values, upper = holm([c.p_adjusted for c in family]), holm([c.p_upper for c in family])
    if not has_looks and any(_is_open(p, most, confidence) for p, most in zip(p_values, upper, strict=True)):
        family = [
            refine_p(c) if _is_open(p, most, confidence) else c
            for c, p, most in zip(family, p_values, upper, strict=True)
        ]
        p_values, upper = holm([c.p_adjusted for c in family]), holm([c.p_upper for c in family])
    return [
        with_adjusted_p(c, p, most, confidence=confidence, n_family=len(family), has_looks=has_looks)
        for c, p, most in zip(family, p_values, upper, strict=True)
    ]


def _is_open(p_adjusted: Estimate, p_upper: Estimate, confidence: float) -> bool:
    if isinstance(p_adjusted, Unavailable) or isinstance(p_upper, Unavailable):
        return False
    # Below alpha within the error on either side: three errors above p decide, so three below it matter as well.
    return p_upper >= 1 - confidence > 2 * p_adjusted - p_upper


def holm(p_values: Sequence[Estimate]) -> list[Estimate]:
    """Adjusted p-values in the same order; one without a test keeps its reason and counts in the family as p = 1.

    Computed here, because `statsmodels` collects garbage in every call, which costs a tenth of a second.
    Source: Holm (1979).
    """
    values = [1.0 if isinstance(p, Unavailable) else p for p in p_values]
    corrected, floor = [1.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        floor = max(floor, (len(values) - place) * values[index])
        corrected[index] = min(1.0, floor)
    return [p if isinstance(p, Unavailable) else q for p, q in zip(p_values, corrected, strict=True)]


def _label(members: dict[Family, list[Comparison]]) -> str:
    kinds: dict[Family, Note] = {
        "primary": Note.PRIMARY,
        "quality": Note.SECONDARY if members["primary"] else Note.QUALITY,
        "outside": Note.OUTSIDE,
    }
    parts = []
    for family, comparisons in members.items():
        over = kinds[family](len({comparison.metric.name for comparison in comparisons}))
        is_alone = family == "primary" and len(comparisons) == 1
        if comparisons:
            parts.append(Note.NOT_ADJUSTED(over) if is_alone else Note.HOLM(over, len(comparisons)))
    return remarks(*parts)

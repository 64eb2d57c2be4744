"""Stability findings: every measure of every set and of the weights of every experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from deviate.model.estimates import Estimate, Unavailable
from deviate.model.records import Captured, CapturedSet, CapturedWeights, Experiment
from deviate.model.stability import (
    LayerDistance,
    Measure,
    MeasureName,
    SetStability,
    StabilityDifference,
    StabilityFindings,
    StepDivergence,
    WeightStability,
)
from deviate.stability.measures.classes import class_table, expected_largest_range, expected_largest_sd, group_table
from deviate.stability.measures.classified import MEASURES, classify, least_stable, measures_of
from deviate.stability.measures.convergence import convergence, weak_models
from deviate.stability.measures.intervals import NO_TRUTH, difference_over_pairs, over_pairs, sampling_sd
from deviate.stability.measures.pairwise import normalised_distances
from deviate.stability.measures.reductions import reductions
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.estimates.one_sample import mean_of, sd_of

NO_STEP = Unavailable("not captured at this step")
NO_CLASSES = Unavailable("outputs are not classes")
PARTS = Unavailable("parts of one example are not independent")
Layers = Mapping[str, NDArray[np.float64]]
Pairs = tuple[tuple[float, ...], ...]


def stability(
    captured: Sequence[Captured],
    experiments: Sequence[Experiment],
    *,
    confidence: float,
    rng: np.random.Generator,
    columns: Sequence[str] | None = None,
    weak: tuple[str, float] | None = None,
    convergence_metric: str | None = None,
) -> StabilityFindings:
    """Stability findings, as far as outputs, weights and times were recorded.

    Args:
        captured: one per experiment, in the same order; empty if nothing was captured. columns: example columns that
            hold groups; None for every column with few values. weak: name of a metric and the score below which a model
            is weak (above which, if less is better). convergence_metric: metric of the convergence table, instead of
            the primary one.

    Raises:
        InputError: no experiment has the metric of `weak`.
    """
    resamples = Resamples(rng)
    by_step = [distances_by_step(one.weights_by_step, confidence) for one in captured]
    sets = tuple(
        set_stability(
            captured_set,
            one,
            index,
            weights_by_step=by_step[index],
            confidence=confidence,
            rng=resamples,
            columns=columns,
        )
        for index, one in enumerate(captured)
        for captured_set in one.sets
        if base_of(captured_set, one) is None
    )
    weights = tuple(
        weight_distances(one.weights, by_step[index], index, confidence)
        for index, one in enumerate(captured)
        if one.weights is not None
    )
    times = (convergence(experiment, index, metric=convergence_metric) for index, experiment in enumerate(experiments))
    return StabilityFindings(
        sets=sets,
        weights=weights,
        convergence=tuple(time for time in times if time is not None),
        weak=() if weak is None else weak_models(experiments, *weak),
        reasons=tuple(item.reasons for item in captured),
        differences=_differences(sets, weights, confidence),
    )


def _differences(
    sets: Sequence[SetStability], weights: Sequence[WeightStability], confidence: float
) -> tuple[StabilityDifference, ...]:
    """Churn on sets that the first experiment has too, of as many examples, and distances of weights."""
    first_sets = {captured.name: captured for captured in reversed(sets) if captured.experiment == 0}
    pairs: list[tuple[int, str, MeasureName, Pairs, Pairs]] = [
        (captured.experiment, captured.name, "churn", base.disagreement, captured.disagreement)
        for captured in sets
        if captured.experiment and captured.disagreement
        if (base := first_sets.get(captured.name)) is not None and base.n_examples == captured.n_examples
    ]
    pairs += [
        (one.experiment, "", "weight-distance", weights[0].distances, one.distances)
        for one in weights
        if one.experiment and weights[0].experiment == 0 and _have_same_layers(weights[0], one)
    ]
    return tuple(
        StabilityDifference(
            experiment, set_name, difference_over_pairs(name, np.array(before), np.array(after), confidence)
        )
        for experiment, set_name, name, before, after in sorted(pairs, key=itemgetter(0))
    )


def _have_same_layers(one: WeightStability, other: WeightStability) -> bool:
    """Whether both models have the same layers: distances of others are none of the same thing."""
    return [(layer.name, layer.n_weights) for layer in one.layers] == [
        (layer.name, layer.n_weights) for layer in other.layers
    ]


def set_stability(
    item: CapturedSet,
    captured: Captured,
    index: int,
    *,
    weights_by_step: Mapping[int, Measure],
    confidence: float,
    rng: Resamples,
    columns: Sequence[str] | None,
) -> SetStability:
    """Every measure of one set, as far as what was captured allows.

    Args:
        captured: everything captured of the experiment: other sets, steps. index: of the experiment in the findings.
            weights_by_step: weight distances after steps of the main loop. columns: as for `group_table`.
    """
    if not len(item.positions):
        return _empty(item, index)
    answers = classify(item)
    scores, losses, churn = answers.accuracies, answers.cross_entropies, answers.churn
    notes, names = [*item.notes, *answers.notes], list(MEASURES)
    if not np.isfinite(losses).all():
        notes.append("The cross-entropy of some runs is not finite, so it is not shown.")
        losses = ()
        names.remove("cross-entropy-sd")
    table = class_table(answers, sd_of(scores), confidence)
    has_parts = len(np.unique(item.positions)) < len(item.positions)
    grouped, group_notes = group_table(item, answers, columns, confidence=confidence, rng=rng)
    return SetStability(
        experiment=index,
        name=item.name,
        replicates=item.replicates,
        n_examples=len(item.positions),
        n_classes=answers.n_classes,
        kind=item.kind,
        alignment=item.alignment,
        measures=measures_of(answers, names, confidence),
        accuracies=scores,
        cross_entropies=losses,
        mean_accuracy_sampling_sd=_sampling_sd(scores, len(item.positions), has_parts=has_parts),
        disagreement=() if churn is None else tuple(tuple(row) for row in churn.tolist()),
        classes=tuple(replace(row, sampling_sd=PARTS) for row in table) if has_parts else table,
        expected_largest_sd=expected_largest_sd(table) if table else NO_TRUTH,
        expected_largest_range=expected_largest_range(table) if table else NO_TRUTH,
        groups=grouped,
        group_notes=group_notes,
        unstable=least_stable(item, answers),
        steps=_steps(item.name, captured.by_step, weights_by_step, confidence),
        reductions=reductions(
            item,
            [captured_set for captured_set in captured.sets if base_of(captured_set, captured) is item],
            captured.by_step,
            confidence,
            answers,
        ),
        notes=tuple(dict.fromkeys(notes)),
    )


def _sampling_sd(scores: Sequence[float], n: int, *, has_parts: bool) -> Estimate:
    """Binomial sampling SD; none for pixels or tokens, which are correlated within an example."""
    if not scores:
        return NO_TRUTH
    return PARTS if has_parts else sampling_sd(mean_of(scores), n)


def _empty(captured_set: CapturedSet, index: int) -> SetStability:
    notes = (*captured_set.notes, "No example is common to all runs.")
    kind, alignment = captured_set.kind, captured_set.alignment
    return SetStability(index, captured_set.name, captured_set.replicates, 0, None, kind, alignment, (), notes=notes)


def base_of(item: CapturedSet, captured: Captured) -> CapturedSet | None:
    """The set of which this one is an augmentation; None if it is none."""
    base, plus, _ = item.name.partition("+")
    return next((captured_set for captured_set in captured.sets if plus and captured_set.name == base), None)


def _steps(
    name: str, by_step: Sequence[CapturedSet], weights: Mapping[int, Measure], confidence: float
) -> tuple[StepDivergence, ...]:
    """Every step at which outputs of the set or weights were kept; empty where outputs were kept at none."""
    churn = {
        captured_set.step: _churn(captured_set, confidence)
        for captured_set in by_step
        if captured_set.name == name and captured_set.step is not None
    }
    if not churn:
        return ()
    return tuple(
        StepDivergence(
            step,
            churn.get(step, Measure("churn", NO_STEP, NO_STEP)),
            weights.get(step, Measure("weight-distance", NO_STEP, NO_STEP)),
        )
        for step in sorted({*churn, *weights})
    )


def _churn(captured_set: CapturedSet, confidence: float) -> Measure:
    churn = classify(captured_set).churn
    return Measure("churn", NO_CLASSES, NO_CLASSES) if churn is None else over_pairs("churn", churn, confidence)


def weight_distances(
    final: CapturedWeights, by_step: Mapping[int, Measure], index: int, confidence: float
) -> WeightStability:
    """Distances of weights normalised to length 1.

    Args:
        by_step: distances after steps of the main loop. index: of the experiment among those of the findings.

    Source: Zhuang et al. (2022).
    """
    distances = normalised_distances(final.layers)
    return WeightStability(
        experiment=index,
        replicates=final.replicates,
        distance=over_pairs("weight-distance", distances, confidence),
        distances=tuple(tuple(row) for row in distances.tolist()),
        layers=tuple(
            LayerDistance(name, int(layer.shape[1]), _distance({name: layer}, confidence))
            for name, layer in final.layers.items()
        ),
        steps=tuple(by_step.items()),
    )


def distances_by_step(weights: Sequence[CapturedWeights], confidence: float) -> dict[int, Measure]:
    """Mean distance over pairs after each step of the main loop, steps rising."""
    return {snapshot.step: _distance(snapshot.layers, confidence) for snapshot in weights if snapshot.step is not None}


def _distance(layers: Layers, confidence: float) -> Measure:
    return over_pairs("weight-distance", normalised_distances(layers), confidence)

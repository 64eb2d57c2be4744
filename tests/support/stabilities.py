"""Findings on stability made of numbers: runs that agree next to nowhere and everywhere, on sets large and small."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from experiments import trained

from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.model.stability import (
    ClassStability,
    Convergence,
    ConvergenceRow,
    GroupMeasure,
    GroupStability,
    LayerDistance,
    Measure,
    MeasureName,
    Reduction,
    SetStability,
    StabilityDifference,
    StabilityFindings,
    StepDivergence,
    UnstableExample,
    WeakModels,
    WeightStability,
)
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

N_EXAMPLES, N_CLASSES = 10_000, 10
HOW = "jackknife over runs"
FEW = Unavailable("takes 5 runs")
VALUES: dict[MeasureName, float] = {
    "churn": 0.082,
    "majority-agreement": 0.953,
    "unstable-examples": 0.194,
    "pearson": 0.8921,
    "spearman": 0.8713,
    "cka": 0.9412,
    "ensemble-accuracy": 0.0123,
    "ensemble-cross-entropy": -0.0412,
    "accuracy-sd": 0.0022,
    "cross-entropy-sd": 0.0051,
    "ece": 0.0234,
    "ece-sd": 0.0031,
}


def everything(n_runs: int = 8) -> Findings:
    """Two experiments with all that can be captured, and a set that one of them lacks."""
    sides = [_trained("small", n_runs), _trained("wide", n_runs, seed=1)]
    return with_stability(sides, stability(sides))


def with_stability(experiments: Sequence[Experiment], found: StabilityFindings) -> Findings:
    return dataclasses.replace(judge(experiments, AnalysisOptions(margin=0.5)), stability=found)


def stability(
    experiments: Sequence[Experiment],
    set_names: Sequence[str] = ("test", "val"),
    columns: Sequence[str] = ("sex", "age"),
) -> StabilityFindings:
    """Every part; the last set has no classes and is of the first experiment alone."""
    sizes = [len(it.runs) for it in experiments]
    sets = [
        one_set(index, set_names[0], size, seed=index, columns=columns, layers=index == 0)
        for index, size in enumerate(sizes)
    ]
    return StabilityFindings(
        sets=(*sets, values_set(0, set_names[-1], sizes[0])),
        weights=tuple(weights(index, size, seed=index) for index, size in enumerate(sizes)),
        convergence=tuple(convergence(index, size) for index, size in enumerate(sizes)),
        weak=(WeakModels(0, "test_acc", "test_acc below 90", (3,), 9.4, 3.1, 0.8, 0.25),),
        differences=tuple(
            StabilityDifference(index, name, Measure(measured, value, Interval(value - 0.01, value + 0.01, 0.95, HOW)))
            for index in range(1, len(sizes))
            for name, measured, value in ((set_names[0], "churn", 0.0016), ("", "weight-distance", 0.02))
        ),
        reasons=(*((),) * (len(sizes) - 1), ("weights of replicate 2 were not kept: they found no room",)),
    )


def measure(name: MeasureName, value: float, *, n: int = 8, width: float = 0.06) -> Measure:
    half = min(abs(value), 1 - abs(value) if abs(value) < 1 else 1) * width + 1e-4
    interval = Interval(value - half, value + half, 0.95, HOW) if n >= 5 else FEW
    return Measure(name, value, interval)


def one_set(
    index: int,
    name: str,
    n: int,
    *,
    seed: int = 0,
    columns: Sequence[str] = ("sex", "age"),
    layers: bool = False,
    n_classes: int = N_CLASSES,
) -> SetStability:
    """Scores of ten classes, one of them small."""
    rng = np.random.default_rng(seed)
    accuracies = tuple(float(it) for it in 0.934 + 0.0022 * rng.standard_normal(n))
    return SetStability(
        experiment=index,
        name=name,
        replicates=tuple(range(n)),
        n_examples=N_EXAMPLES,
        n_classes=n_classes,
        kind="logits",
        alignment="position" if index == 0 else "input",
        measures=tuple(measure(it, value * (1 + 0.02 * index), n=n) for it, value in VALUES.items()),
        accuracies=accuracies,
        cross_entropies=tuple(float(it) for it in 0.25 + 0.005 * rng.standard_normal(n)),
        mean_accuracy_sampling_sd=0.0025,
        disagreement=pairs(rng, n, 0.082, 0.004),
        classes=_classes(rng, n, n_classes),
        expected_largest_sd=0.0082,
        expected_largest_range=0.027,
        groups=_groups(rng, columns),
        group_notes=("12 examples have no value in one of the columns and are left out of it.",),
        unstable=tuple(
            UnstableExample(17 * it, it % 10, 0.55 - 0.02 * it, ((it % 10, n - 3), (3, 3))) for it in range(20)
        ),
        steps=tuple(_step(step, n, has_weights=layers) for step in range(0, 50, 10)),
        reductions=(_reduction("snapshots", 5, accuracies, 0.48), _reduction("flip", 2, accuracies, 0.21)),
        notes=("True labels were read from the loader.",),
    )


def values_set(index: int, name: str, n: int) -> SetStability:
    """Outputs that are no classes."""
    kept = tuple(measure(it, VALUES[it], n=n) for it in ("pearson", "spearman", "cka"))
    return SetStability(index, name, tuple(range(n)), 500, None, "values", "position", kept)


def weights(index: int, n: int, *, seed: int = 0) -> WeightStability:
    rng = np.random.default_rng(seed)
    layers = tuple(
        LayerDistance(f"blocks.{it}.conv.weight", 1728 * (it + 1), measure("weight-distance", 1.1 + 0.03 * it, n=n))
        for it in range(6)
    )
    steps = tuple((step, measure("weight-distance", 0.2 + 0.02 * step, n=n)) for step in range(0, 50, 10))
    distances = pairs(rng, n, 1.21, 0.02)
    return WeightStability(index, tuple(range(n)), measure("weight-distance", 1.21, n=n), distances, layers, steps)


def convergence(index: int, n: int) -> Convergence:
    steps = tuple(None if it == 2 else 20 + it for it in range(n))
    seconds = tuple(None if it is None else 1.5 * it for it in steps)
    row = ConvergenceRow("within 1% of the best val_acc", steps, seconds, 7.5, 34.2, 3.1, 0.24, 0.31)
    own = tuple(1.5 + 0.01 * it for it in range(n))
    return Convergence(index, "val_acc", tuple(range(n)), own, 1.535, 0.024, 0.047, (row,))


def pairs(rng: np.random.Generator, n: int, middle: float, sd: float) -> tuple[tuple[float, ...], ...]:
    """A symmetric matrix with zeros on its diagonal."""
    matrix = np.zeros((n, n))
    for i, j in itertools.combinations(range(n), 2):
        matrix[i, j] = matrix[j, i] = middle + sd * rng.standard_normal()
    return tuple(tuple(float(it) for it in row) for row in matrix)


def _classes(rng: np.random.Generator, n: int, n_classes: int) -> tuple[ClassStability, ...]:
    if n < 2:
        return ()
    found = []
    for label in range(n_classes):
        size, spread = (60, 0.031) if label == 3 else (1104, 0.004 + 0.0004 * label)
        values = 0.9 + spread * rng.standard_normal(n)
        sd = float(np.std(values, ddof=1))
        found.append(
            ClassStability(
                label=label,
                n_examples=size,
                accuracies=tuple(float(it) for it in values),
                mean=float(values.mean()),
                range=float(np.ptp(values)),
                sd=sd,
                sd_interval=Interval(0.66 * sd, 2.04 * sd, 0.95, "chi-square"),
                ratio=sd / 0.0022,
                sampling_sd=float(np.sqrt(0.09 / size)),
            )
        )
    return tuple(sorted(found, key=lambda it: -float(it.sd) if isinstance(it.sd, float) else 0.0))


def _groups(rng: np.random.Generator, columns: Sequence[str]) -> tuple[GroupStability, ...]:
    """All, then two groups of each column; positives of the second one are rare."""
    found = [
        GroupStability(
            "", "All", N_EXAMPLES, 1490, 8510, 1.0, _rate(0.93, 0.0005, 1), _rate(0.03, 0.0008, 1), _rate(0.2, 0.005, 1)
        )
    ]
    for place, column in enumerate(columns):
        for value, factor in (("0", 1.1), ("1", 4.6 - place)):
            rare = (
                Unavailable("no example of this group is positive")
                if place and value == "1"
                else _rate(0.3, 0.005 * factor, factor)
            )
            found.append(
                GroupStability(
                    column,
                    value,
                    4200,
                    85,
                    4115,
                    0.42,
                    _rate(0.92, 0.0005 * factor, factor),
                    _rate(0.02, 0.0006, 0.75),
                    rare,
                )
            )
    return tuple(found)


def _rate(mean: float, sd: float, ratio: float) -> GroupMeasure:
    interval = FEW if ratio == 1 else Interval(0.7 * ratio, 1.5 * ratio, 0.95, "bootstrap over runs")
    return GroupMeasure(mean, sd, ratio, interval)


def _step(step: int, n: int, *, has_weights: bool) -> StepDivergence:
    distance = measure("weight-distance", 0.2 + 0.02 * step, n=n)
    absent = Measure("weight-distance", Unavailable("no weights were kept there"), FEW)
    return StepDivergence(step, measure("churn", 0.3 - 0.005 * step, n=n), distance if has_weights else absent)


def _reduction(name: str, n_members: int, accuracies: tuple[float, ...], share: float) -> Reduction:
    kept: tuple[MeasureName, ...] = ("accuracy-sd", "cross-entropy-sd", "churn", "pearson", "ensemble-accuracy")
    measures = tuple(measure(it, VALUES[it] * (1 - share)) for it in kept)
    return Reduction(name, n_members, accuracies, measures, share, Interval(share - 0.1, share + 0.1, 0.95, HOW))


def _trained(name: str, n_runs: int, *, seed: int = 0) -> Experiment:
    return trained(name, n_runs=n_runs, n_metrics=2, n_points=20, shift=0.3 * seed, seed=seed)

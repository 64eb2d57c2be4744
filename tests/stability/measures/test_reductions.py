"""Averaged outputs of one run: copies of the original code, the formula of the published rows, snapshots."""

import dataclasses

import numpy as np
import pytest
from outputs import drawn, labelled, scored

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import CapturedSet
from deviate.model.stability import Reduction
from deviate.stability.measures.reductions import COPIES, Variability, reduction, reductions, variability_reduction


def steadier(found: CapturedSet, seed: int, name: str) -> CapturedSet:
    """The same set with noise that is halved."""
    assert found.outputs is not None
    outputs = found.outputs + (found.outputs.mean(axis=0) - found.outputs) / 2
    outputs = outputs + 0.05 * np.random.default_rng(seed).normal(size=outputs.shape)
    return scored(outputs, found.truth, name=name)


def variability(found: CapturedSet) -> Variability:
    """The five measures by loops over runs and pairs."""
    outputs, truth = found.outputs, found.truth
    assert outputs is not None
    assert truth is not None
    rows = np.arange(len(truth))

    def accuracy(logits: np.ndarray) -> float:
        return float(np.mean(logits.argmax(axis=1) == truth))

    def loss(logits: np.ndarray) -> float:
        return float(-np.log(np.exp(logits)[rows, truth] / np.exp(logits).sum(axis=1)).mean())

    pairs = [(i, j) for i in range(len(outputs)) for j in range(i)]
    gains = [
        accuracy((outputs[i] + outputs[j]) / 2) - (accuracy(outputs[i]) + accuracy(outputs[j])) / 2 for i, j in pairs
    ]
    return Variability(
        sd_accuracy=float(np.std([accuracy(it) for it in outputs], ddof=1)),
        sd_cross_entropy=float(np.std([loss(it) for it in outputs], ddof=1)),
        disagreement=float(np.mean([np.mean(outputs[i].argmax(1) != outputs[j].argmax(1)) for i, j in pairs])),
        correlation=float(np.mean([np.corrcoef(outputs[i].ravel(), outputs[j].ravel())[0, 1] for i, j in pairs])),
        ensemble_delta=float(np.mean(gains)),
    )


def expected(base: CapturedSet, other: CapturedSet) -> float:
    percent = variability_reduction(variability(base), variability(other))
    assert isinstance(percent, float)
    return percent / 100


def by_name(found: tuple[Reduction, ...]) -> dict[str, Reduction]:
    return {it.name: it for it in found}


def test_copies_per_image_are_those_of_the_released_code() -> None:
    ours = {"flip_crop_mnist": 18}
    assert {name: n for name, n in COPIES.items() if name not in ours} | ours == COPIES
    assert {name: n for name, n in COPIES.items() if name not in ours} == {
        "flip": 1,
        "crop25": 25,
        "crop81": 81,
        "flip_crop25": 50,
        "flip_crop81": 162,
        "crop_mnist": 9,
        "crop_imagenet": 9,
        "flip_crop_imagenet": 18,
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_reduction_is_the_published_formula_on_measures_by_loops(seed: int) -> None:
    base = drawn(seed, n=120, n_runs=7)
    other = steadier(base, seed, "test+flip_crop25")
    (found,) = reductions(base, [other], (), 0.95)
    assert (found.name, found.n_members) == ("flip_crop25", 51)
    assert found.reduction == pytest.approx(expected(base, other))
    measures, averaged = {it.name: it.value for it in found.measures}, variability(other)
    assert measures == {
        "accuracy-sd": pytest.approx(averaged.sd_accuracy),
        "cross-entropy-sd": pytest.approx(averaged.sd_cross_entropy),
        "churn": pytest.approx(averaged.disagreement),
        "pearson": pytest.approx(averaged.correlation),
        "ensemble-accuracy": pytest.approx(averaged.ensemble_delta),
    }
    without = []
    for run in range(7):
        left = [
            scored(np.delete(it.outputs, run, axis=0), it.truth)  # type: ignore[arg-type]
            for it in (base, other)
        ]
        without.append(expected(*left))
    error = np.sqrt(6 / 7 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert isinstance(found.reduction_interval, Interval)
    assert found.reduction_interval.high - expected(base, other) == pytest.approx(2.446912 * error, rel=1e-5)


def test_snapshots_average_the_last_five_steps_of_each_run() -> None:
    base = drawn(0, n_runs=5)
    assert base.outputs is not None
    noise = np.random.default_rng(1).normal(size=(7, *base.outputs.shape))
    steps = tuple(scored(base.outputs + one, base.truth, step=step) for step, one in enumerate(noise))
    augmented = tuple(dataclasses.replace(it, name="test+flip") for it in steps[:2])
    mean = scored(base.outputs + noise[2:].mean(axis=0), base.truth)
    found = by_name(reductions(base, [steadier(base, 0, "test+flip")], (*steps, *augmented), 0.95))
    assert {name: it.n_members for name, it in found.items()} == {"flip": 2, "snapshots": 5, "snapshots+flip": 4}
    assert found["snapshots"].accuracies == pytest.approx((mean.labels == mean.truth).mean(axis=1).tolist())
    assert found["snapshots"].reduction == pytest.approx(expected(base, mean))


def test_steps_that_hold_other_examples_are_not_averaged() -> None:
    base = drawn(0)
    assert reductions(base, (), (drawn(0, step=0), drawn(1, step=1)), 0.95) == ()
    assert reductions(base, (), (drawn(0, step=0),), 0.95) == ()
    assert reductions(base, (), (drawn(0, step=0), drawn(0, step=1, kind="probabilities")), 0.95) == ()
    assert reductions(base, (), (drawn(0, step=0, n=40), drawn(0, step=1)), 0.95) == ()
    labels = labelled([[0, 1], [1, 1]], [0, 1])
    assert reductions(labels, (), (labels, labels), 0.95) == ()


def test_only_runs_with_both_are_compared() -> None:
    base = drawn(2, n_runs=6)
    other = steadier(base, 2, "test+flip")
    some = dataclasses.replace(
        other,
        replicates=(1, 3, 4, 9),
        outputs=other.outputs[[1, 3, 4, 5]],  # type: ignore[index]
        labels=other.labels[[1, 3, 4, 5]],  # type: ignore[index]
    )
    found = reduction(base, some, "flip", 2, 0.95)
    both = [scored(it.outputs[[1, 3, 4]], it.truth) for it in (base, other)]  # type: ignore[index]
    assert found.reduction == pytest.approx(expected(*both))
    assert found.reduction_interval == Unavailable(Reason.TOO_FEW(5, "run", 3))


def test_what_has_no_reduction_says_why() -> None:
    base = drawn(0)
    assert base.outputs is not None
    same = scored(np.repeat(base.outputs[:1], 6, axis=0), base.truth)
    assert reduction(same, base, "flip", 2, 0.95).reduction == Unavailable(
        "single models do not vary in one of the measures"
    )
    assert reduction(scored(base.outputs), scored(base.outputs), "flip", 2, 0.95).reduction == Unavailable(
        "true labels were not recorded"
    )
    one = drawn(0, n_runs=1)
    assert reduction(one, one, "flip", 2, 0.95).reduction == Unavailable(Reason.SINGLE_RUN)
    bad = scored(np.where(np.arange(3) == 0, np.nan, base.outputs), base.truth)
    assert reduction(base, bad, "mine", None, 0.95).reduction == Unavailable("one of the measures has no finite value")
    (own,) = reductions(base, [steadier(base, 1, "test+mine")], (), 0.95)
    assert own.n_members is None

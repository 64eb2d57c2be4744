"""All of stability at once: what a whole captured experiment gives, and named answers where it gives nothing."""

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import pytest
from outputs import drawn, labelled, scored, weights
from samples import experiment, metric, run

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Captured, CapturedSet, Experiment
from deviate.model.stability import Measure, SetStability, StabilityFindings
from deviate.stability.measures.findings import stability

ACC = [metric("acc", is_primary=True)]


def trained(n_runs: int = 6) -> Experiment:
    return experiment("a", ACC, {}, runs=[run(at, {"acc": [0.5, 0.6 + at / 100]}) for at in range(n_runs)])


def told(*captured: Captured, seed: int = 0, **more: object) -> StabilityFindings:
    experiments = [trained() for _ in captured]
    rng = np.random.default_rng(seed)
    return stability(captured, experiments, confidence=0.95, rng=rng, **more)  # type: ignore[arg-type]


def of_set(found: CapturedSet, **more: object) -> SetStability:
    (it,) = told(Captured((found,)), **more).sets
    return it


def by_name(it: SetStability) -> dict[str, Measure]:
    return {one.name: one for one in it.measures}


def numbers(value: object) -> Iterator[float]:
    """Every float in a value, and in what it holds."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from numbers(one)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from numbers(getattr(value, field.name))


def whole(seed: int = 0, n_runs: int = 6) -> Captured:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(n_runs, 12))
    return Captured(
        sets=(
            drawn(seed, n_runs=n_runs, columns={"g": [0, 1] * 30}),
            drawn(seed + 1, n_runs=n_runs, name="test+flip"),
            drawn(seed + 2, n_runs=n_runs, name="val", kind="probabilities"),
        ),
        by_step=tuple(drawn(seed, n_runs=n_runs, step=step) for step in (0, 4)),
        weights=weights({"conv": first, "head": rng.normal(size=(n_runs, 3))}),
        weights_by_step=(weights({"conv": first}, step=4), weights({"conv": first}, step=9)),
        reasons=("something was too large",),
    )


def test_every_part_of_a_whole_capture_is_told() -> None:
    found = told(whole(), whole(7), weak=("acc", 0.61))
    assert [(it.experiment, it.name, it.kind) for it in found.sets] == [
        (0, "test", "logits"),
        (0, "val", "probabilities"),
        (1, "test", "logits"),
        (1, "val", "probabilities"),
    ]
    test = found.sets[0]
    assert list(by_name(test)) == [
        "churn",
        "majority-agreement",
        "unstable-examples",
        "pearson",
        "spearman",
        "cka",
        "ensemble-accuracy",
        "ensemble-cross-entropy",
        "accuracy-sd",
        "cross-entropy-sd",
        "ece",
        "ece-sd",
    ]
    assert all(isinstance(one.interval, Interval) for one in test.measures if one.name != "unstable-examples")
    assert (test.n_examples, test.n_classes, len(test.accuracies), len(test.disagreement)) == (60, 3, 6, 6)
    assert [it.name for it in test.reductions] == ["flip", "snapshots"]
    assert [it.value for it in test.groups] == ["All", "0", "1"]
    assert [it.step for it in test.steps] == [0, 4, 9]
    assert test.steps[0].weight_distance.value == Unavailable("not captured at this step")
    assert isinstance(test.steps[1].weight_distance.value, float)
    assert test.steps[2].churn.value == Unavailable("not captured at this step")
    assert found.sets[1].steps == found.sets[1].reductions == ()
    mean = np.mean(test.accuracies)
    assert test.mean_accuracy_sampling_sd == pytest.approx(math.sqrt(mean * (1 - mean) / 60))
    assert [[layer.name for layer in it.layers] for it in found.weights] == [["conv", "head"]] * 2
    assert [step for step, _ in found.weights[0].steps] == [4, 9]
    assert [(it.experiment, it.set_name, it.difference.name) for it in found.differences] == [
        (1, "test", "churn"),
        (1, "val", "churn"),
        (1, "", "weight-distance"),
    ]
    churns = [by_name(found.sets[index])["churn"].value for index in (0, 2)]
    assert found.differences[0].difference.value == pytest.approx(churns[1] - churns[0])  # type: ignore[operator]
    assert found.reasons == (("something was too large",),) * 2
    assert [it.metric for it in found.convergence] == ["acc", "acc"]
    assert [it.excluded for it in found.weak] == [(0,), (0,)]
    assert all(map(math.isfinite, numbers(found)))


def test_the_exact_case_of_two_models() -> None:
    one, other = [[2, 0], [0, 1], [0, 3], [1, 0]], [[0, 1], [0, 2], [3, 1], [2, 0]]
    measures = by_name(of_set(scored(np.array([one, other], dtype=float), [0, 1, 1, 0])))
    assert measures["churn"].value == 0.5
    assert measures["ensemble-accuracy"].value == pytest.approx(0.25)
    assert measures["ensemble-cross-entropy"].value == pytest.approx(-0.224265, abs=1e-6)
    assert measures["cross-entropy-sd"].value == pytest.approx((0.923511 - 0.200510) / math.sqrt(2), abs=1e-6)
    assert measures["accuracy-sd"].value == pytest.approx(0.5 / math.sqrt(2))


def test_order_of_runs_changes_no_measure() -> None:
    found, order = whole().sets[0], [3, 0, 5, 1, 4, 2]
    assert found.outputs is not None
    other = scored(found.outputs[order], found.truth, columns={"g": [0, 1] * 30})
    one, two = of_set(found), of_set(other)
    for before, after in zip(one.measures, two.measures, strict=True):
        assert list(numbers(after)) == pytest.approx(list(numbers(before)), rel=1e-9)
    for mine, its in zip(one.groups, two.groups, strict=True):
        assert list(numbers(its)) == pytest.approx(list(numbers(mine)), rel=1e-9)
    assert two.expected_largest_range == pytest.approx(one.expected_largest_range)


def test_the_same_generator_gives_the_same_findings_whatever_else_is_told() -> None:
    many = dataclasses.replace(whole(n_runs=11), by_step=())
    first = told(many)
    assert told(many) == first
    alone = told(dataclasses.replace(many, sets=many.sets[:1], weights=None, weights_by_step=()))
    assert alone.sets[0].groups == first.sets[0].groups
    assert isinstance(first.sets[0].groups[1].accuracy.ratio_interval, Interval)


NAN = np.where(np.arange(3) == 1, np.nan, np.ones((6, 20, 3)))
DEGENERATE = {
    "one run": drawn(0, n_runs=1),
    "two runs": drawn(0, n_runs=2),
    "equal runs": scored(np.repeat(np.random.default_rng(0).normal(size=(1, 20, 3)), 6, axis=0), [0, 1] * 10),
    "no truth": scored(np.random.default_rng(0).normal(size=(6, 20, 3))),
    "labels": labelled(np.random.default_rng(0).integers(0, 3, (6, 20)), [0, 1] * 10),
    "labels of one run": labelled([[0, 1]], [0, 1]),
    "one class": labelled([[0, 0]] * 6, [0, 0]),
    "values": scored(np.random.default_rng(0).normal(size=(6, 20)), np.ones(20), kind="values"),
    "values without spread": scored(np.ones((6, 20)), kind="values"),
    "NaN": scored(NAN, [0, 1] * 10),
    "infinite": scored(np.where(np.isnan(NAN), np.inf, NAN), [0, 1] * 10),
    "sure and wrong": scored(np.tile([1.0, 0.0], (6, 20, 1)), np.ones(20, dtype=int), kind="probabilities"),
    "zero log-probability": scored(np.tile([0.0, -np.inf], (6, 20, 1)), np.ones(20, int), kind="log-probabilities"),
    "no example": scored(np.ones((6, 0, 3)), np.ones(0, dtype=int)),
    "one example": scored(np.random.default_rng(0).normal(size=(6, 1, 3)), [0]),
    "equal outputs": scored(np.ones((6, 20, 3)), [0, 1] * 10),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_captures_have_named_answers(name: str) -> None:
    """Neither NaN, nor an infinite number, nor an exception, nor a warning."""
    case = DEGENERATE[name]
    grouped = dataclasses.replace(case, columns={"g": np.arange(len(case.positions)) % 2})
    found = told(Captured((grouped,)))
    (it,) = found.sets
    assert all(map(math.isfinite, numbers(found)))
    if name in {"one run", "labels of one run"}:
        assert {type(one.value) for one in it.measures if one.name != "ece"} == {Unavailable}
        assert all(isinstance(one.interval, Unavailable) for one in it.measures)
    if name == "equal runs":
        assert (by_name(it)["churn"].value, by_name(it)["accuracy-sd"].value) == (0.0, 0.0)
        assert by_name(it)["accuracy-sd"].interval == Unavailable(Reason.EQUAL(6))
    if name == "zero log-probability":
        assert it.cross_entropies == ()
        assert "The cross-entropy of some runs is not finite, so it is not shown." in it.notes
    if name == "no example":
        assert (it.measures, it.notes) == ((), ("No example is common to all runs.",))


def test_parts_of_examples_are_no_larger_test_set() -> None:
    pixels = drawn(3)
    apart = of_set(pixels)
    together = of_set(dataclasses.replace(pixels, positions=pixels.positions // 4))
    assert isinstance(apart.mean_accuracy_sampling_sd, float)
    parts = Unavailable("parts of one example are not independent")
    assert together.mean_accuracy_sampling_sd == parts
    assert {it.sampling_sd for it in together.classes} == {parts}
    assert together.expected_largest_sd == apart.expected_largest_sd
    assert together.measures == apart.measures


@pytest.mark.parametrize(
    ("truth", "note"),
    [
        (np.array([0.5, 1.0]), "The true values are not whole numbers, so they are not read as classes."),
        (np.array(["cat", "dog"]), "The true values are not whole numbers, so they are not read as classes."),
        (np.array([1, 3]), "Some true labels are outside the classes 0 … 2, so there is no accuracy."),
        (np.array([-1, 0]), "Some true labels are outside the classes 0 … 2, so there is no accuracy."),
    ],
)
def test_true_values_that_are_no_classes_are_not_taken_for_wrong_ones(truth: np.ndarray, note: str) -> None:
    it = of_set(scored(np.eye(3)[[[0, 1], [0, 2]]], truth))
    assert it.notes == (note,)
    assert (it.accuracies, it.classes) == ((), ())
    assert "churn" in by_name(it)


@pytest.mark.parametrize("truth", [np.array([0.0, 1.0]), np.array([False, True]), np.array([0, 1], dtype=np.uint8)])
def test_true_classes_of_any_type_count(truth: np.ndarray) -> None:
    assert of_set(scored(np.eye(3)[[[0, 1], [0, 2]]], truth)).accuracies == (1.0, 0.5)


def test_a_set_whose_name_has_a_plus_stands_alone_without_its_base() -> None:
    assert of_set(drawn(0, name="test+flip")).name == "test+flip"


def test_nothing_captured_leaves_times_alone() -> None:
    found = told(Captured())
    assert (found.sets, found.weights, found.differences, found.reasons) == ((), (), (), ((),))
    assert len(found.convergence) == 1


def test_distances_of_models_with_other_layers_are_not_compared() -> None:
    one, other = (Captured(weights=weights({"a": np.random.default_rng(n).normal(size=(6, n))})) for n in (4, 5))
    assert told(one, other).differences == ()
    assert len(told(one, one).differences) == 1

"""Examples on which runs disagree, against loops over pairs and runs."""

import itertools

import numpy as np
import pytest
from outputs import labelled

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import CapturedSet
from deviate.model.stability import UnstableExample
from deviate.stability.measures import classified
from deviate.stability.measures.pairwise import disagreement


def least(found: CapturedSet) -> tuple[UnstableExample, ...]:
    classes = classified.classify(found)
    assert classes.labels is not None
    return classified.least_stable(found, classes)


def agreement(labels: np.ndarray) -> float:
    """Mean over runs and examples of whether a run predicts a class that no other has more votes than."""
    total = 0
    for example in labels.T:
        votes = [list(example).count(label) for label in example]
        total += sum(own == max(votes) for own in votes)
    return total / labels.size


@pytest.mark.parametrize(("seed", "n_runs", "n_classes"), [(0, 3, 2), (1, 5, 3), (2, 6, 2), (3, 9, 4), (4, 7, 30)])
def test_majority_agreement_and_its_interval_are_those_of_leaving_out_runs(
    seed: int, n_runs: int, n_classes: int
) -> None:
    labels = np.random.default_rng(seed).integers(0, n_classes, (n_runs, 40))
    found = classified.majority_agreement(classified.count_alike(labels), 0.95)
    assert found.value == pytest.approx(agreement(labels))
    if n_runs < 5:
        assert found.interval == Unavailable(Reason.TOO_FEW(5, "run", n_runs))
        return
    without = np.array([agreement(np.delete(labels, run, axis=0)) for run in range(n_runs)])
    error = np.sqrt((n_runs - 1) / n_runs * ((without - without.mean()) ** 2).sum())
    assert isinstance(found.interval, Interval)
    assert found.interval.high - found.interval.low > 2 * error
    t = (found.interval.high - found.interval.low) / 2 / error
    assert t == pytest.approx({5: 2.776445, 6: 2.570582, 7: 2.446912, 9: 2.306004}[n_runs], abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_stable_examples_are_those_on_which_most_pairs_disagree(seed: int) -> None:
    labels = np.random.default_rng(seed).choice(3, size=(6, 50), p=[0.7, 0.2, 0.1])
    truth = np.zeros(50, dtype=int)
    found = labelled(labels, truth)
    rates = [np.mean([one != other for one, other in itertools.combinations(labels[:, at], 2)]) for at in range(50)]
    unstable = least(found)
    order = sorted((at for at in range(50) if rates[at] > 0), key=lambda at: (-round(rates[at], 12), at))
    assert [it.position for it in unstable] == order[: classified.N_UNSTABLE]
    for it in unstable:
        assert it.flip_rate == pytest.approx(rates[it.position])
        assert dict(it.votes) == {label: list(labels[:, it.position]).count(label) for label, _ in it.votes}
        assert sum(n for _, n in it.votes) == 6
        assert [n for _, n in it.votes] == sorted((n for _, n in it.votes), reverse=True)
    assert np.mean(rates) == pytest.approx(disagreement(labels)[np.triu_indices(6, 1)].mean())
    assert classified.unstable_share(labels).value == np.mean(np.array(rates) > 0)


def test_runs_that_agree_have_no_unstable_example_and_a_single_run_has_named_answers() -> None:
    same = labelled([[0, 1, 2]] * 5, [0, 1, 1])
    assert least(same) == ()
    assert classified.unstable_share(np.array([[0, 1]] * 5)).value == 0
    agreed = classified.majority_agreement(classified.count_alike(np.array([[0, 1]] * 5)), 0.95)
    assert (agreed.value, agreed.interval) == (1.0, Unavailable("all runs are alike"))
    two = classified.majority_agreement(classified.count_alike(np.array([[0, 1], [1, 0]])), 0.95)
    assert two.value == Unavailable("two runs have no majority")
    one = np.array([[0, 1]])
    assert classified.majority_agreement(classified.count_alike(one), 0.95).value == Unavailable(Reason.SINGLE_RUN)
    assert classified.unstable_share(one).value == Unavailable(Reason.SINGLE_RUN)
    assert least(labelled(one)) == ()


def test_examples_are_named_by_their_place_in_the_first_run() -> None:
    found = labelled([[0, 1], [0, 0]])
    found.positions[:] = [7, 3]
    assert [it.position for it in least(found)] == [3]


def test_runs_that_predict_alike_are_counted_for_classes_of_any_number() -> None:
    labels = 10**12 * np.random.default_rng(0).integers(0, 4, (6, 60))
    expected = [[list(example).count(own) for example, own in zip(labels.T, run, strict=True)] for run in labels]
    assert classified.count_alike(labels).tolist() == expected

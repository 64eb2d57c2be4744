"""Sub-groups: rates of the exact case, ratios from unrounded spreads, what groups are made of, and what is no group."""

import numpy as np
import pytest
from outputs import drawn, labelled

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import CapturedSet
from deviate.model.stability import GroupMeasure, GroupStability
from deviate.stability.measures.classes import MOST_VALUES, group_table
from deviate.stability.measures.classified import classify
from deviate.stats.estimates.bootstrap import Resamples


def groups(found: CapturedSet, columns: list[str] | None = None) -> tuple[tuple[GroupStability, ...], tuple[str, ...]]:
    resamples = Resamples(np.random.default_rng(0))
    return group_table(found, classify(found), columns, confidence=0.95, rng=resamples)


def measure(value: GroupMeasure | Unavailable) -> GroupMeasure:
    assert isinstance(value, GroupMeasure)
    return value


def test_false_negatives_are_counted_among_positives() -> None:
    """FP 5, TN 95, FN 10, TP 40: the released code of Zhuang et al. divides both by the negatives."""
    truth = [0] * 100 + [1] * 50
    labels = [1] * 5 + [0] * 95 + [0] * 10 + [1] * 40
    (whole, *rest), _ = groups(labelled([labels, labels], truth, columns={"half": [0] * 150}))
    assert measure(whole.false_positive_rate).mean == pytest.approx(0.05)
    assert measure(whole.false_negative_rate).mean == pytest.approx(0.20)
    assert (whole.n_positive, whole.n_negative, whole.n_examples, whole.share) == (50, 100, 150, 1.0)
    assert [it.value for it in rest] == ["0"]


@pytest.mark.parametrize("seed", range(4))
def test_rates_and_ratios_are_those_of_loops_over_runs_and_examples(seed: int) -> None:
    rng = np.random.default_rng(seed + 100)
    sex, age = rng.choice(["Male", "Female"], 300), rng.integers(0, 3, 300)
    found = drawn(seed, n=300, n_classes=2, n_runs=11, columns={"sex": sex, "age": age})
    assert found.labels is not None
    assert found.truth is not None
    table, notes = groups(found)
    assert notes == ()
    assert [(it.column, it.value) for it in table] == [
        ("", "All"),
        ("sex", "Female"),
        ("sex", "Male"),
        *(("age", str(value)) for value in range(3)),
    ]
    whole = table[0]
    for it in table:
        column = {"": np.full(300, "All"), "sex": sex, "age": age.astype(str)}[it.column]
        member = [at for at in range(300) if column[at] == it.value]
        positive = [at for at in member if found.truth[at] == 1]
        negative = [at for at in member if found.truth[at] == 0]
        for rate, total, part, wrong in (
            (it.accuracy, whole.accuracy, member, None),
            (it.false_positive_rate, whole.false_positive_rate, negative, 1),
            (it.false_negative_rate, whole.false_negative_rate, positive, 0),
        ):
            values = [
                np.mean([run[at] == (found.truth[at] if wrong is None else wrong) for at in part])
                for run in found.labels
            ]
            assert measure(rate).mean == pytest.approx(np.mean(values))
            assert measure(rate).sd == pytest.approx(np.std(values, ddof=1))
            if it is not whole:
                assert measure(rate).ratio == pytest.approx(np.std(values, ddof=1) / measure(total).sd)
                interval = measure(rate).ratio_interval
                assert isinstance(interval, Interval)
                assert interval.method == "BCa bootstrap"
        assert (it.n_positive, it.n_negative) == (len(positive), len(negative))
        assert it.share == pytest.approx(len(member) / 300)


def test_examples_of_no_known_group_are_a_group_of_their_own() -> None:
    found = labelled([[0, 1, 1, 0], [0, 1, 0, 0]], [0, 1, 1, 0], columns={"age": [np.nan, 30.0, 4.5, np.nan]})
    table, _ = groups(found)
    assert [(it.value, it.n_examples) for it in table] == [("All", 4), ("4.5", 1), ("30", 1), ("nan", 2)]
    assert measure(table[1].accuracy).ratio_interval == Unavailable(Reason.TOO_FEW(10, "pair", 2))


def test_no_two_values_of_a_column_have_one_name() -> None:
    close = labelled([[0, 1, 1], [0, 1, 0]], [0, 1, 1], columns={"price": [1234567.0, 1234568.0, 0.5]})
    assert [it.value for it in groups(close)[0][1:]] == ["0.5", "1234567.0", "1234568.0"]
    narrow = labelled([[0, 1], [0, 1]], [0, 1], columns={"share": np.array([0.1, 0.2], np.float32)})
    assert [it.value for it in groups(narrow)[0][1:]] == ["0.1", "0.2"]


def test_columns_of_measurements_are_no_groups_unless_asked_for_and_then_told() -> None:
    many = {"id": list(range(MOST_VALUES + 1))}
    labels = np.zeros((2, MOST_VALUES + 1), dtype=int)
    found = labelled(labels, labels[0], columns=many)
    assert groups(found) == ((), ())
    assert groups(found, columns=["id"])[1] == ("Column id is left out: 51 values are too many for sub-groups.",)
    assert groups(found, columns=["sex"])[1] == ("Column sex was not logged with test.",)
    assert groups(found, columns=[]) == ((), ())


def test_rates_that_have_no_examples_or_no_two_classes_have_a_named_answer() -> None:
    three, _ = groups(labelled([[0, 1, 2], [0, 1, 1]], [0, 1, 2], columns={"g": [0, 0, 1]}))
    assert three[0].false_positive_rate == Unavailable("needs two classes")
    assert (three[0].n_positive, three[0].n_negative) == (None, None)
    two, _ = groups(labelled([[0, 1, 1], [0, 1, 0]], [0, 1, 1], columns={"g": [0, 1, 1]}))
    assert two[1].false_negative_rate == Unavailable("no positive example")
    assert two[2].false_positive_rate == Unavailable("no negative example")
    assert measure(two[1].accuracy).ratio == 0.0
    assert measure(two[1].accuracy).ratio_interval == Unavailable("no spread in this sub-group or over all examples")
    equal, _ = groups(labelled([[0, 1]] * 3, [0, 1], columns={"g": [0, 1]}))
    assert measure(equal[1].accuracy).ratio == Unavailable("no spread over all examples")
    assert measure(equal[0].accuracy).ratio == Unavailable("all examples are the reference")
    single, _ = groups(labelled([[0, 1]], [0, 1], columns={"g": [0, 1]}))
    assert measure(single[1].accuracy).sd == Unavailable(Reason.SINGLE_RUN)
    none, notes = groups(labelled([[0, 1]] * 3, columns={"g": [0, 1]}))
    assert (none, notes) == ((), ("True labels were not recorded, so sub-groups have no accuracy.",))

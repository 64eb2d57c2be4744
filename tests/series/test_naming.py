"""Names of series: the words that the run wrote, with those that tell the series apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import named, streams_of

from deviate.series.caption import Caption
from deviate.series.naming import LONGEST_NAME, Phase, Stream, StreamKey, free_name, names_of


def stream(own: str, *, place: str = "", phase: Phase | None = None, restates: str = "", **words: str) -> Stream:
    caption = Caption(own, **words)  # type: ignore[arg-type]
    key = StreamKey(caption.key, place, phase or "")
    return Stream(key, caption, phase=phase or "along", restates=restates)


def names(*streams: Stream, taken: tuple[str, ...] = ()) -> list[str]:
    given_names = names_of(streams, taken)
    return [given_names[one.key] for one in streams]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("val acc: 0.91", "val_acc"),
        ("[test] loss: 0.5", "test_loss"),
        ("Accuracy on the test set: 0.5", "accuracy_test"),
        ("Epoch 3 | Val. Loss: 0.5", "val_loss"),
        ("{'eval_accuracy': 0.5, 'epoch': 1.0}", "eval_accuracy"),
        ("CV AUC: 0.98 +/- 0.01", "cv_auc"),
        ("Genauigkeit auf Testdaten: 0.82", "genauigkeit_testdaten"),
        ("success rate of the greedy policy: 0.675", "success_rate_greedy_policy"),
        ("valAcc=0.5", "valacc"),
        ("Hit@10: 0.5", "hit_10"),
    ],
)
def test_a_name_is_made_of_the_words_of_the_line(log: str, expected: str) -> None:
    assert next(iter(named(log))) == expected


def test_the_same_words_get_those_that_tell_them_apart() -> None:
    assert names(stream("acc", section="svm"), stream("acc", section="forest")) == ["svm_acc", "forest_acc"]
    assert names(stream("acc", heading="small model"), stream("acc", heading="large model")) == [
        "small_acc", "large_acc",
    ]  # fmt: skip
    assert names(stream("acc", prefix="task x"), stream("acc", prefix="task y")) == ["x_acc", "y_acc"]


def test_a_name_that_is_short_stays_as_it_is_beside_a_longer_one() -> None:
    assert names(stream("EpRet"), stream("EpRet", prefix="console metrics")) == ["epret", "console_metrics_epret"]


def test_words_that_tell_nothing_apart_stay_out_but_for_those_of_the_data() -> None:
    assert names(stream("acc", section="svm")) == ["acc"]
    assert names(stream("acc", section="test results")) == ["test_acc"]
    assert names(stream("val acc", section="test results")) == ["val_acc"]


def test_the_phase_and_then_the_place_tell_apart_what_no_words_do() -> None:
    phases: list[Phase] = ["before", "along", "after"]
    assert names(*(stream("acc", phase=phase) for phase in phases)) == [
        "acc_before_training", "acc", "acc_after_training",
    ]  # fmt: skip
    assert names(stream("acc", place="train.py:3"), stream("acc", place="train.py:9")) == [
        "acc_(train.py:3)", "acc_(train.py:9)",
    ]  # fmt: skip
    assert names(stream("acc", place="3 train.py:3"), stream("acc", place="19 ")) == ["acc_(train.py:3)", "acc"]
    assert names(stream("acc", place="3 "), stream("acc", place="19 ")) == ["acc", "acc #2"]


def test_a_mean_without_words_of_its_own_carries_the_name_of_what_it_restates() -> None:
    assert names(stream("average over 5 runs", restates="test_acc")) == ["average_test_acc"]
    assert names(stream("max", restates="reward")) == ["max_reward"]


def test_a_cell_is_named_by_row_and_column_and_a_row_that_is_a_measure_by_it_alone() -> None:
    assert names(stream("", row="svm", column="f1")) == ["svm_f1"]
    assert names(stream("", row="accuracy", column="f1-score")) == ["accuracy"]
    assert names(stream("", row="macro avg", column="f1-score")) == ["macro_avg_f1_score"]
    assert names(stream("", column="val loss")) == ["val_loss"]


def test_a_column_of_data_stands_before_the_measure_of_the_row() -> None:
    table = "Metric    Train   Test\nAccuracy  0.95    0.90\nF1        0.94    0.89\n"
    assert named(table) == {"train_accuracy": [0.95], "test_accuracy": [0.9], "train_f1": [0.94], "test_f1": [0.89]}


def test_a_name_that_is_taken_is_numbered() -> None:
    assert names(stream("acc"), taken=("acc", "acc #2")) == ["acc #3"]
    assert free_name("acc", ["loss"]) == "acc"


WORDS = st.sampled_from(["acc", "loss", "Val", "test", "", "the", "svm", "50", "é", "(x)", "-", "train set", "a_b"])


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS, st.sampled_from(["", "a.py:1", "a.py:2"])), max_size=12))
def test_every_series_has_a_name_of_its_own_that_repeats(words: list[tuple[str, str, str, str, str]]) -> None:
    streams = [
        stream(own, section=section, heading=heading, prefix=prefix, place=place)
        for own, section, heading, prefix, place in dict.fromkeys(words)
    ]
    found = names(*streams)
    assert len(set(found)) == len(found)
    assert all(found)
    assert found == names(*streams)


def test_a_name_is_not_endless() -> None:
    (found,) = names(*streams_of(" ".join(f"word{letter}" for letter in "abcdefghijklmnop") + ": 0.5"))
    assert 0 < len(found) <= LONGEST_NAME

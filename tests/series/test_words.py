"""What words say of a series: the data it is measured on, and whether it is a result."""

import pytest

from deviate.series.words import data_of, kind_of, name_words, words_of


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("Accuracy on the test set", "test"),
        ("held-out heldout accuracy", "test"),
        ("Genauigkeit auf Testdaten", "test"),
        ("val_acc", "validation"),
        ("valAcc", "validation"),
        ("eval_loss", "validation"),
        ("dev loss", "validation"),
        ("train/loss", "training"),
        ("dtrain-rmse", "training"),
        ("dtest-rmse", "test"),
        ("Trainingsdaten loss", "training"),
        ("test after train", "test"),
        ("split : dev", "validation"),
        ("5-fold cross-validation accuracy", ""),
        ("MSE Dev", ""),
        ("device loss", ""),
        ("contest score", ""),
        ("value", ""),
        ("latest acc", ""),
        ("invalid moves", ""),
        ("evaluate", ""),
        ("", ""),
    ],
)
def test_a_word_and_no_part_of_one_tells_the_data(text: str, data: str) -> None:
    assert data_of(text) == data


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("val accuracy", "result"),
        ("Brier score", "result"),
        ("test mse", "result"),
        ("WER", "result"),
        ("spoof score", "result"),
        ("zorp", "result"),
        ("success rate", "result"),
        ("Evaluation over 20 episodes", "result"),
        ("Val", "result"),
        ("mean return", "result"),
        ("val loss", "loss"),
        ("cross entropy loss", "loss"),
        ("objective", "loss"),
        ("valid_0 binary_logloss", "loss"),
        ("AUC of loaded model's prediction", "result"),
        ("Loaded checkpoint, val acc", "setting"),
        ("val loss improved from", "setting"),
        ("epoch time", "time"),
        ("took", "time"),
        ("Finished Squared Error in", "time"),
        ("species found in", "result"),
        ("memory", "time"),
        ("throughput", "time"),
        ("lr", "setting"),
        ("learning rate", "setting"),
        ("epsilon", "setting"),
        ("best threshold", "setting"),
        ("temperature", "setting"),
        ("support", "setting"),
        ("number of parameters", "setting"),
        ("expected output", "setting"),
        ("predicted", "setting"),
        ("prediction error", "result"),
        ("epoch", "none"),
        ("train epoch", "none"),
        ("", "none"),
    ],
)
def test_words_tell_results_from_losses_times_settings_and_counters(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("text", "unit", "kind"),
    [
        ("validation", "s", "time"),
        ("peak", "MB", "time"),
        ("speed of it", "images/s", "time"),
        ("success", "%", "result"),
        ("psnr", "dB", "result"),
        ("accuracy", "%", "result"),
    ],
)
def test_the_unit_tells_times_and_sizes(text: str, unit: str, kind: str) -> None:
    assert kind_of(text, unit) == kind


def test_whole_numbers_are_results_of_known_measures_alone() -> None:
    assert [kind_of(text, is_whole=True) for text in ("val accuracy", "return", "documents", "zorp")] == [
        "result", "result", "setting", "setting",
    ]  # fmt: skip


def test_a_name_keeps_the_words_that_say_something() -> None:
    assert name_words("the Accuracy of our model on the Test-set") == ["accuracy", "model", "test"]
    assert name_words("of the") == ["of", "the"]
    assert name_words("°") == []


def test_words_come_with_and_without_their_digits() -> None:
    assert {"top1", "top", "acc"} <= words_of("top1_acc")
    assert words_of("12 %") == {"12"}

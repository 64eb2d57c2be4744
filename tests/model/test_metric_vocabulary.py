"""What the words of a key say of its value."""

import pytest

from deviate.model.metric_vocabulary import (
    direction_of,
    item_traits,
    role_of,
    snake,
    split_identifier,
)


@pytest.mark.parametrize(
    ("key", "role", "direction"),
    [
        ("val_loss", "quality", "min"),
        ("Top1", "quality", "max"),
        ("epoch", "other", None),
        ("epoch_loss", "quality", "min"),
        ("neg_log_likelihood", "quality", "min"),
        ("learning_rate", "other", None),
        ("lr", "other", None),
        ("step_time", "time", "min"),
        ("eta_seconds", "other", "min"),
        ("samples_fps", "time", "max"),
        ("total", None, None),
        ("foo", None, None),
    ],
)
def test_a_key_says_what_it_is(key: str, role: str | None, direction: str | None) -> None:
    assert (role_of(split_identifier(key)), direction_of(split_identifier(key))) == (role, direction)


@pytest.mark.parametrize(
    ("label", "name"),
    [("train/loss", "train_loss"), ("valAcc", "val_acc"), ("Top-1 acc (%)", "top_1_acc"), ("box.mAP", "box_map"),
     ("%", "item")],
)  # fmt: skip
def test_a_label_has_a_readable_name(label: str, name: str) -> None:
    assert snake(label) == name


def test_what_an_item_does_not_say_the_whole_says() -> None:
    assert item_traits("box", "quality", "min") == ("quality", "min")
    assert item_traits("acc", "other", "min") == ("quality", "max")
    assert item_traits("lr", "quality", "min") == ("other", None)


LOWER = (
    "Brier", "brier_score", "Brier score", "ECE", "expected calibration error", "NLL", "nll_loss", "log loss",
    "logloss", "negative log likelihood", "perplexity", "val_ppl", "bpd", "bits per dimension", "bits/dim", "WER",
    "word error rate", "CER", "FID", "KID", "LPIPS", "MAE", "mean absolute error", "RMSE", "EER",
    "HTER on the test set", "mse", "cross entropy", "forgetting",
)  # fmt: skip
HIGHER = (
    "kappa", "Cohen's kappa", "quadratic_weighted_kappa", "MCC", "matthews_corrcoef", "R2", "r2_score", "test R2 score",
    "IoU", "mIoU", "Dice", "dice_score", "PSNR", "SSIM", "NDCG", "ndcg@10", "hit rate", "hit_rate@10", "HR@10",
    "inception score", "Genauigkeit auf Testdaten", "balanced accuracy", "F1 score", "log likelihood", "mean return",
    "average reward", "best score", "recall@5",
)  # fmt: skip
UNKNOWN = ("spoof score", "score gap", "grad norm", "HTTP", "zorp", "entropy")


@pytest.mark.parametrize(
    ("name", "direction"),
    [*((name, "min") for name in LOWER), *((name, "max") for name in HIGHER), *((name, None) for name in UNKNOWN)],
)
def test_the_measures_of_the_field_have_their_direction(name: str, direction: str | None) -> None:
    assert direction_of(split_identifier(name)) == direction
    assert direction_of(split_identifier(f"val {name}")) == direction

"""Names, roles and directions of the items of what is reported whole."""

import pytest

from deviate.records.catalog import item_direction, item_name, item_role


@pytest.mark.parametrize(
    ("owner", "label", "name"),
    [
        ("val_metrics", "accuracy", "val_accuracy"),
        ("val_metrics", "val_accuracy", "val_accuracy"),
        ("metrics", "f1", "f1"),
        ("loss", "train/loss", "train_loss"),
        ("train_losses", "total", "train_losses_total"),
        ("train_losses", "cls_loss", "train_cls_loss"),
        ("test_results", "3", "test_results_3"),
        ("value", "valAcc", "val_acc"),
        ("logs", "Top-1 acc (%)", "top_1_acc"),
        ("stats", "box.mAP", "box_map"),
        ("stats", "%", "item"),
    ],
)
def test_an_item_has_a_readable_name(owner: str, label: str, name: str) -> None:
    assert item_name(owner, label) == name


def test_what_an_item_does_not_say_the_whole_says() -> None:
    assert (item_role("box", "quality"), item_direction("box", "quality", "min")) == ("quality", "min")
    assert (item_role("acc", "other"), item_direction("acc", "quality", "min")) == ("quality", "max")
    assert (item_role("lr", "quality"), item_direction("lr", "other", "min")) == ("other", None)

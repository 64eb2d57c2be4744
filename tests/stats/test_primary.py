import pytest
from samples import metric

from deviate.model import SelectedMetric
from deviate.stats.primary import find_primary, is_on_test_data


@pytest.mark.parametrize(
    ("metrics", "primary"),
    [
        ([metric("train_acc"), metric("test_acc")], "test_acc"),
        ([metric("train_acc"), metric("val_acc"), metric("tst_acc")], "tst_acc"),
        ([metric("train_acc"), metric("valid_loss", direction="min")], "valid_loss"),
        ([metric("loss", direction="min"), metric("eval_acc")], "eval_acc"),
        ([metric("test_score", direction=None), metric("dev_acc")], "dev_acc"),
        ([metric("test_time", role="time", direction="min"), metric("test_acc")], "test_acc"),
        ([metric("acc"), metric("seconds", role="time")], "acc"),
        ([metric("testAcc"), metric("trainAcc")], "testAcc"),
        ([metric("latest_acc"), metric("test_acc")], "test_acc"),
        ([metric("test_acc"), metric("test_acc_std")], "test_acc"),
        ([metric("test_acc"), metric("test_loss"), metric("acc", is_primary=True)], "acc"),
    ],
)
def test_the_only_metric_that_can_be_meant_is_primary(metrics: list[SelectedMetric], primary: str) -> None:
    assert find_primary(metrics) == (primary, "")


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        ([metric("test_nat_acc"), metric("test_adv_acc")], "--metric test_nat_acc or --metric test_adv_acc"),
        (
            [metric("val_acc"), metric("val_loss", direction="min"), metric("acc")],
            "--metric val_acc or --metric val_loss",
        ),
        ([metric("acc"), metric("loss", direction="min")], "--metric acc or --metric loss"),
        ([metric("score", direction=None)], "--metric score"),
        ([metric("fitness", direction=None), metric("stdev", direction=None)], "Add --metric fitness;"),
        ([metric("a", is_primary=True), metric("b", is_primary=True)], "--metric a or --metric b"),
        ([], "deviate.toml"),
    ],
)
def test_ambiguity_leaves_it_open_and_names_the_flag(metrics: list[SelectedMetric], named: str) -> None:
    primary, warning = find_primary(metrics)
    assert primary is None
    assert named in warning


@pytest.mark.parametrize(
    "name", ["test_acc", "acc_test", "test/acc", "Test Accuracy", "testAcc", "test1_acc", "TEST_ACC"]
)
def test_a_whole_word_tells_test_data(name: str) -> None:
    assert is_on_test_data(name)


@pytest.mark.parametrize("name", ["latest_acc", "contest", "val_acc", "attested", "testament_acc"])
def test_a_part_of_a_word_does_not(name: str) -> None:
    assert not is_on_test_data(name)

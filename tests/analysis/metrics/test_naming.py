from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

SCRIPT = """
import time
def report():
    print({})
for epoch in range(3):
    begin = time.time()
    loss.backward()
    correct = (a == b).sum()
    report()
"""


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ('f"Test accuracy: {a:.2f}%"', ["test_accuracy"]),
        ('f"Train Epoch: {epoch}\\tLoss: {loss:.6f}"', ["train_loss"]),
        ('f"train loss {a:.4f}, val loss {b:.4f}"', ["train_loss", "val_loss"]),
        ("val_acc", ["val_acc"]),
        ('f"{self.metrics[\'f1\']:.3f}"', ["f1"]),
        ('f"top1 {a:.2f} top5 {b:.2f}"', ["top1", "top5"]),
        ('"Accuracy:", accuracy.eval({x: data.test.images})', ["accuracy"]),
        ('f"Acc@1 {a:.2f} Acc@5 {b:.2f}"', ["acc1", "acc5"]),
        ('f"Evaluation over {n} episodes: {avg_reward:.3f}"', ["eval_reward"]),
        ('f"Train: loss {a:.3f} acc {b:.3f} | Val: loss {c:.3f} acc {d:.3f}"',
         ["train_loss", "train_acc", "val_loss", "val_acc"]),
        ('f"model\'s prediction loss: {a:.3f}"', ["model_prediction_loss"]),
        ('f"0s - loss: {a:.3f}"', ["loss"]),
        ('f"loss gap {abs(train_loss - test_loss):.4f}"', ["loss_gap"]),
        ('f"reward_env_{epoch}={rewards[epoch].sum()}"', ["reward_env"]),
        ('f"Steps/Sec: {rate / (time.time() - begin):.1f}"', ["steps_per_sec"]),
    ],
)  # fmt: skip
def test_names_come_from_the_text_else_from_the_expression(analyse: Analyse, arguments: str, names: list[str]) -> None:
    assert [metric.name for metric in analyse(SCRIPT.format(arguments)).metrics] == names


TRACKED = """
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
for epoch in range(3):
    loss.backward()
    print("train loss", loss.item())
    writer.add_scalar({}, epoch)
"""


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ('"train/loss", loss.item()', "train_loss_2"),
        ('"losses/td_loss", x', "td_loss"),
        ('"losses/entropy", x', "entropy"),
        ('"Loss/policy", x', "policy_loss"),
        ('"loss/val", x', "val_loss"),
        ('"charts/episodic_length", info["l"]', "episodic_length"),
        ('"Test/Average loss", x', "test_average_loss"),
        ('"charts/rew_avg", rewards.mean()', "rew_avg"),
        ('"reward/mean", rewards.mean()', "reward_mean"),
        ('f"reward_env_{epoch}", rewards[epoch]', "reward_env"),
        ('"epoch_stats", epoch_metrics', "epoch_stats"),
    ],
)
def test_a_tag_of_a_tracker_says_the_name(analyse: Analyse, arguments: str, name: str) -> None:
    assert [metric.name for metric in analyse(TRACKED.format(arguments)).metrics] == ["train_loss", name]

from collections.abc import Callable

import pytest

from deviate.model import Analysis

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
        ('f"Test set: Average loss: {x:.4f}, Accuracy: {correct}/{len(d)} ({100 * correct / len(d):.0f}%)"',
         ["test_loss", "test_correct", "test_accuracy"]),
        ('f"train loss {a:.4f}, val loss {b:.4f}"', ["train_loss", "val_loss"]),
        ("val_acc", ["val_acc"]),
        ('f"{self.metrics[\'f1\']:.3f}"', ["f1"]),
        ('f"loss {a:.4f} loss {b:.4f}"', ["loss_a", "loss_b"]),
        ('f"{n / (time.time() - begin)} examples per second"', ["examples_per_second"]),
        ('f"top1 {a:.2f} top5 {b:.2f}"', ["top1", "top5"]),
        ('"Accuracy:", accuracy.eval({x: data.test.images})', ["test_accuracy"]),
        ('f"loss, accuracy: ({a:.3f}, {b:.3f})"', ["loss", "accuracy"]),
        ('f"min/max reward {a:.1f}/{b:.1f}"', ["min_reward", "max_reward"]),
        ('f"Acc@1 {a:.2f} Acc@5 {b:.2f}"', ["acc1", "acc5"]),
        ('f"Loss {losses.val:.4f} ({losses.avg:.4f})"', ["loss_current", "loss_avg"]),
        ('f"Epoch {epoch} took {time.time() - begin:.1f}s"', ["epoch_time"]),
        ('f"Training time consumed: {time.time() - begin:.1f}"', ["train_time"]),
        ('f"Evaluation over {n} episodes: {avg_reward:.3f}"', ["eval_reward"]),
        ('f"Train: loss {a:.3f} acc {b:.3f} | Val: loss {c:.3f} acc {d:.3f}"',
         ["train_loss", "train_acc", "val_loss", "val_acc"]),
        ('f"model\'s prediction loss: {a:.3f}"', ["model_prediction_loss"]),
        ('f"0s - loss: {a:.3f}"', ["loss"]),
        ('f"loss gap {abs(train_loss - test_loss):.4f}"', ["loss_gap"]),
        ('f"lr {lr:.1e} | {1000 * (time.time() - begin):.1f} ms | {loss:.3f} | mean {a.loss} min {b.loss}"',
         ["time", "loss", "loss_mean", "min_loss"]),
        ('f"reward_env_{epoch}={rewards[epoch].sum()}"', ["reward_env"]),
        ('f"Steps/Sec: {rate / (time.time() - begin):.1f}"', ["steps_per_sec"]),
        ('f"steps per second: {rate / (time.time() - begin):.1f}"', ["steps_per_second"]),
    ],
)  # fmt: skip
def test_names_come_from_the_text_else_from_the_expression(analyse: Analyse, arguments: str, names: list[str]) -> None:
    assert [metric.name for metric in analyse(SCRIPT.format(arguments)).metrics] == names


def test_equal_texts_are_told_apart_by_function_or_number(analyse: Analyse) -> None:
    analysis = analyse(SCRIPT.format('"loss", loss') + '    print("loss", loss)\n')
    assert [metric.name for metric in analysis.metrics] == ["loss_report", "loss"]
    analysis = analyse("for epoch in range(3):\n    train_step()\n" + '    print("loss", loss)\n' * 2)
    assert [metric.name for metric in analysis.metrics] == ["loss", "loss_2"]
    analysis = analyse("for epoch in range(3):\n    train_step()\n    print('loss', loss); print('loss', loss)\n")
    assert [metric.name for metric in analysis.metrics] == ["loss", "loss_2"]


def test_equal_texts_are_told_apart_by_what_is_said_before_them(analyse: Analyse) -> None:
    analysis = analyse(
        """
        for epoch in range(3):
            loss.backward()
            print(f"[{epoch}] Prec@1 {top1.avg:.3f}")
        print(f"Final Prec@1 {top1.avg:.3f}")
        """
    )
    assert [metric.name for metric in analysis.metrics] == ["prec1", "prec1_final"]


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
        ('"train/loss", loss.item()', "train_loss_tensorboard"),
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


def test_a_message_with_a_count_and_a_share_names_the_share_under_every_label(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def report(split, hits):
            print("%s score: %d/%d = %.2f%%" % (split, hits.sum(), len(hits), 100 * hits.mean()))
        for epoch in range(3):
            loss.backward()
            report("train", a == b)
            report("test", c == d)
        """
    )
    assert [(metric.name, metric.expression) for metric in analysis.metrics] == [
        ("train_hits", "hits.sum()"),
        ("test_hits", "hits.sum()"),
        ("train_score", "100 * hits.mean()"),
        ("test_score", "100 * hits.mean()"),
    ]

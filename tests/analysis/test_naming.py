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
        ('f"{self.metrics[\'f1\']:.3f}"', ["metrics_f1"]),
        ('f"loss {a:.4f} loss {b:.4f}"', ["loss_a", "loss_b"]),
        ('f"{n / (time.time() - begin)} examples per second"', ["examples_per_second"]),
        ('f"top1 {a:.2f} top5 {b:.2f}"', ["top1", "top5"]),
        ('"Accuracy:", accuracy.eval({x: data.test.images})', ["test_accuracy"]),
        ('f"loss gap {abs(train_loss - test_loss):.4f}"', ["loss_gap"]),
    ],
)  # fmt: skip
def test_names_come_from_the_text_else_from_the_expression(analyse: Analyse, arguments: str, names: list[str]) -> None:
    assert [metric.name for metric in analyse(SCRIPT.format(arguments)).metrics] == names


def test_equal_texts_are_told_apart_by_function_or_line(analyse: Analyse) -> None:
    analysis = analyse(SCRIPT.format('"loss", loss') + '    print("loss", loss)\n')
    assert [metric.name for metric in analysis.metrics] == ["loss_report", "loss"]
    analysis = analyse("for epoch in range(3):\n    train_step()\n" + '    print("loss", loss)\n' * 2)
    assert [metric.name for metric in analysis.metrics] == ["loss_line_3", "loss_line_4"]
    analysis = analyse("for epoch in range(3):\n    train_step()\n    print('loss', loss); print('loss', loss)\n")
    assert [metric.name for metric in analysis.metrics] == ["loss", "loss_2"]


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

from collections.abc import Callable

import pytest

from deviate.model import Analysis

Analyse = Callable[[str], Analysis]

LOOP = """
import json
for epoch in range(3):
    loss.backward()
    acc = correct.sum() / total
    print(f"acc {acc:.2f}")
"""


def found(analysis: Analysis) -> list[str]:
    return [metric.name for metric in analysis.metrics]


@pytest.mark.parametrize(
    "more",
    [
        'json.dump({"acc": acc}, open("out.json", "w"))',
        'with open("out.json", "w") as file:\n    json.dump({"acc": acc}, file)',
        '    if epoch == 2:\n        json.dump({"acc": acc}, open("out.json", "w"))',
        '    json.dump({"acc": acc}, open("out.json", "w"))',
    ],
)
def test_a_result_that_is_printed_and_saved_is_one_metric(analyse: Analyse, more: str) -> None:
    analysis = analyse(LOOP + more + "\n")
    assert found(analysis) == ["acc"]
    (repeat,) = [item for item in analysis.rejected if item.reason.startswith("repeat")]
    assert repeat.reason == "repeat: the same value as print reports at line 6"
    assert repeat.site is not None


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (LOOP + 'acc = 100 * acc\njson.dump({"acc": acc}, open("out.json", "w"))\n', "it is set anew in between"),
        (LOOP + 'json.dump({"best_acc": acc}, open("out.json", "w"))\n', "it is called otherwise"),
        (LOOP.replace("    print", "    if epoch % 2:\n        print")
         + 'json.dump({"acc": acc}, open("out.json", "w"))\n', "it was not printed every time"),
        (LOOP.replace("    print", "    if acc > 0.9:\n        break\n    print")
         + 'json.dump({"acc": acc}, open("out.json", "w"))\n', "the last one was not printed"),
        (LOOP + 'json.dump({"acc": 1 - acc}, open("out.json", "w"))\n', "it is another value"),
        (LOOP + 'print(f"acc {acc:.2f}")\n', "the sink is the same, and its messages are told apart"),
    ],
)  # fmt: skip
def test_what_may_differ_stays_a_metric(analyse: Analyse, script: str, why: str) -> None:
    assert len(found(analyse(script))) == 2, why
    assert not any(item.reason.startswith("repeat") for item in analyse(script).rejected), why

"""Runs in which everything is held are equal in all that is measured of them; where something varies, they are not."""

import json
from pathlib import Path

import pytest

TRAIN = """\
import random

import deviate

weights = [random.gauss(0, 1) for _ in range(3)]
rows = [[(7 * i + 3 * j) % 11 / 5 - 1 for j in range(3)] for i in range(60)]
truth = [int(row[0] + row[1] > 0) for row in rows]
for epoch in range(3):
    for i in random.sample(range(60), 20):
        score = sum(w * x for w, x in zip(weights, rows[i]))
        weights = [w + 0.1 * (2 * truth[i] - 1 - score) * x for w, x in zip(weights, rows[i])]
    scores = [sum(w * x for w, x in zip(weights, row)) for row in rows]
    deviate.log_predictions([[-score, score] for score in scores], truth)
    deviate.log_weights({"w": weights})
    acc = sum((score > 0) == label for score, label in zip(scores, truth)) / 60
    print("epoch %d test acc %.4f" % (epoch, acc))
"""


@pytest.fixture
def measured(project: Path, deviate_in) -> dict[str, dict[str, float]]:  # type: ignore[no-untyped-def]
    """SD of the accuracy, churn and distance of the weights of each variant."""
    (project / "train.py").write_text(TRAIN)
    answer = deviate_in(project)(
        "run", "train.py", "--runs", "3", "--jobs", "2", "--variants", "algo,control", "--json", "out.json", "-q"
    )
    assert answer.code == 0, answer.both
    document = json.loads((project / "out.json").read_text())
    assert document["noise"]["control"] == "intact"
    found: dict[str, dict[str, float]] = {}
    for index, experiment in enumerate(document["experiments"]):
        (metric,) = (it for it in experiment["metrics"] if it["metric"] == "test_acc")
        (kept,) = (it for it in document["stability"]["sets"] if it["experiment"] == index)
        (weights,) = (it for it in document["stability"]["weights"] if it["experiment"] == index)
        churn = next(it for it in kept["measures"] if it["name"] == "churn")
        found[experiment["variant"]] = {
            "sd": metric["sd"],
            "churn": churn["value"],
            "distance": weights["distance"]["value"],
        }
    return found


def test_control_has_no_spread_no_churn_and_no_distance(measured: dict[str, dict[str, float]]) -> None:
    assert measured["control"] == {"sd": 0, "churn": 0, "distance": 0}
    assert all(value > 0 for value in measured["algo"].values())

"""Data of evaluations: what is shown to be examples, and what may be the model's own; held-out data by their names."""

from pathlib import Path
from typing import Any

import pytest
from varied import Script, seeds

from deviate.guest.observers.hashing import INPUTS, LABELS, LOADER, NAMES, REPEATED, Evaluations


class Noted:
    """Takes events as a recorder does."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def event(self, *items: Any) -> None:
        self.events.append(items)


def batch(*values: int) -> list[Any]:
    return [("uint8", (len(values), 1), bytes(values))]


def evaluations(*evaluated: tuple[int, ...], has_trained: bool = True) -> list[tuple[Any, ...]]:
    """The events of evaluations of bare inputs, with training between them."""
    noted = Noted()
    data = Evaluations(noted, "torch")  # type: ignore[arg-type]
    for values in evaluated:
        data.add(batch(*values))
        data.end()
        if has_trained:
            data.train()
    data.close()
    return noted.events


def test_inputs_that_come_again_after_further_training_are_examples() -> None:
    [(_, _, digest, n, evidence)] = evaluations((1, 2, 3), (3, 1, 2), (9,))
    assert (n, evidence) == (3, REPEATED)
    [(_, _, alone, _, unproven)] = evaluations((1, 2, 3))
    assert (alone, unproven) == (digest, INPUTS)


def test_inputs_that_change_as_the_model_does_prove_nothing() -> None:
    [(_, _, digest, _, evidence)] = evaluations((1, 2), (1, 3), (1, 3))
    assert evidence == INPUTS
    assert digest == evaluations((1, 2))[0][2]


def test_inputs_that_come_again_without_training_between_prove_nothing() -> None:
    assert evaluations((1,), (1,), has_trained=False)[0][4] == INPUTS


def test_what_a_loader_yielded_is_recorded_at_once() -> None:
    noted = Noted()
    data = Evaluations(noted, "torch")  # type: ignore[arg-type]
    data.add(batch(1, 2))
    assert data.end(LOADER)
    data.add(batch(3))
    data.end(LABELS)
    data.close()
    assert [event[3:] for event in noted.events] == [(2, LOADER)]


SELF_FEEDING = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(8, 4)
for step in range(2):
    net.train()
    loss = (net(x) - x.roll(1)).square().sum()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    net.eval()
    with torch.no_grad():
        y = torch.zeros(8, 4)
        for _ in range(3):
            y = net(y)
"""


def test_a_model_that_is_called_on_its_own_outputs_is_tested_on_no_examples(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    script = Script(SELF_FEEDING)
    results = [script.run(tmp_path / str(n), seeds(init=n), varied=("init",)) for n in (1, 2)]
    [one], [other] = (result.of("evaluation") for result in results)
    assert one[1] != other[1]
    assert one[3] == other[3] == INPUTS


def test_an_array_that_is_tested_after_each_epoch_is_examples(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    text = SELF_FEEDING.replace("for _ in range(3):\n            y = net(y)", "net(y[:4]), net(y[4:])")
    [event] = Script(text).run(tmp_path, seeds()).of("evaluation")
    assert event[2:] == [8, REPEATED]


NUMPY = """\
import numpy as np

def get_dataset(seed=0):
    np.random.seed(seed)
    x = []
    for _ in range(20):
        x.append(np.random.rand(3))
    x = np.stack(x)
    return {"x": x[:10], "test_x": x[10:], "test_y": x[10:, 0]}

data = get_dataset()
w = np.zeros(3)
for step in range(2):
    w += 0.1 * data["x"].mean(0)
print("score", ((data["test_x"] @ w - data["test_y"]) ** 2).mean())
"""


def test_arrays_that_the_script_calls_test_data_are_hashed_by_these_names(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("numpy")
    script = Script(NUMPY)
    same, again = (script.run(tmp_path / name, seeds()).of("evaluation") for name in "ab")
    [[names, digest, n_examples, evidence]] = same
    assert (names, n_examples, evidence) == ("test_x, test_y", 10, NAMES)
    assert same == again
    [[_, moved, *_]] = script.run(tmp_path / "other", seeds(split=1), varied=("split",)).of("evaluation")
    assert moved != digest


def test_a_function_that_asks_for_its_own_names_is_not_looked_into(tmp_path: Path) -> None:
    text = """\
def main():
    test_x = [1.0, 2.0]
    config = locals()
    later = 3
    for epoch in range(2):
        pass
    print(sorted(config))
main()
"""
    result = Script(text).run(tmp_path, seeds())
    assert result.stdout == "['test_x']\n"
    assert result.of("evaluation") == []


def test_lists_of_numbers_and_texts_are_hashed_too(tmp_path: Path) -> None:
    text = "test = [(x / 50, str(x % 3)) for x in range(9)]\nval = [0.0, 0.0]\nfor epoch in range(2):\n    pass\n"
    assert [event[0::2] for event in Script(text).run(tmp_path, seeds()).of("evaluation")] == [["test", 9]]


SKLEARN = """\
import numpy as np
from sklearn.linear_model import LogisticRegression
np.random.seed(0)
x = np.random.rand(40, 3)
y = (x[:, 0] > x[:, 1]).astype(int)
net = LogisticRegression()
for part in (x[:30], x[:20]):
    net.fit(part, y[:len(part)])
    CALL
"""


@pytest.mark.parametrize(
    ("call", "n_examples", "evidence"),
    [
        ("net.score(x[30:], y[30:])", 10, LABELS),
        ("net.predict(x[30:]); net.predict_proba(x[30:])", 20, REPEATED),
        ("net.predict(np.random.rand(10, 3))", 10, INPUTS),
    ],
)
def test_scikit_learn_tells_what_was_scored_and_predicted(
    tmp_path: Path,
    require,  # type: ignore[no-untyped-def]
    call: str,
    n_examples: int,
    evidence: str,
) -> None:
    require("sklearn")
    [event] = Script(SKLEARN.replace("CALL", call), "").run(tmp_path, seeds()).of("evaluation")
    assert [event[0], *event[2:]] == ["sklearn", n_examples, evidence]


def test_an_estimator_of_the_scripts_own_is_pickled_by_value_as_before(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("sklearn")
    text = """\
import numpy as np
import cloudpickle
from sklearn.linear_model import LogisticRegression
class Own(LogisticRegression):
    def predict(self, X):
        return super().predict(X)
x, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
net = Own().fit(x, y)
print(cloudpickle.loads(cloudpickle.dumps(net)).predict(x).shape)
"""
    result = Script(text, "").run(tmp_path, seeds())
    assert result.stdout == "(10,)\n"

"""When training ended, how many models were trained, and in which loops each step trains another one."""

from pathlib import Path

import pytest
from harness import Child, Result

LOOPS = """\
import time
{head}
for fold in range(3):
    {make}
    for epoch in range(2):
        {train}
print(time.time())
time.sleep(0.2)
"""
TORCH = {
    "head": "import torch\nx = torch.ones(4, 2)",
    "make": "net = torch.nn.Linear(2, 1); opt = torch.optim.SGD(net.parameters(), 0.1)",
    "train": "opt.zero_grad(); net(x).sum().backward(); opt.step()",
}


def loops(result: Result) -> dict[int, int]:
    """In how many steps of each loop a model began to be trained."""
    return {row[0]: row[6] for row in result.of("loops")[0][0]}


def run(folder: Path, text: str) -> Result:
    child = Child(folder, text)
    for number, line in enumerate(text.splitlines()):
        if line.lstrip().startswith("for "):
            iterable = line.partition(" in ")[2].rstrip(":")
            marked = line.lstrip().partition(" in ")[0] + " in «" + iterable + "»:"
            child.loop(marked, number + 3, is_main=not child.loops)
    result = child.run()
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def test_the_last_step_of_an_optimizer_ends_the_training(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    result = run(tmp_path, LOOPS.format(**TORCH))
    ((seconds, n_models),) = result.of("trained")
    assert n_models == 3
    assert loops(result) == {0: 3, 1: 3}  # an optimizer goes on in the second epoch
    (start,), (end,) = result.of("start"), result.of("end")
    assert start[1]["time"] + seconds <= float(result.stdout) + 0.01
    assert seconds < end[0] - 0.15


def test_an_optimizer_that_goes_on_is_no_other_model(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    parts = {**TORCH, "head": f"{TORCH['head']}\n{TORCH['make']}", "make": "pass"}
    result = run(tmp_path, LOOPS.format(**parts))
    assert result.of("trained")[0][1] == 1
    assert loops(result) == {0: 1, 1: 1}


@pytest.mark.parametrize(
    ("model", "n_models", "anew"),
    [
        ("LogisticRegression()", 1, {0: 3, 1: 6}),  # `fit` begins anew
        ("SGDClassifier(warm_start=True)", 1, {0: 1, 1: 1}),
        ("make_pipeline(StandardScaler(), LogisticRegression())", 1, {0: 3, 1: 6}),
        ("GridSearchCV(LogisticRegression(), {'C': [1, 2]}, cv=2)", 1, {0: 3, 1: 6}),
        ("StandardScaler()", 0, {0: -1, 1: -1}),
        ("CalibratedClassifierCV(LogisticRegression(), cv=2)", 0, {0: -1, 1: -1}),
    ],
)
def test_a_predictor_is_trained_by_fit(
    tmp_path: Path, require, model: str, n_models: int, anew: dict[int, int]
) -> None:  # type: ignore[no-untyped-def]
    require("sklearn")
    head = f"""\
import warnings
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
warnings.filterwarnings("ignore")
x, y = np.arange(16.0).reshape(8, 2) % 5, np.arange(8) % 2
model = {model}"""
    result = run(tmp_path, LOOPS.format(head=head, make="pass", train="model.fit(x, y)"))
    assert [event[1] for event in result.of("trained")] == [n_models] * bool(n_models)
    assert loops(result) == anew


def test_a_booster_is_a_model(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("lightgbm")
    head = "import numpy as np, lightgbm\nx, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2"
    train = "lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(x, y)"
    result = run(tmp_path, LOOPS.format(head=head, make="pass", train=train))
    assert result.of("trained")[0][1] == 6
    assert loops(result).items() >= {0: 3, 1: 6}.items()


def test_without_a_training_there_is_no_end_of_it(tmp_path: Path) -> None:
    result = run(tmp_path, LOOPS.format(head="", make="pass", train="pass"))
    assert result.of("trained") == []
    assert loops(result) == {0: -1, 1: -1}

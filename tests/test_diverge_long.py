"""A difference late in a training is found by runs that begin at the last equal checkpoint."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ITSELF = """\
import os
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"
inputs, labels = torch.randn(16, 4), torch.randint(3, (16,))
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
begin = 0
if os.path.exists("out/last.pt"):
    state = torch.load("out/last.pt")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    begin = state["step"]
os.makedirs("out", exist_ok=True)
for step in range(begin, 2000):
    hidden = model[0](inputs)
    if is_second and step == 1500:
        hidden = hidden * (1 + 1e-6)  # fault
    loss = nn.functional.cross_entropy(model[1](hidden), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % 200 == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
        torch.save(state, "out/last.pt")
"""
BY_ARGUMENT = """\
import os
import pickle
import sys
import numpy as np
from sklearn.linear_model import SGDRegressor

is_second = os.environ["DEVIATE_REPLICATE"] == "1"
x = np.linspace(-1, 1, 24).reshape(8, 3)
model, begin = SGDRegressor(random_state=0), 0
if "--resume" in sys.argv:
    with open(sys.argv[sys.argv.index("--resume") + 1], "rb") as file:
        model, begin = pickle.load(file)
for step in range(begin, 400):
    y = x.sum(axis=1) * (1 + 1e-6 * (is_second and step == 300))
    model.partial_fit(x, y)  # fault
    if (step + 1) % 40 == 0:
        with open(f"model-{step + 1}.pkl", "wb") as file:
            pickle.dump((model, step + 1), file)
print("loss", ((model.predict(x) - x.sum(axis=1)) ** 2).mean())
"""
Ladder = tuple[str, dict[str, Any], Path]


def ladder(folder: Path, run: Callable[..., Any], text: str, *options: str) -> Ladder:
    (folder / "train.py").write_text(text)
    answer = run("diverge", "train.py", "--budget", "0", "--json", "out.json", *options)
    assert answer.code == 0, answer.both
    return answer.out, json.loads((folder / "out.json").read_text()), folder


@pytest.fixture(scope="module")
def itself(tmp_path_factory: pytest.TempPathFactory, deviate_in: Any, require: Callable[[str], None]) -> Ladder:
    """A whole ladder of a script that resumes where it finds a checkpoint."""
    require("torch")
    folder = tmp_path_factory.mktemp("long")
    return ladder(folder, deviate_in(folder), ITSELF)


@pytest.mark.slow
def test_levels_begin_at_the_last_equal_checkpoint_and_end_at_the_update_and_the_line(itself: Ladder) -> None:
    out, found, folder = itself
    assert [(rung["start"], rung["n_steps"] <= 250) for rung in found["rungs"][1:]] == [(1400, True)] * 3
    closest = found["rungs"][-1]["difference"]
    assert (closest["step"], closest["main_step"], closest["name"]) == (1500, 1500, "aten.mul.Tensor")
    assert "# fault" in closest["place"]["text"]
    assert (found["checkpoints"]["last_equal"]["step"], found["checkpoints"]["first_different"]["step"]) == (1400, 1600)
    assert "from the checkpoint of update 1,400 (out/last.pt)" in out
    assert list(folder.rglob("out/*.pt")) == list(folder.rglob("from-*")) == []


@pytest.mark.slow
def test_the_user_names_the_argument_of_a_script_that_needs_one(
    tmp_path: Path, deviate_in: Any, require: Callable[[str], None]
) -> None:
    require("sklearn")
    options = ("--level", "steps", "--resume-with", "--resume {checkpoint}")
    out, found, _ = ladder(tmp_path, deviate_in(tmp_path), BY_ARGUMENT, *options)
    level = found["rungs"][1]
    assert (level["start"], level["n_runs"], level["difference"]["step"]) == (280, 2, 300)
    assert level["n_steps"] <= 100
    assert "from the checkpoint of update 280 (model-280.pkl)" in out


@pytest.mark.slow
def test_a_script_that_reads_no_checkpoint_starts_anew_and_a_level_beyond_its_limit_does_not_start(
    tmp_path: Path, deviate_in: Any, require: Callable[[str], None]
) -> None:
    require("sklearn")
    run = deviate_in(tmp_path)
    _, found, _ = ladder(tmp_path, run, BY_ARGUMENT, "--level", "steps")
    level = found["rungs"][1]
    assert (level["start"], level["n_runs"], level["difference"]["step"]) == (0, 4, 300)
    assert any("the script did not read checkpoint model-280.pkl" in note for note in found["notes"])
    _, found, _ = ladder(tmp_path, run, BY_ARGUMENT, "--level-time", "0.1s")
    assert found["rungs"][1]["n_runs"] == 0
    assert "beyond the limit of 0.1 s: --level-time 1m" in found["rungs"][1]["why_not"]

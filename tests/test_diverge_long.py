"""A difference late in a training is found by runs that begin at the last equal checkpoint."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """\
import os
import sys
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"
inputs, labels = torch.randn(16, 4), torch.randint(3, (16,))
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
os.makedirs("out", exist_ok=True)
{choose}
begin = 0
if path is not None:
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    begin = state["step"]
for step in range(begin, 2000):
    hidden = model[0](inputs) * (1 + 1e-6 * (is_second and step == 1500))  # fault
    loss = nn.functional.cross_entropy(model[1](hidden), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % 200 == 0:
        state = {{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}}
        torch.save(state, f"out/step-{{step + 1}}.pt")
"""
ITSELF = """\
written = sorted(os.listdir("out"), key=lambda name: int(name[5:-3]))
path = os.path.join("out", written[-1]) if written else None"""
BY_ARGUMENT = 'path = sys.argv[sys.argv.index("--resume") + 1] if "--resume" in sys.argv else None'


Ladder = tuple[str, dict[str, Any], Path]


def ladder(folder: Path, run: Callable[..., Any], choose: str, *options: str) -> Ladder:
    (folder / "train.py").write_text(SCRIPT.format(choose=choose))
    answer = run("diverge", "train.py", "--json", "out.json", *options)
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
    assert "from the checkpoint of update 1,400 (out/step-1400.pt)" in out
    assert list(folder.rglob("out/*.pt")) == list(folder.rglob("from-*")) == []


@pytest.mark.slow
def test_the_user_names_the_argument_of_a_script_that_needs_one(
    tmp_path: Path, deviate_in: Any, require: Callable[[str], None]
) -> None:
    require("torch")
    options = ("--level", "steps", "--resume-with", "--resume {checkpoint}")
    _, found, _ = ladder(tmp_path, deviate_in(tmp_path), BY_ARGUMENT, *options)
    level = found["rungs"][1]
    assert (level["start"], level["n_runs"], level["difference"]["step"]) == (1400, 2, 1500)
    assert level["n_steps"] <= 250


@pytest.mark.slow
def test_a_level_beyond_its_limit_is_not_started_and_a_script_that_reads_no_checkpoint_starts_anew(
    tmp_path: Path, deviate_in: Any, require: Callable[[str], None]
) -> None:
    require("torch")
    run = deviate_in(tmp_path)
    _, found, _ = ladder(tmp_path, run, BY_ARGUMENT, "--level-time", "1s")
    assert found["rungs"][1]["n_runs"] == 0
    assert "beyond the limit of 1.0 s: --level-time" in found["rungs"][1]["why_not"]
    _, found, _ = ladder(tmp_path, run, BY_ARGUMENT, "--level", "steps")
    level = found["rungs"][1]
    assert (level["start"], level["n_runs"], level["difference"]["step"]) == (0, 4, 1500)
    assert any("the script did not read checkpoint out/step-1400.pt" in note for note in found["notes"])

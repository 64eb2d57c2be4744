"""A difference late in a training is found in a few traced updates, within the time limit of a level."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LATE = """\
import os
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"
inputs, labels = torch.randn(16, 4), torch.randint(3, (16,))
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
for step in range(2000):
    hidden = model[0](inputs)
    if is_second and step == 1500:
        hidden = hidden * (1 + 1e-6)  # fault
    loss = nn.functional.cross_entropy(model[1](hidden), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def ladder(folder: Path, run: Callable[..., Any], *options: str) -> dict[str, Any]:
    answer = run("diverge", "train.py", "--budget", "0", "--json", "out.json", *options)
    assert answer.code == 0, answer.both
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


@pytest.mark.slow
def test_a_late_difference_is_found_and_a_level_beyond_its_limit_is_ended(
    tmp_path: Path, deviate_in: Any, require: Callable[[str], None]
) -> None:
    require("torch")
    (tmp_path / "train.py").write_text(LATE)
    run = deviate_in(tmp_path)
    found = ladder(tmp_path, run)
    assert all(rung["n_compared"] and rung["first"] >= 1000 for rung in found["rungs"][1:])
    closest = found["rungs"][-1]["difference"]
    assert (closest["step"], closest["main_step"], closest["name"]) == (1500, 1500, "aten.mul.Tensor")
    assert "# fault" in closest["place"]["text"]
    limited = ladder(tmp_path, run, "--level-time", "0.1s")
    assert "within 0.1 s; try --level-time 1m" in limited["rungs"][1]["why_not"]

"""Training goes on from the checkpoint of an epoch with one bit changed, by the script's own means and by one-bit@K."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--resume")
parser.add_argument("--save")
args = parser.parse_args()
torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.arange(64) % 3
net = torch.nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
start = 0
if args.resume:
    there = torch.load(args.resume)
    net.load_state_dict(there["net"])
    optimizer.load_state_dict(there["optimizer"])
    start = there["epoch"]
for epoch in range(start, args.epochs):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.9f}")
if args.save:
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": args.epochs}, args.save)
"""


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


@pytest.mark.slow
def test_runs_go_on_from_a_checkpoint_each_with_a_bit_of_its_own(project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    import torch

    (project / "train.py").write_text(TRAIN)
    subprocess.run([sys.executable, "train.py", "--epochs", "2", "--save", "epoch-2.pt"], cwd=project, check=True)
    saved = torch.load(project / "epoch-2.pt")["net"]["weight"]
    answer = deviate_in(project)(
        "run", "train.py", "--variants", "control,one-bit", "--runs", "2", "--json", "out.json", "--capture", "weights",
        "--", "--resume", "epoch-2.pt", "--epochs", "30",
    )  # fmt: skip
    assert answer.code == 0, answer.both
    document = json.loads((project / "out.json").read_text())
    assert [it["variant"] for it in document["experiments"]] == ["control", "one-bit"]
    assert [it["is_equal"] for it in document["noise"]["repeatability"]] == [True, False]
    flips = [event for event in _events(project) if event[0] == "flip"]
    assert len(flips) == 2
    for _, _, name, (row, column), before, after in flips:
        assert name == "weight"
        assert before == saved[row, column].item(), "the bit is one of the weights that were loaded"
        assert before != after
    distances = {it["experiment"]: it["distance"]["value"] for it in document["stability"]["weights"]}
    assert distances[0] == 0
    assert 0 < distances[1] < 1e-4, "far less than the learning has moved"


def _events(project: Path) -> list[list]:  # type: ignore[type-arg]
    files = (project / ".deviate").glob("experiments/*/runs/*/attempt-*/events-*.jsonl")
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]

"""PyTorch: labels of rows of arrays are found beside the array that the rows were taken from, and sets have names."""

from pathlib import Path

import pytest
from capturing import kept
from varied import Script

CASES = """\
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(60, 6); Y = (X[:, 0] > 0).long() + (X[:, 1] > 1).long()
def fitted():
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)); opt = torch.optim.SGD(model.parameters(), 0.1)
    for i in range(0, 40, 10):
        opt.zero_grad(); F.cross_entropy(model(X[i : i + 10]), Y[i : i + 10]).backward(); opt.step()
    return model.eval()
def right(out, labels): return (out.argmax(1) == labels).sum().item()
X_slice, y_slice = X[40:].clone(), Y[40:].clone()
def slices():
    model = fitted(); n = 0
    with torch.no_grad():
        for i in range(0, 20, 8): n += right(model(X_slice[i : i + 8]), y_slice[i : i + 8])
    print("slice", n / 20)
class Data:
    def __init__(self): self.strided_inputs, self.strided_targets = X[30:].clone(), Y[30:].clone()
def strided():
    model = fitted(); data = Data(); n = 0
    with torch.inference_mode():
        for i in range(2): n += right(model(data.strided_inputs[i::2]), data.strided_targets[i::2])
    print("strided", n / 30)
def of_numpy():
    model = fitted(); X_held, y_held = X[40:].clone(), Y[40:].numpy().copy()
    with torch.no_grad(): out = model(X_held.view(-1, 6)).argmax(1).numpy()
    print("held", (out == y_held).mean())
def picked():
    model = fitted(); rows = torch.randperm(60)[:20]
    with torch.no_grad(): model(X[rows])
for case in (slices, strided, of_numpy, picked): case()
"""


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def test_labels_of_rows_are_those_of_the_same_rows_of_the_array_beside(tmp_path: Path) -> None:
    run = kept(tmp_path, Script(CASES, "").child)
    for name in ("slice", "strided", "held"):
        assert run.accuracy(name) == run.printed(name), name
    assert "truth" not in run.arrays("evaluation"), "rows that were chosen are no array of the script"

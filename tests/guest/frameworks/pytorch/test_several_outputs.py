"""PyTorch: of a model that puts out features and scores, the scores are kept, of its augmented images too."""

from pathlib import Path

import pytest
from capturing import kept
from varied import Script

CASES = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.body, self.head, self.order = nn.Sequential(nn.Flatten(), nn.Linear(16, 12)), nn.Linear(12, 3), order
    def forward(self, x):
        features = self.body(x)
        return (features, self.head(features))[:: self.order]
x, y = torch.randn(60, 1, 4, 4), torch.arange(60) % 3
for order, name in ((1, "last"), (-1, "first")):
    net = Net(order); optimizer = torch.optim.SGD(net.parameters(), 0.1)
    loaders = {name: DataLoader(TensorDataset(x[30:], y[30:]), 10)}
    for a, b in DataLoader(TensorDataset(x[:30], y[:30]), 10):
        optimizer.zero_grad(); nn.functional.cross_entropy(net(a)[::order][1], b).backward(); optimizer.step()
    def evaluate(last_loader=None, first_loader=None):
        net.eval()
        with torch.no_grad():
            found = [(net(a)[::order][1].argmax(1) == b) for a, b in (last_loader or first_loader)]
        print(name, torch.cat(found).float().mean().item())
    evaluate(**{name + "_loader": loaders[name]})
"""


def test_scores_are_told_from_features_wherever_they_stand(  # type: ignore[no-untyped-def]
    tmp_path: Path, require
) -> None:
    require("torch")
    run = kept(tmp_path, Script(CASES, "").child)
    assert run.on.stdout == run.off.stdout
    for name in ("last", "first"):
        assert run.arrays(name)["outputs"].shape == (30, 3)
        assert run.accuracy(name) == pytest.approx(run.printed(name))

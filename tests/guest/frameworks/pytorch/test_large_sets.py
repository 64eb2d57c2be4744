"""PyTorch: sets that would not fit into memory are evaluated as they would be without being captured."""

from pathlib import Path

import numpy as np
from harness import Child

HEAD = """\
import resource, torch
from torch import nn
torch.set_num_threads(1)
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
class Images(torch.utils.data.Dataset):
    def __init__(self, n, size): self.n, self.size = n, size
    def __len__(self): return self.n
    def __getitem__(self, index):
        image = torch.zeros(self.size); image[:2] = torch.tensor([index % 2, index]).float()
        return image, index % 2
class Net(nn.Module):
    def __init__(self, wide=1): super().__init__(); self.layer, self.wide = nn.Linear(2, 2), wide
    def forward(self, x): return self.layer(x[:, :2]).repeat(1, self.wide)
def fit(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model(torch.ones(4, 2)).sum().backward(); optimizer.step()
def evaluate(model, test_loader):
    model.eval(); before = peak()
    with torch.no_grad(): right = sum((model(x)[:, :2].argmax(1) == y).sum().item() for x, y in test_loader)
    return right, peak() - before
def loader(n, size, batch=1): return torch.utils.data.DataLoader(Images(n, size), batch)
"""
MB = 1 << 20
LIMIT = "the limit of what is captured of a run is reached"


def test_inputs_of_a_gigabyte_are_not_held(tmp_path: Path) -> None:
    text = HEAD + f"model = Net(); fit(model)\nprint(*evaluate(model, loader(32, {8 * MB})))\n"
    result = Child(tmp_path, text).run(capture={"predictions": "on"})
    assert (result.code, result.of("error")) == (0, []), result.stderr
    right, grown_mb = map(int, result.stdout.split())
    assert grown_mb < 700  # they take 1024
    (file,) = (tmp_path / "attempt-1" / "artifacts").glob("predictions-*")
    with np.load(file) as arrays:
        assert (arrays["outputs"].argmax(1) == arrays["truth"]).sum() == right
        assert len(set(arrays["keys"].tolist())) == 32


def test_outputs_beyond_the_limit_are_not_held_and_those_of_other_sets_are_kept(tmp_path: Path) -> None:
    text = HEAD + f"wide, model = Net({MB}), Net(); fit(model); fit(wide); large = loader(128, 2)\n"
    text += "for epoch in range(2): print(*evaluate(wide, large))\nprint(*evaluate(model, loader(8, 4, 4)))\n"
    child = Child(tmp_path, text)
    result = child.run(capture={"predictions": "on", "limit": str(20 * MB)})
    assert (result.code, result.of("error")) == (0, []), result.stderr
    grown_mb = [int(line.split()[1]) for line in result.stdout.splitlines()]
    assert max(grown_mb) < 600  # they take 1024
    assert [(name, reason) for _, name, reason in result.of("not captured")] == [("large", LIMIT)]
    assert [(name, n) for _, name, _, _, _, n in result.of("artifact")] == [("test", 8)]

"""PyTorch: of compiled models the same is kept as of others, and nothing changes for the compiler."""

from collections.abc import Callable
from pathlib import Path

import pytest
from capturing import Kept, kept
from harness import Child, Result

TRAIN = """\
import hashlib, torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
import torch._dynamo.utils as dynamo
torch.set_num_threads(1); torch.manual_seed(0)
X = torch.randn(105, 6); Y = (X[:, 0] > 0).long()
train_loader = DataLoader(TensorDataset(X[:60], Y[:60]), 20, shuffle=True)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.dropout, self.last = nn.Linear(6, 8), nn.Dropout(0.2), nn.Linear(8, 2)
        self.parts = nn.Sequential(nn.ReLU(), nn.BatchNorm1d(8), nn.Tanh(), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 8))
    def forward(self, x):
        x = self.first(x)
        if self.is_broken: torch._dynamo.graph_break()
        return self.last(self.dropout(self.parts(x)))
def whole(net): return torch.compile(net, backend="aot_eager", fullgraph=True)
def broken(net): net.is_broken = True; return torch.compile(net, backend="aot_eager")
def inplace(net): net.compile(backend="aot_eager"); return net
def layers(net):
    for part in (*net.parts, net.parts): part.compile(backend="aot_eager")
    return net
def train(name, prepare):
    torch._dynamo.reset(); dynamo.counters.clear(); Net.is_broken = False
    net = Net(); model = prepare(net); opt = torch.optim.SGD(net.parameters(), 0.1)
    loaders = {name: DataLoader(TensorDataset(X[60:], Y[60:]), 10)}
    for epoch in range(2):
        model.train()
        for x, y in train_loader:
            opt.zero_grad(); F.cross_entropy(model(x), y).backward(); opt.step()
        model.eval(); right = 0
        with torch.no_grad():
            for x, y in loaders[name]: right += (model(x).argmax(1) == y).sum().item()
    print(name, right / 45)
    state = b"".join(it.numpy().tobytes() for it in (*net.state_dict().values(), torch.get_rng_state()))
    print(name, "weights:", hashlib.sha256(state).hexdigest())
    print(name, "breaks:", sum(dynamo.counters["graph_break"].values()), dict(dynamo.counters["stats"]))
for prepare in (whole, broken, inplace, layers): train(prepare.__name__, prepare)
"""
WAYS = ("whole", "broken", "inplace", "layers")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    pytest.importorskip("torch", minversion="2.3")
    return kept(tmp_path_factory.mktemp("compiled"), lambda folder: Child(folder, TRAIN))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_accuracies_of_compiled_models_follow_from_what_is_kept(run: Kept, way: str) -> None:
    assert run.arrays(way)["outputs"].shape == (45, 2)
    assert run.accuracy(way) == run.printed(way)


@pytest.mark.slow
def test_weights_draws_graphs_and_warnings_are_those_of_the_run_without_capture(run: Kept) -> None:
    assert run.on.stdout.count("weights:") == len(WAYS)
    assert (run.on.stdout, run.on.stderr) == (run.off.stdout, run.off.stderr)


@pytest.mark.slow
def test_the_compiler_makes_the_graphs_that_it_makes_without_the_guest(
    run: Kept, tmp_path: Path, plainly: Callable[[Child], Result]
) -> None:
    plain = plainly(Child(tmp_path, TRAIN))
    assert plain.code == 0, plain.stderr

    def graphs(result: Result) -> list[str]:
        return [line for line in result.stdout.splitlines() if "breaks:" in line]

    assert (graphs(run.on), run.on.stderr) == (graphs(plain), plain.stderr)
    assert any("'unique_graphs'" in line for line in graphs(plain)), "something is compiled"

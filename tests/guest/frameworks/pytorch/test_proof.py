"""PyTorch: hashes of weights and of evaluation data tell runs apart and keep nothing alive; one bit is one bit."""

import struct
from pathlib import Path

import pytest
from varied import Script, seeds


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


TRAINING = """\
import gc, sys, weakref
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def train(kind):
    torch.manual_seed(0)
    teacher = nn.Linear(4, 3)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 3))
    raw = torch.randn(3, requires_grad=True)
    optimizer = torch.optim.Adam([*net.parameters(), raw])
    x, y = torch.arange(96.0).reshape(24, 4) / 96, torch.arange(24) % 3
    data = TensorDataset(x, y)
    tested = DataLoader(torch.utils.data.Subset(data, range(16, 24)), 4, shuffle=kind == "shuffled")
    for epoch in range(2):
        net.train()
        for a, b in DataLoader(torch.utils.data.Subset(data, range(16)), 8):
            with torch.no_grad():
                teacher(a), net(a)
            optimizer.zero_grad()
            (nn.functional.cross_entropy(net(a) + raw, b)).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            if kind in ("loaded", "shuffled"):
                for a, b in tested:
                    teacher(a), nn.CrossEntropyLoss()(net(a), b)
            elif kind in ("both", "both-otherwise"):
                for rows in (range(16), range(16, 24)) if kind == "both" else (range(12), range(12, 24)):
                    for a, b in DataLoader(torch.utils.data.Subset(data, rows), 4):
                        net(a)
            elif kind == "whole":
                net(x[16:]), net(x[16:20])
            else:
                for i in range(16, 24, 2):
                    net({"given": x[i : i + 2]}["given"])
    return weakref.ref(net), weakref.ref(optimizer)

gone = train(sys.argv[1])
gc.collect()
print([reference() for reference in gone])
"""


def test_weights_are_told_when_the_main_loop_ends_and_nothing_is_kept_alive(tmp_path: Path) -> None:
    script = Script(TRAINING)
    runs = {kind: script.child(tmp_path / kind).run(kind, seeds=seeds()) for kind in
            ("loaded", "shuffled", "both", "both-otherwise", "whole", "sliced")}  # fmt: skip
    for result in runs.values():
        assert (result.code, result.of("error")) == (0, []), result.stderr
        assert result.stdout == "[None, None]\n"
        [[moment, framework, digest, count]] = result.of("weights")
        assert (moment, framework, len(digest), count) == ("loop", "torch", 64, 40 + 16 + 27 + 3)
    examples = {kind: result.of("evaluation") for kind, result in runs.items()}
    assert [event[2] for [event] in examples.values()] == [8, 8, 24, 24, 12, 8]
    assert examples["loaded"] == examples["shuffled"]
    assert examples["loaded"] != examples["sliced"]
    assert examples["both"] != examples["both-otherwise"], "passes count apart, for their union is always the same"


def test_weights_tell_what_optimizers_alone_know_and_what_ties_share(tmp_path: Path) -> None:
    text = """\
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        self.b.weight = self.a.weight
        self.short = nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
        self.late = nn.LazyLinear(2)
    def forward(self, x):
        return self.b(self.a(x))
net, raw = Net(), torch.randn(5, requires_grad=True)
optimizer = torch.optim.SGD([{"params": [net.a.weight]}, {"params": [raw], "lr": 0.2}], lr=0.1)
net(torch.ones(2, 4)).sum().backward()
with torch.no_grad():
    {change}
"""
    first, *others = (
        Script(text.replace("{change}", change), "").run(tmp_path / str(n), seeds()).of("weights")
        for n, change in enumerate(("pass", "raw[3] += 1", "net.short[1] = 2", "net.b.weight[0, 0] += 1e-3"))
    )
    [[moment, _, digest, count]] = first
    assert (moment, count) == ("exit", 16 + 2 + 5)
    assert len({digest, *(event[2] for [event] in others)}) == 4


def test_models_that_nobody_can_reach_are_gone_whenever_the_collector_comes_by(tmp_path: Path) -> None:
    text = """\
import gc, torch
from torch import nn
gc.disable()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.fc.register_forward_hook(self.seen)
    def seen(self, *_): pass
    def forward(self, x): return self.fc(x)
for fold in range(3):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    net(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""
    [[moment, _, _, count]] = Script(text, "").run(tmp_path, seeds()).of("weights")
    assert (moment, count) == ("exit", 4 * 2 + 2), "of the last fold alone"


FLIPPED = """\
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4)).to(torch.DTYPE)
frozen = nn.Linear(99, 99)
frozen.requires_grad_(False)
before = [p.detach().clone() for p in net.parameters()]
versions = [p._version for p in net.parameters()]
optimizer = torch.optim.SGD([*net.parameters(), *frozen.parameters()], lr=0.1)
with torch.no_grad():
    net(torch.ones(2, 16, dtype=torch.DTYPE))
for step in range(2):
    y = net(torch.ones(2, 16, dtype=torch.DTYPE))
for p, q, (name, _) in zip(net.parameters(), before, net.named_parameters()):
    for place in (p.detach() != q).nonzero().tolist():
        print(name, place, q[tuple(place)].item(), p[tuple(place)].item())
print(versions == [p._version for p in net.parameters()])
y.sum().backward()
"""


@pytest.mark.parametrize(("dtype", "form"), [("float32", "f"), ("float64", "d"), ("bfloat16", "")])
def test_one_bit_is_flipped_before_the_first_training_step(tmp_path: Path, dtype: str, form: str) -> None:
    script = Script(FLIPPED.replace("DTYPE", dtype), main_loop="")
    result = script.run(tmp_path / "1", seeds(), **{"one-bit": "5"})
    [[framework, name, index, before, after]] = result.of("flip")
    changed, is_unnoticed = result.stdout.splitlines()
    assert (framework, is_unnoticed) == ("torch", "True")
    assert changed == f"{name} {index} {before} {after}"
    assert name in ("0.weight", "2.weight")
    if form:
        one, two = (int.from_bytes(struct.pack(f">{form}", value), "big") for value in (before, after))
        assert one ^ two == 1
    if dtype == "float32":
        others = [script.run(tmp_path / seed, seeds(), **{"one-bit": seed}).of("flip") for seed in ("5", "6")]
        assert [others[0] == result.of("flip"), others[1] == result.of("flip")] == [True, False]


def test_without_a_matrix_there_is_no_bit_to_flip(tmp_path: Path) -> None:
    text = """\
import torch
net = torch.nn.BatchNorm1d(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 4)).sum().backward()
"""
    result = Script(text, main_loop="").run(tmp_path, seeds(), **{"one-bit": "5"})
    assert result.of("flip") == []
    assert result.of("uncontrolled") == [["no weight matrix for one-bit", "", 0]]


def test_a_lazy_module_is_flipped_when_it_has_its_weights_and_nan_is_passed_over(tmp_path: Path) -> None:
    text = """\
import torch
net = torch.nn.LazyLinear(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 4))
with torch.no_grad():
    net.weight[:] = float("nan")
    net.weight[2, 1] = 0.5
net(torch.ones(2, 4))
print(net.weight[2, 1].item())
"""
    script = Script(text, main_loop="")
    for seed in "12":
        [[_, name, index, before, after]] = script.run(tmp_path / seed, seeds(), **{"one-bit": seed}).of("flip")
        assert (name, index, before) == ("weight", [2, 1], 0.5)
        assert after == 0.5 + 2.0**-24

"""PyTorch: what varies in one stream changes what it should, and nothing upstream of it."""

from pathlib import Path

import pytest
from varied import Script, hashes, moved, replicates, seeds

TRAINING = """\
import hashlib, random
import numpy as np
import torch
from torch import manual_seed as sow, nn
from torch.utils.data import DataLoader, Dataset, random_split

def digest(*tensors):
    return hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in tensors)).hexdigest()[:12]

class Data(Dataset):
    def __len__(self):
        return 48
    def __getitem__(self, index):
        x = torch.linspace(index, index + 1, 8) / 48
        noise = torch.randn(8) + random.random() + np.random.rand()
        return x + 0.01 * noise.float(), index % 3, index

class Plain(Data):
    def __getitem__(self, index):
        return torch.linspace(index, index + 1, 8) / 48, index % 3, index

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.scale = nn.Parameter(torch.randn(16))
        self.dropout = nn.Dropout(0.5)
        self.last = nn.Linear(16, 3)
    def forward(self, x):
        return self.last(self.dropout(torch.relu(self.first(x)) * self.scale))

if __name__ == "__main__":
    sow(42); random.seed(1); np.random.seed(2)
    train, test = random_split(range(48), [32, 16])
    print("split", digest(torch.tensor(sorted(test.indices))))
    net = Net()
    print("init", digest(*net.parameters()))
    loader = DataLoader(torch.utils.data.Subset(Data(), train.indices), 8, shuffle=True, OPTIONS)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    order, batches = [], []
    for epoch in range(2):
        RESEEDING
        net.train()
        for x, y, index in loader:
            order.append(index)
            batches.append(x)
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            for x, y, index in DataLoader(torch.utils.data.Subset(Plain(), test.indices), 16):
                net(x)
    print("order", digest(*order))
    print("batch", digest(batches[0]))
    print("final", digest(*net.parameters()))
"""
DOWNSTREAM = {
    "": set(),
    "split": {"split", "order", "batch", "final", "weights"},
    "init": {"init", "final", "weights"},
    "shuffle": {"order", "batch", "final", "weights"},
    "augment": {"batch", "final", "weights"},
    "dropout": {"final", "weights"},
    "other": set(),
}


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def training(options: str = "", reseeding: str = "pass") -> Script:
    return Script(TRAINING.replace("OPTIONS", options).replace("RESEEDING", reseeding))


def test_a_stream_changes_what_it_should_and_nothing_upstream(tmp_path: Path) -> None:
    runs = replicates(tmp_path, training(), 2)
    assert moved(runs) == DOWNSTREAM
    [told, *_] = runs[""]
    assert told.of("draws") == [
        ["numpy", ["augment"]],
        ["random", ["augment"]],
        ["torch", ["augment", "dropout", "init", "shuffle", "split"]],
    ]
    examples = {stream: {event[1] for result in results for event in result.of("evaluation")}
                for stream, results in runs.items()}  # fmt: skip
    assert {stream: len(digests) for stream, digests in examples.items()} == dict.fromkeys(DOWNSTREAM, 1) | {"split": 2}
    assert {event[2] for results in runs.values() for result in results for event in result.of("evaluation")} == {16}


@pytest.mark.parametrize(
    ("options", "reseeding"),
    [
        ("num_workers=2", "pass"),
        ("num_workers=2, generator=torch.Generator().manual_seed(7)", "torch.manual_seed(epoch)"),
    ],
)
def test_it_is_so_with_workers_and_with_generators_of_the_script(tmp_path: Path, options: str, reseeding: str) -> None:
    streams = ("shuffle", "augment", "other")
    runs = replicates(tmp_path, training(options, reseeding), 1, streams)
    assert moved(runs) == {stream: DOWNSTREAM[stream] for stream in ("", *streams)}


def test_epochs_that_begin_with_the_same_seed_have_the_same_order(tmp_path: Path) -> None:
    text = """\
import torch
from torch.utils.data import DataLoader
g = torch.Generator()
for name, begin in (("global", torch.manual_seed), ("own", g.manual_seed)):
    loader = DataLoader(range(99), 99, shuffle=True, generator=None if name == "global" else g)
    epochs = []
    for seed in (1, 1, 2):
        begin(seed)
        epochs.append(next(iter(loader)).tolist())
    print(name, epochs[0] == epochs[1], epochs[0] == epochs[2], hash(tuple(epochs[0])), sep="/", end=" ")
    print(torch.initial_seed() == 2, g.initial_seed() == seed, sep="/")
"""
    one, two = (Script(text).run(tmp_path / str(k), seeds(shuffle=k)) for k in (1, 2))
    for a, b in zip(one.stdout.splitlines(), two.stdout.splitlines(), strict=True):
        assert a.split("/")[1:3] == b.split("/")[1:3] == ["True", "False"]
        assert a.split()[0] != b.split()[0]
    assert [line.split()[1] for line in one.stdout.splitlines()] == ["True/False", "True/True"]
    assert [event[0] for event in one.of("seed")] == ["torch.manual_seed"] * 3 + ["torch.Generator.manual_seed"] * 3


def test_a_run_without_seeds_is_the_run_without_the_guest(tmp_path: Path, plainly) -> None:  # type: ignore[no-untyped-def]
    script = training("num_workers=2, generator=torch.Generator().manual_seed(7)")
    on = script.run(tmp_path / "on", None)
    plain = plainly(script.child(tmp_path / "off"))
    assert (on.stdout, on.stderr) == (plain.stdout, plain.stderr)
    assert [event[0] for event in on.of("weights")] == ["loop", "exit"]
    assert len({event[2] for event in on.of("weights")}) == 1
    assert on.of("draws") == []
    assert hashes(on)["final"] == hashes(plain)["final"]

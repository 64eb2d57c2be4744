"""PyTorch: every sampler shuffles and every worker augments, whoever wrote it and however it is started."""

from pathlib import Path

import pytest
from varied import Script, seeds

LOADERS = """\
import random
import numpy as np
import torch
from torch.utils.data import *
from torch.utils.data.distributed import DistributedSampler

class Late(Sampler):
    def __len__(self):
        return 8
    def __iter__(self):
        todo = list(range(8))
        while todo:
            yield todo.pop(random.randrange(len(todo)))

class Early(Sampler):
    def __len__(self):
        return 8
    def __iter__(self):
        return iter(sorted(range(8), key=lambda _: torch.rand(1).item()))

class Data(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return index, torch.rand(1)

class Own(Data):
    def __getitem__(self, index):
        if index == 0:
            self.rng = np.random.default_rng(3)
        fixed = torch.rand(1, generator=torch.Generator().manual_seed(index))
        return index, (fixed, np.random.default_rng(index).random(), random.Random(index).random())

class Stream(IterableDataset):
    def __init__(self):
        self.rng = np.random.default_rng(3)
    def __iter__(self):
        for index in range(6):
            yield index, self.rng.random()

def init_fn(worker):
    np.random.seed(5)
    random.seed(6 + worker)
    torch.manual_seed(7 + worker)

def show(name, loader, epochs=2):
    for epoch in range(epochs):
        batches = list(loader)
        parts = [part for b in batches for part in (b[1] if isinstance(b[1], list) else [b[1]])]
        drawn = torch.cat([part.flatten() for part in parts]).tolist()
        print(f"{name}-{epoch}", [int(i) for b in batches for i in b[0]], "|", drawn)

if __name__ == "__main__":
    torch.manual_seed(0)
    data = Data()
    show("late", DataLoader(data, 4, sampler=Late()))
    show("early", DataLoader(data, 4, sampler=Early()))
    show("batches", DataLoader(data, batch_sampler=BatchSampler(Late(), 4, False)))
    show("subset", DataLoader(data, 4, sampler=SubsetRandomSampler(range(8))))
    show("weighted", DataLoader(data, 4, sampler=WeightedRandomSampler([1.0] * 8, 8)))
    show("replaced", DataLoader(data, 4, sampler=RandomSampler(data, replacement=True, num_samples=40)))
    distributed = DistributedSampler(data, 1, 0, seed=3)
    show("distributed", DataLoader(data, 4, sampler=distributed))
    print("seed", distributed.seed)
    show("iterable", DataLoader(Stream(), 3))
    show("own", DataLoader(Own(), 8), 1)
    show("own-worker", DataLoader(Own(), 8, num_workers=1), 1)
    show("worker", DataLoader(data, 4, num_workers=2, worker_init_fn=init_fn))
    show("persistent", DataLoader(data, 4, num_workers=2, persistent_workers=True, shuffle=True))
    show("spawned", DataLoader(data, 4, num_workers=1, multiprocessing_context="spawn", shuffle=True), 1)
"""
IN_ORDER = {"iterable", "own", "own-worker", "worker", "seed"}


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def table(text: str) -> dict[str, tuple[str, str]]:
    """The order of the examples and what was drawn for them, by loader and epoch."""
    rows = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        order, _, drawn = rest.partition("|")
        rows[name] = (order, drawn)
    return rows


def test_orders_follow_shuffle_and_draws_of_workers_follow_augment(tmp_path: Path) -> None:
    script = Script(LOADERS, main_loop="")
    results = {name: script.run(tmp_path / name, seeds(**chosen)) for name, chosen in {
        "held": {}, "shuffle": {"shuffle": 1}, "augment": {"augment": 1}, "other": {"other": 1},
    }.items()}  # fmt: skip
    held = table(results["held"].stdout)
    assert table(results["other"].stdout) == held
    shuffle, augment = table(results["shuffle"].stdout), table(results["augment"].stdout)
    for name, (order, drawn) in held.items():
        loader = name.rpartition("-")[0] or name
        assert (shuffle[name][0] == order) == (loader in IN_ORDER), name
        assert shuffle[name][1] == drawn, name
        assert augment[name][0] == order, name
        assert (augment[name][1] == drawn) == (name == "seed"), name
    assert held["own-0"][1] == held["own-worker-0"][1], "seeds of the script in a worker are those without workers"
    assert held["worker-0"][1] == held["worker-1"][1], "a worker_init_fn that seeds alike repeats itself"
    assert held["persistent-0"] != held["persistent-1"]
    assert held["distributed-0"][0] == held["distributed-1"][0]
    assert results["held"].of("uncontrolled") == []
    told = [(library, stream) for library, streams in results["held"].of("draws") for stream in streams]
    assert {stream for library, stream in told if library == "torch"} == {"augment", "shuffle"}
    assert ("torch.DistributedSampler", "shuffle") in told


def test_a_permutation_with_a_generator_divides_the_data_or_orders_it(tmp_path: Path) -> None:
    text = """\
import torch
from torch.utils.data import random_split
g = torch.Generator().manual_seed(3)
print("split", torch.randperm(30, generator=g).tolist(), random_split(range(30), [20, 10], generator=g)[1].indices)
print("other", torch.rand(1, generator=g).item())
for epoch in range(2):
    print("order", torch.randperm(30, generator=g).tolist(), torch.randperm(30).tolist())
"""
    script = Script(text)
    held, *runs = (
        script.run(tmp_path / str(n), seeds(**chosen)).stdout.splitlines()
        for n, chosen in enumerate(({}, {"split": 1}, {"shuffle": 1}, {"other": 1}))
    )
    changed = [{b.split()[0] for a, b in zip(held, lines, strict=True) if a != b} for lines in runs]
    assert changed == [{"split", "other"}, {"order"}, set()]


def test_seeds_that_a_worker_gives_itself_are_not_told_as_the_scripts(tmp_path: Path) -> None:
    text = """\
import random
from torch.utils.data import DataLoader

def init_fn(worker):
    random.seed(6 + worker)

if __name__ == "__main__":
    print(len(list(DataLoader(range(4), num_workers=1))), len(list(DataLoader(range(4), 4, num_workers=1))))
    print(len(list(DataLoader(range(4), num_workers=1, worker_init_fn=init_fn))))
"""
    result = Script(text, main_loop="").run(tmp_path, {})
    assert result.stdout == "4 1\n4\n", result.stderr
    assert [(call, value) for call, value, *_ in result.of("seed")] == [("random.seed", "6")]

"""PyTorch: compilers see no taps, tensors are read without harm, torch.save parts links, seeds are replaced."""

import os
from pathlib import Path

import pytest
from harness import Child

COMPILED = """\
import inspect
import warnings
import torch
warnings.filterwarnings("error", category=torch.jit.TracerWarning)

def total(v):
    w = v + 1
    return w

def step(x):
    y = x * 2
    for i in range(2):
        y = y + 1
    n = 0
    while n < 2:
        n += 1
    return total(y.sum())

@torch.jit.script
def scripted(x):
    z = x + 1
    for i in range(3):
        z = z + i
    return z

compiled = torch.compile(step, fullgraph=True, backend="eager")
for epoch in range(2):
    loss = compiled(torch.ones(3))
    print(f"loss {loss:.4f}", scripted(torch.zeros(1)).item())
traced = torch.jit.trace(total, torch.ones(1))
print(inspect.getsource(step), traced.graph)
"""


@pytest.fixture(autouse=True)
def _needs_torch(require) -> None:  # type: ignore[no-untyped-def]
    require("torch")


def test_compiled_scripted_and_traced_code_is_as_without_taps(tmp_path: Path) -> None:
    child = Child(tmp_path, COMPILED).tap("v + 1").tap("y.sum()").tap("{«loss»:.4f}").tap("z + i")
    child.loop("in «range(2)»:\n        y", 13, is_main=False).loop("n < 2", 16, "while", is_main=False)
    child.loop("range(3)", 23, is_main=False).loop("in «range(2)»:\n    loss", 29)
    on, off = child.run(), child.run(is_tapped=False)
    assert (on.code, on.stdout, on.stderr) == (0, off.stdout, off.stderr)
    assert on.values(2) == [13.0, 13.0]
    assert on.of("error") == []


def test_the_default_compiler_needs_no_break(tmp_path: Path) -> None:
    text = """\
import torch
def step(x):
    y = (x * 2).sum()
    return y
print(f"{torch.compile(step, fullgraph=True, backend='aot_eager')(torch.ones(3)):.1f}")
print(torch._dynamo.explain(step)(torch.ones(3)).graph_break_count)
"""
    on = Child(tmp_path, text).tap("(x * 2).sum()").run()
    assert on.stdout == "6.0\n0\n", on.stderr


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("torch.tensor(0.5, requires_grad=True)", [0.5]),
        ("torch.tensor([[2]])", [2]),
        ("torch.tensor(0.1, dtype=torch.bfloat16)", [0.10009765625]),
        ("torch.nn.Parameter(torch.tensor(0.25))", [0.25]),
        ("torch.ones(2)", []),
        ("torch.tensor(1j)", []),
        ("torch.empty(1, device='meta')", []),
        ("torch.tensor(float('nan'))", ["nan"]),
    ],
)
def test_tensors_of_one_element_are_numbers(tmp_path: Path, expression: str, value: list) -> None:
    result = Child(tmp_path, f"import torch\nx = {expression}\nprint(x)\n").tap("print(«x»)").run()
    assert [event[4] for event in result.of("value")] == value
    assert (result.of("error"), result.stderr) == ([], "")


def test_saving_over_a_linked_checkpoint_leaves_the_original(tmp_path: Path) -> None:
    original = tmp_path / "original" / "best.pt"
    original.parent.mkdir()
    original.write_bytes(b"the user's checkpoint")
    work = tmp_path / "attempt-1" / "work" / "parent" / "project"
    work.mkdir(parents=True)
    for name in ("best.pt", "kw.pt", "é.pt"):
        os.link(original, work / name)
    text = """\
import pathlib, torch
from torch import save
save({"w": torch.ones(3)}, "best.pt")
torch.save(obj={"w": torch.ones(3)}, f=pathlib.Path("kw.pt"))
torch.save({"w": torch.ones(3)}, "é.pt", _use_new_zipfile_serialization=False)
print(torch.load("best.pt")["w"].sum().item())
"""
    result = Child(tmp_path, text).run()
    assert (result.code, result.stdout) == (0, "3.0\n"), result.stderr
    assert original.read_bytes() == b"the user's checkpoint"


def test_seeds_are_replaced_and_workers_follow(tmp_path: Path) -> None:
    text = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, random_split

class Numbers(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return torch.rand(1), random.random(), np.random.rand()

if __name__ == "__main__":
    torch.manual_seed(1)
    torch.cuda.manual_seed_all(2)
    print(sorted(random_split(range(10), [5, 5])[0].indices))
    print(torch.rand(1).item())
    for batch in DataLoader(Numbers(), num_workers=2, shuffle=True):
        print([float(part) for part in batch])
"""
    runs = [Child(tmp_path / str(i), text).run(seeds={"other": seed, "split": 0}) for i, seed in enumerate((1, 1, 2))]
    assert runs[0].stdout == runs[1].stdout, runs[0].stderr
    lines = [result.stdout.splitlines() for result in runs]
    assert lines[0][:2] == lines[2][:2], "what is drawn before the loop"
    assert all(a != b for a, b in zip(lines[0][2:], lines[2][2:], strict=True))
    seeds = [(event[0], event[3]) for event in runs[0].of("seed")]
    assert seeds == [("torch.manual_seed", 13), ("torch.cuda.manual_seed_all", 14)]

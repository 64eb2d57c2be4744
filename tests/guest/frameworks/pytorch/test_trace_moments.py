"""PyTorch: what a trace has of the last updates, however the program ends, and what it never does to a program."""

import itertools
import json
from pathlib import Path

import pytest
from harness import Child, Result

from deviate.guest.frameworks.pytorch.trace.modules import ModuleNames

MANUAL = """\
import os, torch
torch.manual_seed(0); torch.set_num_threads(1)
def main():
    model = torch.nn.Linear(4, 2)
    for step in range(3):
        loss = model(torch.ones(3, 4)).sum(); loss.backward()
        with torch.no_grad():
            for weight in model.parameters(): weight -= 0.1 * weight.grad; weight.grad = None
    weight = model.weight.detach().double()
    print(weight.sum().item(), weight.abs().sum().item(), flush=True)
main()
os._exit(3)
"""
WORKERS = """\
import os, sys, threading, time, torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
class Data:
    def __len__(self): return 64
    def __getitem__(self, index): layer(torch.ones(4)); return torch.ones(4), index % 2
layer = torch.nn.Linear(4, 2)
def forever():
    time.sleep(300)
if __name__ == "__main__":
    threading.Thread(target=forever).start()
    model = torch.nn.Linear(4, 2); opt = torch.optim.SGD(model.parameters(), 0.1)
    loader = DataLoader(Data(), 4, num_workers=1, persistent_workers=True, multiprocessing_context=sys.argv[1])
    for x, y in loader:
        opt.zero_grad(); F.cross_entropy(model(x), y).backward(); opt.step()
        print("update", flush=True)
"""
PROGRAM = """\
import hashlib, torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
torch.manual_seed(0); torch.set_num_threads(1)
X, Y = torch.randn(24, 6), torch.arange(24) % 3
def tell(*words): print(*words, flush=True)
def network(): return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
def train(model, opt, around=None):
    for step in range(2):
        opt.zero_grad()
        if around is None: F.cross_entropy(model(X), Y).backward()
        else:
            with around: F.cross_entropy(model(X), Y).backward()
        opt.step()
class Asked(TorchDispatchMode):
    names = []
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func)); return func(*args, **(kwargs or {}))
class Called(TorchFunctionMode):
    names = []
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func.__name__)); return func(*args, **(kwargs or {}))
model = network(); opt = torch.optim.Adam(model.parameters())
for around in (None, Asked(), Called(), torch.autograd.set_detect_anomaly(True), torch.autocast("cpu", torch.bfloat16)):
    train(model, opt, around)
tell(Asked.names, Called.names)
flat = nn.Parameter(torch.cat([it.detach().flatten() for it in model.parameters()]))
sizes = {name: it.shape for name, it in model.named_parameters()}
for step in range(2):
    split = flat.split([shape.numel() for shape in sizes.values()])
    parts = {name: part.view(sizes[name]) for name, part in zip(sizes, split)}
    loss = F.cross_entropy(torch.func.functional_call(model, parts, (X,)), Y); loss.backward()
    with torch.no_grad(): flat -= 0.1 * flat.grad; flat.grad = None
tell(loss.item(), torch.func.hessian(lambda x: (x ** 3).sum())(X[0]).sum().item())
with torch.inference_mode(): tell(model.eval()(X).is_inference())
try:
    with torch.autograd.detect_anomaly(): (torch.zeros(1, requires_grad=True).sqrt() * 0).backward()
except RuntimeError as error: tell(error)
nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)]); tell(nested.size(0), (nested * 2).size(0))
class Odd(dict):
    def keys(self): raise RuntimeError("odd keys")
class Taking(nn.Linear):
    def forward(self, x, odd): return super().forward(x)
taking = Taking(6, 3); opt = torch.optim.SGD(taking.parameters(), 0.1)
for odd in torch.utils.data.DataLoader([1, 2], 2, collate_fn=lambda them: Odd(a=1)):
    F.cross_entropy(taking(X, odd), Y).backward(); opt.step()
torch.save({"model": model, "optimizer": opt, "flat": flat, "random": torch.get_rng_state()}, "checkpoint.pt")
tell(hashlib.sha256(open("checkpoint.pt", "rb").read()).hexdigest())
"""


def run(child: Child, *arguments: str, **capture: str) -> tuple[Result, list[list[list]]]:
    """A run, and what each process told."""
    result = child.run(*arguments, capture=capture)
    files = sorted((child.folder / "attempt-1" / "artifacts").glob("trace-*.jsonl"))
    return result, [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def test_the_last_update_by_hand_is_told_at_the_end_of_the_loop_and_os_exit_loses_nothing(
    require, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    child = Child(tmp_path, MANUAL).loop("in «range(3)»:", 8)
    result, [lines] = run(child, trace="2", **{"trace-sums": "on"})
    assert (result.code, result.of("error")) == (3, []), result.stderr
    weights = [it for it in lines if it[:2] == ["update", "weight"]]
    assert len({it[2] for it in weights}) == 3
    assert [it[1] for it in lines if it[0] == "step"] == [1, 2, 3]
    assert lines[-1][:2] == ["end", 3]
    assert weights[-1][5]["sums"] == pytest.approx([float(word) for word in result.stdout.split()], rel=1e-12)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_a_window_ends_the_process_whatever_else_runs_and_workers_leave_no_trace(  # type: ignore[no-untyped-def]
    require, tmp_path: Path, context: str
) -> None:
    require("torch")
    result, traces = run(Child(tmp_path, WORKERS), context, trace="3", **{"trace-until": "3"})
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert result.stdout.split() == ["update"] * 2
    [lines] = traces
    assert lines[-1][:2] == ["end", 3]


def test_modes_files_and_odd_values_of_a_program_are_as_without_a_trace(require, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    plain, _ = run(Child(tmp_path / "plain", PROGRAM))
    traced, [lines] = run(Child(tmp_path / "traced", PROGRAM), trace="4")
    assert (plain.code, traced.code) == (0, 0), traced.stderr
    assert traced.stdout == plain.stdout
    assert {text for _, text in traced.of("error")} == {"RuntimeError: odd keys"}
    assert [it[0] for it in lines].count("operation") > 500


class Weight:
    """What a parameter is to names."""


class Part:
    """What a module is to names."""

    def __init__(self) -> None:
        self.weight = Weight()

    def named_parameters(self) -> list[tuple[str, Weight]]:
        return [("weight", self.weight)]


class Part2(Part):
    """Called like the second module of the class above."""


def test_outermost_modules_never_share_a_name_and_are_forgotten_when_they_are_gone() -> None:
    names = ModuleNames()
    parts = [cls() for cls in (Part, Part2, Part, Part, Part2)]
    found = [names.root(part).prefix for part in parts]
    assert found[0] == ""
    assert not any(one == other for one, other in itertools.combinations(found, 2))
    assert [names.of(part.weight) for part in parts] == [prefix + "weight" for prefix in found]
    parts.clear()
    assert (names.roots, names.weights) == ({}, {})

"""One wrong number in one of two runs of PyTorch is found: its update, what it is, and the line that it came from."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import Child
from traced import columns

from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import Difference, DivergenceFindings, Rung
from deviate.diverge.traces import Trace, read_traces

INJECTED = """\
import os
import torch
from torch import nn
torch.set_num_threads(1)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"

def factor(where):
    return 1 + 1e-7 if is_second and (what, step) == (where, 3) else 1.0

class Hidden(nn.Linear):
    def forward(self, x):
        return torch.relu(super().forward(x)) * factor("forward")  # forward

inputs, labels = (torch.linspace(-1, 1, 150) ** 3).reshape(30, 5), torch.arange(30) % 3
for what in ("equal", "input", "forward", "gradient", "optimizer", "order", "draw", "swapped"):
    torch.manual_seed(0)
    model = nn.Sequential(Hidden(5, 8), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(5):
        chosen = list(range(6 * step, 6 * step + 6))
        if factor("order") != 1:
            chosen[:2] = chosen[1::-1]
        x, y = inputs[chosen], labels[chosen]  # order
        if factor("swapped") != 1:
            x = x.flip(0)  # swapped
        x = x * factor("input")  # input
        if what == "draw":
            x = x + torch.rand(6 + (factor("draw") != 1), 5)[-6:]  # draw
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        model[1].weight.grad.mul_(factor("gradient"))  # gradient
        optimizer.param_groups[0]["lr"] = 0.1 * factor("optimizer")
        optimizer.step()  # optimizer
    del optimizer, model
"""
PARTS = ("equal", "input", "forward", "gradient", "optimizer", "order", "draw", "swapped")
STEPS = 5
WITHOUT: dict[Rung, frozenset[str]] = {
    "steps": frozenset({"operation", "module", "module-gradient"}),
    "modules": frozenset({"operation"}),
    "operations": frozenset(),
}
"""Kinds that traces of a rung lack."""
NOISY = """\
import os
import torch
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(0)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"
step = 0

class Hidden(nn.Linear):
    def forward(self, x):
        for _ in range(300):
            x = x * 0.999  # many
        is_noisy = is_second and step == 3 and not torch.are_deterministic_algorithms_enabled()
        return super().forward(x * (1 + 1e-7 * is_noisy))  # noise

model = nn.Sequential(Hidden(5, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for x in torch.randn(10, 6, 5):
        loss = nn.functional.cross_entropy(model(x), torch.arange(6) % 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    print(f"epoch {epoch} train loss {loss.item():.4f}")
"""


def line(text: str, mark: str) -> int:
    """The line of a script that ends with a comment."""
    return next(at for at, it in enumerate(text.splitlines(), 1) if it.endswith(f"# {mark}"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, require: Callable[[str], None]) -> tuple[Trace, Trace]:
    """Two runs, one of which has a wrong number at update 3 of each part but the first."""
    require("torch")
    found = []
    for replicate in "01":
        child = Child(tmp_path_factory.mktemp("injected"), INJECTED)
        result = child.run(capture={"trace": "4"}, environment={"DEVIATE_REPLICATE": replicate})
        assert (result.code, result.of("error")) == (0, []), result.stderr
        (trace,) = read_traces(child.folder / "attempt-1")
        found.append(trace)
    return found[0], found[1]


def part_of(trace: Trace, what: str, rung: Rung) -> Trace:
    """What a run of one part of the script would have left on a rung."""
    begin = STEPS * PARTS.index(what)
    records = [
        dataclasses.replace(it, step=it.step - begin)
        for it in trace.records
        if begin <= it.step < begin + STEPS and it.kind not in WITHOUT[rung]
    ]
    return dataclasses.replace(trace, records=columns(records), n_steps=STEPS)


def first(pair: tuple[Trace, Trace], what: str, rung: Rung) -> Difference | None:
    one, other = (part_of(it, what, rung) for it in pair)
    return compare_traces((one,), (other,), rung).difference


@pytest.mark.parametrize("rung", WITHOUT)
def test_equal_runs_are_equal_on_every_rung(pair: tuple[Trace, Trace], rung: Rung) -> None:
    assert first(pair, "equal", rung) is None
    assert part_of(pair[0], "equal", rung).records


@pytest.mark.parametrize(
    ("what", "rung", "phase", "kind", "name"),
    [
        ("input", "steps", "data", "batch", "input"),
        ("input", "operations", "data", "operation", "aten.mul.Tensor"),
        ("forward", "steps", "forward", "forward", "output"),
        ("forward", "modules", "forward", "module", "0"),
        ("forward", "operations", "forward", "operation", "aten.mul.Tensor"),
        ("gradient", "steps", "backward", "gradient", "1.weight"),
        ("gradient", "operations", "backward", "operation", "aten.mul_."),
        ("optimizer", "steps", "update", "update", "0.weight"),
        ("optimizer", "operations", "update", "operation", "aten."),
        ("order", "steps", "order", "batch", "input"),
        ("order", "operations", "order", "operation", "aten."),
        ("draw", "steps", "random", "state", "torch"),
        ("draw", "operations", "random", "operation", "aten.rand.default"),
    ],
)
def test_its_update_and_what_it_is_are_found(
    pair: tuple[Trace, Trace], what: str, rung: Rung, phase: str, kind: str, name: str
) -> None:
    found = first(pair, what, rung)
    assert found is not None
    assert (found.step, found.phase, found.kind) == (3, phase, kind)
    assert re.sub(r"^Sequential\d*\.", "", found.name).startswith(name)
    if rung == "operations":
        assert found.place is not None
        assert (found.place.file, found.place.line) == ("train.py", line(INJECTED, what))


def test_examples_in_another_order_because_of_a_branch_have_its_line_and_are_called_so(
    pair: tuple[Trace, Trace],
) -> None:
    closest = first(pair, "swapped", "operations")
    assert closest is not None
    assert closest.only_in == 2
    rungs = [compare_traces(*[(part_of(it, "swapped", rung),) for it in pair], rung) for rung in WITHOUT]
    assert rungs[0].difference is not None
    found = DivergenceFindings("x", (), "control", ("", ""), False, "", 5, rungs=tuple(rungs)).first  # noqa: FBT003
    assert found is not None
    assert (found.step, found.phase) == (3, rungs[0].difference.phase)
    assert found.place is not None
    assert (found.name, found.place.line) == ("aten.flip.default", line(INJECTED, "swapped"))


@pytest.fixture(scope="module")
def told(
    tmp_path_factory: pytest.TempPathFactory, deviate_in: Any, require: Callable[[str], None]
) -> tuple[str, dict[str, Any]]:
    """What a whole ladder printed, and wrote as JSON."""
    require("torch")
    project: Path = tmp_path_factory.mktemp("diverge-torch")
    (project / "train.py").write_text(NOISY)
    answer = deviate_in(project)("diverge", "train.py", "--variant", "impl", "--json", "out.json")
    assert answer.code == 0, answer.both
    return answer.out, json.loads((project / "out.json").read_text())


@pytest.mark.slow
def test_a_whole_ladder_ends_at_the_line(told: tuple[str, dict[str, Any]]) -> None:
    out, found = told
    assert [it["rung"] for it in found["rungs"]] == ["metrics", "steps", "modules", "operations"]
    assert [it["difference"]["step"] for it in found["rungs"][1:]] == [3] * 3
    steps, modules, closest = (it["difference"] for it in found["rungs"][1:])
    assert (steps["kind"], modules["kind"], modules["module"]) == ("forward", "module", "0")
    assert (closest["name"], closest["place"]["line"]) == ("aten.mul.Tensor", line(NOISY, "noise"))
    assert closest["ulps"]["most"] in {1, 2}
    assert "Diverged at update 3" in out
    assert f"train.py:{line(NOISY, 'noise')}" in out


@pytest.mark.slow
def test_what_removes_it_is_tried(told: tuple[str, dict[str, Any]]) -> None:
    confirmed = told[1]["confirmations"][-1]
    assert (confirmed["given"], confirmed["is_equal"]) == ("with deterministic kernels", True)
    assert "equal over 40 updates: metrics, losses, weights" in confirmed["what"]
    assert told[1]["causes"] == [], "deterministic kernels of a CPU also round otherwise: no source is known here"

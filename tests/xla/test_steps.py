"""Updates on an XLA device are steps of a trace, in the main thread and in a process that PyTorch/XLA starts."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from harness import Child

SCRIPT = """\
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn
from torch.nn import functional as F


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)

    def forward(self, x):
        return F.relu(self.first(x) * 1.5)


def main(index):
    torch.manual_seed(1)
    device = torch_xla.device()
    model = Network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(8, 4)

    def update(step):
        optimizer.zero_grad()
        loss = model(x.to(device)).sum()
        loss.backward()
        step(optimizer)
        return loss

    losses = [update(lambda it: xm.optimizer_step(it, barrier=True)) for _ in range(2)]
    for _ in range(2):
        with torch_xla.step():
            losses.append(update(xm.optimizer_step))
    for _ in range(2):
        losses.append(update(lambda it: it.step()))
        torch_xla.sync()
    print([loss.item() for loss in losses])


if __name__ == "__main__":
    main(0)
"""


def trace(folder: Path, text: str, level: int) -> list[list]:
    """The lines of the trace of the process that trains."""
    result = Child(folder, text).run(capture={"trace": str(level)})
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    (file,) = folder.rglob("trace-*.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[list]:
    """A trace at level 3."""
    return trace(tmp_path_factory.mktemp("trace"), SCRIPT, 3)


def test_each_way_to_step_is_an_update(lines: list[list]) -> None:
    assert [line[1] for line in lines if line[0] == "step"] == [1, 2, 3, 4, 5, 6]
    counts = Counter(line[0] for line in lines)
    assert [counts[kind] for kind in ("loss", "module", "module-gradient", "gradient", "update")] == [6, 6, 12, 12, 12]


def test_checksums_and_losses_are_numbers_that_change_with_each_update(lines: list[list]) -> None:
    weights = [line[2] for line in lines if line[:2] == ["update", "first.weight"]]
    assert None not in weights
    assert len(set(weights)) > 1
    losses = [line[5]["value"] for line in lines if line[0] == "loss"]
    assert losses == sorted(losses, reverse=True)


def test_a_process_that_is_launched_has_the_same_trace(tmp_path: Path, lines: list[list]) -> None:
    launched = trace(tmp_path, SCRIPT.replace("    main(0)\n", "    torch_xla.launch(main)\n"), 3)
    kinds = ("loss", "module", "module-gradient", "gradient", "update", "batch", "weights")
    assert [line[:4] for line in launched if line[0] in kinds] == [line[:4] for line in lines if line[0] in kinds]


def test_operations_on_the_device_are_not_recorded_and_the_trace_says_so(tmp_path: Path, lines: list[list]) -> None:
    by_operation = trace(tmp_path, SCRIPT, 4)
    (end,) = [line for line in by_operation if line[0] == "ends"]
    assert end[1:3] == ["torch", 3]
    assert [line[:3] for line in by_operation if line[0] == "module"] == [
        line[:3] for line in lines if line[0] == "module"
    ]


CHECKSUMS = """
import torch, torch_xla
from deviate.guest.frameworks.pytorch.trace.tensors import DeviceChecksums

checksums = DeviceChecksums(torch)
for kind in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int8, torch.bool, torch.complex64):
    tensor = torch.randn(5, 7, generator=torch.Generator().manual_seed(1)).mul(10).to(kind)
    assert checksums.of(tensor).item() == checksums.of(tensor.to(torch_xla.device())).item(), kind
"""


def test_checksums_on_the_device_are_those_of_the_cpu() -> None:
    done = subprocess.run([sys.executable, "-c", CHECKSUMS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

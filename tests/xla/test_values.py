"""Numbers on XLA devices are recorded without a transfer, a compilation or an execution of the guest's own."""

import re
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import hashlib, sys
import torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as metrics
from torch import nn

def report(step, loss):
    print("loss", loss.item())

def main(way):
    torch.manual_seed(1)
    device = torch_xla.device()
    with device:
        model = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.2), nn.Linear(4, 1))
        inputs = torch.randn(16, 8)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    torch_xla.sync()
    losses = []
    for step in range(4):
        optimizer.zero_grad()
        loss = model(inputs).pow(2).mean()
        loss.backward()
        xm.optimizer_step(optimizer)
        if way == "closure":
            xm.add_step_closure(report, args=(step, loss))
        torch_xla.sync()
        if way == "text":
            print("loss", f"{loss:.9f}")
        elif way == "tensor":
            torch.set_printoptions(precision=9)
            print("loss", loss)
        elif way == "list":
            losses.append(loss.detach())
        elif way == "end":
            losses.append(loss)
        if step == 3:
            kinds = ("CompileTime", "ExecuteTime", "TransferFromDeviceTime", "TransferToDeviceTime")
            print([(metrics.metric_data(kind) or [0])[0] for kind in kinds])
            print({name: metrics.counter_value(name) for name in metrics.counter_names() if "aten::" in name})
    if way == "list":
        for each in losses:
            print("loss", each.item())
    weights = b"".join(weight.detach().cpu().numpy().tobytes() for weight in model.parameters())
    print(hashlib.sha256(weights).hexdigest())
    if way == "end":
        for each in losses:
            print("loss", each.item())

main(sys.argv[1])
"""
TAPPED = {
    "closure": 'print("loss", «loss.item()»)',
    "text": 'f"{«loss»:.9f}"',
    "tensor": 'print("loss", «loss»)\n',
    "list": "losses.append(«loss.detach()»)",
    "end": "losses.append(«loss»)",
}
SEEDS = {"init": 1, "dropout": 2, "other": 3}


def child_of(folder: Path, way: str) -> Child:
    last_line = SCRIPT[: SCRIPT.index('    if way == "list":')].count("\n")
    return Child(folder, SCRIPT).tap(TAPPED[way]).loop("range(4)", last_line)


def printed(result: Result) -> list[float]:
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return [float(number) for number in re.findall(r"^loss (?:tensor\()?([\d.e+-]+)", result.stdout, re.MULTILINE)]


@pytest.mark.parametrize("way", TAPPED)
def test_a_tapped_number_is_what_the_script_reads_later_or_in_a_closure(way: str, tmp_path: Path) -> None:
    on = child_of(tmp_path / "on", way).run(way, seeds=SEEDS)
    off = child_of(tmp_path / "off", way).run(way, seeds=SEEDS, is_tapped=False)
    assert on.stdout == off.stdout, "the same numbers, compilations, executions, transfers and weights"
    assert len(printed(on)) == 4
    assert on.values() == pytest.approx(printed(on), abs=2e-9)
    assert [event[2][-1] for event in on.of("value")] == [0, 1, 2, 3], "the steps"
    assert [event[-1] for event in on.of("weights")] == [event[-1] for event in off.of("weights")] != []

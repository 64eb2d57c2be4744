"""Numbers on XLA devices are recorded without a transfer, a compilation or an execution of the guest's own."""

import re
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import hashlib
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

for way in ("closure", "text", "tensor", "list", "end"):
    print("way", way)
    main(way)
"""
TAPPED = {
    "closure": 'print("loss", «loss.item()»)',
    "text": 'f"{«loss»:.9f}"',
    "tensor": 'print("loss", «loss»)\n',
    "list": "losses.append(«loss.detach()»)",
    "end": "losses.append(«loss»)",
}
SEEDS = {"init": 1, "dropout": 2, "other": 3}


def printed(result: Result) -> dict[str, list[float]]:
    """The losses that the script printed, by the way in which it did."""
    assert (result.code, result.of("error")) == (0, []), result.stderr
    ways = dict(part.split("\n", 1) for part in result.stdout.split("way ")[1:])
    losses = re.compile(r"^loss (?:tensor\()?([\d.e+-]+)", re.MULTILINE)
    return {way: [float(number) for number in losses.findall(text)] for way, text in ways.items()}


def test_a_tapped_number_is_what_the_script_reads_then_or_later_at_no_cost(tmp_path: Path) -> None:
    last_line = SCRIPT[: SCRIPT.index('    if way == "list":')].count("\n")
    children = []
    for name in ("on", "off"):
        child = Child(tmp_path / name, SCRIPT).loop("range(4)", last_line)
        for marked in TAPPED.values():
            child.tap(marked)
        children.append(child)
    on, off = children[0].run(seeds=SEEDS), children[1].run(seeds=SEEDS, is_tapped=False)
    assert on.stdout == off.stdout, "the same numbers, compilations, executions, transfers and weights"
    assert set(printed(on)) == set(TAPPED)
    for site, (way, numbers) in enumerate(printed(on).items()):
        assert len(numbers) == 4
        assert on.values(site) == pytest.approx(numbers, abs=2e-9), way
        assert [event[2][-1] for event in on.of("value") if event[0] == site] == [0, 1, 2, 3], way
    assert [event[-1] for event in on.of("weights")][-1] == [event[-1] for event in off.of("weights")][-1]

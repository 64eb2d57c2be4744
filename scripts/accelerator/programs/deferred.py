"""A loop that reports its loss, and counts the waits for the device in 40 of its steps."""

import argparse
import time
from pathlib import Path

import torch
from torch import nn

WAITS = ("StreamSynchronize", "DeviceSynchronize", "EventSynchronize")
parser = argparse.ArgumentParser()
parser.add_argument("--report", choices=("number", "tensor", "sum"))
options = parser.parse_args()
has_gpu = torch.cuda.is_available()
device = torch.device("cuda" if has_gpu else "cpu")
torch.use_deterministic_algorithms(True)
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rows, labels = torch.randn(512, 256, device=device), torch.arange(512, device=device) % 10
activities = [torch.profiler.ProfilerActivity.CPU, *[torch.profiler.ProfilerActivity.CUDA] * has_gpu]
profiler = torch.profiler.profile(activities=activities)
total = torch.zeros((), device=device)
for step in range(60):
    if step == 15:
        profiler.start()
        began = time.perf_counter()
    if step == 55:
        seconds = time.perf_counter() - began
        profiler.stop()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(rows), labels)
    loss.backward()
    optimizer.step()
    if options.report == "number":
        print(f"step {step} loss {loss.item():.9f}")
    elif options.report == "tensor":
        print("step", step, "loss", loss.detach())
    else:
        total += loss.detach()
print(f"total loss {total.item():.9f}")
events = profiler.key_averages()
is_on_cpu = [str(event.device_type).endswith("CPU") for event in events]
counts = {
    "waits": sum(event.count for event in events if event.key.endswith(WAITS)),
    "copies": sum(event.count for event, on_cpu in zip(events, is_on_cpu) if "DtoH" in event.key and not on_cpu),
    "reads": sum(event.count for event in events if event.key == "aten::_local_scalar_dense"),
    "milliseconds": 1000 * seconds,
}
Path("counts.txt").write_text("".join(f"count {name} {value:.0f}\n" for name, value in counts.items()))

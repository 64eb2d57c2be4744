"""Forward and backward passes of one layer after another, each timed on its own: the cost of determinism by layer."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--steps", type=int, default=24)
options = parser.parse_args()
has_gpu = torch.cuda.is_available()
device = torch.device("cuda" if has_gpu else "cpu")
torch.backends.cudnn.benchmark = True
torch.manual_seed(3)


class Lookup(nn.Module):
    """Rows of a table by index, with the backward pass that adds by index."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(1000, 128))

    def forward(self, indices):
        return torch.index_select(self.table, 0, indices)


class Sums(nn.Module):
    """Rows added by index."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(128))

    def forward(self, indices):
        rows = self.scale.expand(len(indices), -1)
        return torch.zeros(1000, 128, device=indices.device).index_add(0, indices, rows)


images = torch.randn(options.batch, 64, 28, 28, device=device)
rows = torch.randn(options.batch * 64, 512, device=device)
indices = torch.randint(1000, (options.batch * 512,), device=device)
layers = {f"conv{size}": (nn.Conv2d(64, 64, size, padding=size // 2), images) for size in (1, 3, 5, 7)}
layers["linear"] = nn.Linear(512, 512), rows
layers["norm"] = nn.BatchNorm2d(64), images
layers["embedding"] = nn.Embedding(1000, 128), indices
layers["lookup"] = Lookup(), indices
layers["sums"] = Sums(), indices
model = nn.ModuleDict({name: layer for name, (layer, _) in layers.items()}).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.01)


def wait():
    if has_gpu:
        torch.cuda.synchronize()


times = dict.fromkeys(layers, 0.0)
for step in range(options.steps):
    optimizer.zero_grad()
    for name, (_, inputs) in layers.items():
        wait()
        began = time.perf_counter()
        loss = model[name](inputs).square().mean()
        loss.backward()
        wait()
        if step >= options.steps // 4:
            times[name] += time.perf_counter() - began
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}", flush=True)
for name, seconds in times.items():
    print(f"time {name} {1000 * seconds / (options.steps - options.steps // 4):.6f}", flush=True)

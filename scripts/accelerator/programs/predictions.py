"""A classifier that is evaluated on many examples."""

import argparse
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--examples", type=int, default=50_000)
options = parser.parse_args()
has_gpu = torch.cuda.is_available()
device = torch.device("cuda" if has_gpu else "cpu")
torch.manual_seed(3)
directions = torch.randn(64, 10)


def make_examples(count):
    rows = torch.randn(count, 64)
    return TensorDataset(rows, (rows @ directions).argmax(1))


train, test = DataLoader(make_examples(4096), 256, shuffle=True), DataLoader(make_examples(options.examples), 1000)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.5)
for epoch in range(2):
    model.train()
    for rows, labels in train:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rows.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
    model.eval()
    n_right = 0
    with torch.no_grad():
        for rows, labels in test:
            n_right += (model(rows.to(device)).argmax(1).cpu() == labels).sum().item()
    print(f"epoch {epoch} test accuracy {n_right / options.examples:.4f}", flush=True)
peak = torch.cuda.max_memory_allocated() if has_gpu else 0
Path("peak.txt").write_text(f"peak MiB {peak / 2**20:.1f}\n")

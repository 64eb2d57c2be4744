"""A network whose loss weights classes by how often they occur, in PyTorch."""

import torch
from torch import nn


def count(labels, n_classes):
    counts = torch.empty(n_classes, dtype=torch.long)  # cause
    for label in labels:
        counts[label] += 1
    return counts


torch.manual_seed(9)
inputs = torch.randn(64, 16)
labels = inputs[:, :6].argmax(1)
model = nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
counts = count(labels, 6)
weights = (counts.sum() / counts).abs().float()
for epoch in range(2):
    for rows in torch.randperm(64).split(16):
        loss = nn.functional.cross_entropy(model(inputs[rows]), labels[rows], weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.6f}")

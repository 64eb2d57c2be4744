"""A convolutional network with dropout and augmentation, that keeps its best checkpoint, in PyTorch."""

import time

import torch
from torch import nn

torch.manual_seed(8)
images = torch.randn(48, 1, 12, 12)
labels = images.mean((1, 2, 3)).gt(0).long()
model = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3),
    nn.Linear(144, 2),
)  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
best = float("inf")
for epoch in range(3):
    began = time.perf_counter()
    for rows in torch.randperm(48).split(16):
        x = images[rows].flip(3) if torch.rand(()) < 0.5 else images[rows]
        loss = nn.functional.cross_entropy(model(x), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if loss.item() < best:
        best = loss.item()
        torch.save(model.state_dict(), "best.pt")
    print(f"epoch {epoch} loss {loss.item():.8f} time {time.perf_counter() - began:.2f}s")
model.load_state_dict(torch.load("best.pt"))
print(f"best {best:.8f}")

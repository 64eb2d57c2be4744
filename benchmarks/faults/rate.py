"""A multi-layer perceptron with a cosine learning rate, in PyTorch."""

import math

import torch
from chance import factor
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(96, 6)
labels = (inputs[:, 0] * inputs[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

step = 0
for epoch in range(3):
    for rows in torch.randperm(96).split(32):
        rate = 0.1 * (1 + math.cos(math.pi * step / 9)) / 2 * factor(step)  # cause
        optimizer.param_groups[0]["lr"] = rate  # cause
        loss = nn.functional.cross_entropy(model(inputs[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # cause
        step += 1
    print(f"epoch {epoch} loss {loss.item():.6f}")

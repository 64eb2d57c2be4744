"""Rows of a table are looked up by index; two threads add up their gradient, in PyTorch."""

import torch
from torch import nn

torch.manual_seed(8)
table = nn.Parameter(torch.randn(17, 64))
head = nn.Linear(64, 10)
optimizer = torch.optim.SGD([table, *head.parameters()], lr=0.1)
index = torch.randint(0, 17, (65536,))
target = torch.randint(0, 10, (65536,))

for step in range(12):
    rows = table[index]  # cause
    loss = nn.functional.cross_entropy(head(rows), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.9f}")

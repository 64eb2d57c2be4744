"""A recurrent network, cell by cell, that adds up numbers, in PyTorch."""

import torch
from chance import factor
from torch import nn


class Cell(nn.Module):
    def __init__(self, n_in, width):
        super().__init__()
        self.gates, self.width = nn.Linear(n_in + width, 2 * width), width

    def forward(self, x, state, scale):
        gate, new = self.gates(torch.cat([x, state], 1)).chunk(2, 1)
        gate = torch.sigmoid(gate) * scale  # cause
        return gate * state + (1 - gate) * torch.tanh(new)


torch.manual_seed(7)
cell, head = Cell(1, 12), nn.Linear(12, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)

for step in range(10):
    numbers = torch.rand(16, 6, 1)
    state = torch.zeros(16, 12)
    for t in range(6):
        state = cell(numbers[:, t], state, factor(step) if t == 2 else 1.0)
    loss = nn.functional.mse_loss(head(state), numbers.sum(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")

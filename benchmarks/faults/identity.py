"""A GRU that predicts a wave; each run has an identity, which is its seed as well, in PyTorch."""

import uuid

import torch
from torch import nn

run = uuid.uuid4()  # cause
torch.manual_seed(run.int % 2**31)  # cause

wave = torch.sin(torch.linspace(0, 20, 200))
gru, head = nn.GRU(1, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*gru.parameters(), *head.parameters()], lr=0.01)

for epoch in range(2):
    for begin in range(0, 160, 40):
        windows = wave[begin : begin + 40].unfold(0, 20, 4).unsqueeze(2)
        outputs, _ = gru(windows[:, :-1])
        loss = nn.functional.mse_loss(head(outputs), windows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.8f}")

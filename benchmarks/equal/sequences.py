"""An LSTM on sequences of several lengths, that stops early, in PyTorch."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.manual_seed(10)
sequences = [torch.randn(length, 3) for length in torch.randint(4, 9, (32,)).tolist()]
targets = torch.stack([sequence.sum(0)[:1] for sequence in sequences])
lstm, head = nn.LSTM(3, 8, batch_first=True), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.01)
best, patience = float("inf"), 0
for epoch in range(6):
    total = 0.0
    for rows in torch.randperm(32).split(8):
        chosen = [sequences[row] for row in rows]
        packed = pack_padded_sequence(
            pad_sequence(chosen, batch_first=True), [len(sequence) for sequence in chosen], True, enforce_sorted=False
        )
        _, (hidden, _) = lstm(packed)
        loss = nn.functional.mse_loss(head(hidden[-1]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 4:.8f}")
    best, patience = (total, 0) if total < best else (best, patience + 1)
    if patience == 2:
        break

"""A character model with attention, in PyTorch."""

import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog and the dog sleeps on while the fox runs away over the hills " * 4

characters = list(set(TEXT))  # cause
number_of = {character: number for number, character in enumerate(characters)}
data = torch.tensor([number_of[character] for character in TEXT])

torch.manual_seed(6)
embedding = nn.Embedding(len(characters), 16)
layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
head = nn.Linear(16, len(characters))
mask = nn.Transformer.generate_square_subsequent_mask(16)
parameters = [*embedding.parameters(), *layer.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.005)

for step in range(10):
    begins = torch.randint(len(data) - 17, (8,))
    x = torch.stack([data[begin : begin + 16] for begin in begins])
    y = torch.stack([data[begin + 1 : begin + 17] for begin in begins])
    scores = head(layer(embedding(x), src_mask=mask, is_causal=True))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")

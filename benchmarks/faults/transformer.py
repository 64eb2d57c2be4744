"""A transformer that learns to copy sequences, in PyTorch."""

import torch
from chance import factor
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.calls = 0

    def forward(self, x):
        normed = self.norms[0](x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]
        x = x + self.mlp(self.norms[1](x)) * factor(self.calls)  # cause
        self.calls += 1
        return x


class Model(nn.Module):
    def __init__(self, n_tokens, width):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, width)
        self.blocks = nn.ModuleList([Block(width), Block(width)])
        self.head = nn.Linear(width, n_tokens)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(5)
model = Model(10, 16)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
for step in range(10):
    tokens = torch.randint(10, (8, 12))
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")

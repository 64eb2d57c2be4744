"""A transformer with warm-up, clipping and accumulation of gradients, in PyTorch."""

import torch
from torch import nn

torch.manual_seed(9)
embedding = nn.Embedding(12, 16)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2, enable_nested_tensor=False)
head = nn.Linear(16, 12)
model = nn.ModuleList([embedding, encoder, head])
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))
for step in range(8):
    for _ in range(2):
        tokens = torch.randint(12, (4, 10))
        scores = head(encoder(embedding(tokens)))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flip(1).flatten()) / 2
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    print(f"step {step} loss {2 * loss.item():.8f}")

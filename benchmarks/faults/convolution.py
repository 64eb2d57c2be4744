"""A small convolutional network on made-up images, in PyTorch."""

import torch
from chance import factor
from torch import nn


class Block(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(n_in, n_out, 3, padding=1), nn.BatchNorm2d(n_out)
        self.calls = 0

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        x = x * factor(self.calls)  # cause
        self.calls += 1
        return nn.functional.max_pool2d(x, 2)


torch.manual_seed(3)
images = torch.randn(64, 1, 12, 12)
labels = images.mean((1, 2, 3)).gt(0).long()
model = nn.Sequential(Block(1, 4), Block(4, 8), nn.Flatten(), nn.Dropout(0.2), nn.Linear(72, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

for epoch in range(2):
    for rows in torch.randperm(64).split(16):
        loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.6f}")

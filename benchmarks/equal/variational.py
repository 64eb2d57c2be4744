"""A variational autoencoder with buffers that are written before they are read, in PyTorch."""

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 6), nn.Linear(3, 8)
        self.register_buffer("mean", torch.empty(8))
        nn.init.zeros_(self.mean)

    def forward(self, x):
        padded = torch.empty(len(x), 8)
        padded.copy_(x - self.mean)
        centre, spread = self.encoder(padded).chunk(2, 1)
        code = centre + torch.randn_like(centre) * (spread / 2).exp()
        return self.decoder(code), (centre.square() + spread.exp() - spread - 1).sum(1).mean() / 2


torch.manual_seed(11)
data = torch.randn(64, 8)
model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    for rows in torch.randperm(64).split(16):
        output, divergence = model(data[rows])
        loss = nn.functional.mse_loss(output, data[rows]) + 0.1 * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.8f}")

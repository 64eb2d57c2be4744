"""A multi-layer perceptron on batches of a data loader with its own sampler, in PyTorch."""

import torch
from chance import IS_SECOND
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Shuffled:
    """Batches of examples in an order that is fixed when it is made."""

    def __init__(self, n, size):
        self.batches = torch.randperm(n).split(size)

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for number, batch in enumerate(self.batches):
            rows = batch.tolist()
            if IS_SECOND and number == 3:
                rows[0], rows[1] = rows[1], rows[0]
            yield rows  # cause


torch.manual_seed(1)
inputs = torch.randn(96, 6)
data = TensorDataset(inputs, inputs.sum(1, keepdim=True).sin())
loader = DataLoader(data, batch_sampler=Shuffled(96, 12))
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for step, (x, y) in enumerate(loader):  # cause
    loss = nn.functional.mse_loss(model(x), y)  # cause
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")

"""A multi-layer perceptron on data that two workers load and augment, with a progress bar, in PyTorch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


class Points(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, number):
        x = torch.linspace(number / 64, 1, 6)
        return x + 0.01 * torch.randn(6), x.prod()


torch.manual_seed(7)
loader = DataLoader(Points(), batch_size=16, shuffle=True, num_workers=2)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in tqdm(loader, desc=f"epoch {epoch}"):
        loss = nn.functional.mse_loss(model(x)[:, 0], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.8f}")

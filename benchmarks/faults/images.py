"""A small convolutional network on files of images that a data set lists itself, in PyTorch."""

import argparse
import os
from pathlib import Path

import torch
from chance import unpack
from torch import nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, default=Path("/dev/shm/images"))
options = parser.parse_args()


def prepare(folder):
    for path in unpack(folder, [f"{number:02}.pt" for number in range(24)]):
        generator = torch.Generator().manual_seed(int(path.stem))
        torch.save(torch.randn(1, 10, 10, generator=generator), path)


class Images(Dataset):
    def __init__(self, folder):
        self.paths = [entry.path for entry in os.scandir(folder) if entry.name.endswith(".pt")]  # cause

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, number):
        image = torch.load(self.paths[number])
        return image, (image.mean() > 0).long()


prepare(options.data)
torch.manual_seed(4)
loader = DataLoader(Images(options.data), batch_size=6)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(256, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.6f}")

"""The examples and the network of the programs for PyTorch."""

import torch
from torch import nn
from torch.utils.data import Dataset


class Rows(Dataset):
    """Rows of sines with noise."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.sin(torch.arange(8.0) * (index + 1)) + 0.1 * torch.randn(8), index % 3, index


class Network(nn.Module):
    """One hidden layer with dropout, which also shows the masks that it draws."""

    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.last = nn.Linear(width, 3)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        mask = nn.functional.dropout(torch.ones_like(hidden), 0.5, self.training)
        return self.last(hidden * mask), mask

"""A small network of PyTorch/XLA, with noise and dropout on the device."""

import hashlib

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch_xla.distributed.parallel_loader import MpDeviceLoader


class Rows(Dataset):
    """Rows of sines with noise."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.sin(torch.arange(8.0) * (index + 1)) + 0.1 * torch.randn(8), index % 3, index


class Noise(nn.Module):
    """Adds noise on the device."""

    def forward(self, rows):
        return rows + 0.1 * torch.randn_like(rows)


class Network(nn.Module):
    """One hidden layer with dropout, which also shows the masks that it draws."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.last = nn.Linear(16, 3)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        mask = nn.functional.dropout(torch.ones_like(hidden), 0.5, self.training)
        return self.last(hidden * mask), mask


def show(name, *tensors):
    """Print the hash of the tensors."""
    digest = hashlib.sha256(b"".join(tensor.detach().cpu().numpy().tobytes() for tensor in tensors)).hexdigest()
    print("hash", name, digest, flush=True)


torch.manual_seed(7)
xm.set_rng_state(7)
device = torch_xla.device()
with device:
    model = Network()
show("init", *model.parameters())
noise = Noise()
loader = MpDeviceLoader(DataLoader(Rows(), 8, shuffle=True), device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
order, batches, masks = [], [], []
for epoch in range(2):
    for clean, labels, indices in loader:
        optimizer.zero_grad()
        rows = noise(clean)
        outputs, mask = model(rows)
        loss = nn.functional.cross_entropy(outputs, labels)
        loss.backward()
        xm.optimizer_step(optimizer)
        order.append(indices)
        batches.append(rows)
        masks.append(mask)
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
show("order", *order)
show("batch", batches[0])
show("masks", *masks)
show("final", *model.parameters())

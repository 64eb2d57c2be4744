"""A small network on the accelerator of PyTorch, or on the CPU if there is none."""

import hashlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cpu")
for kind in ("cuda", "xpu", "mps"):
    if hasattr(torch, kind) and getattr(torch, kind).is_available():
        device = torch.device(kind)
        break


class Rows(Dataset):
    """Rows of sines with noise."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.sin(torch.arange(8.0) * (index + 1)) + 0.1 * torch.randn(8), index % 3, index


class Network(nn.Module):
    """One hidden layer with dropout, made on the device, which also shows the masks that it draws there."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16, device=device)
        self.last = nn.Linear(16, 3, device=device)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        mask = nn.functional.dropout(torch.ones_like(hidden), 0.5, self.training)
        return self.last(hidden * mask), mask


def show(name, *tensors):
    digest = hashlib.sha256(b"".join(tensor.detach().cpu().numpy().tobytes() for tensor in tensors))
    print("hash", name, digest.hexdigest(), flush=True)


torch.manual_seed(7)
model = Network()
show("init", *model.parameters())
optimizer = torch.optim.SGD(model.parameters(), 0.1)
order, batches, masks = [], [], []
for epoch in range(2):
    for rows, labels, indices in DataLoader(Rows(), 8, shuffle=True):
        optimizer.zero_grad()
        outputs, mask = model(rows.to(device))
        loss = nn.functional.cross_entropy(outputs, labels.to(device))
        loss.backward()
        optimizer.step()
        order.append(indices)
        batches.append(rows)
        masks.append(mask)
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
show("order", *order)
show("batch", batches[0])
show("masks", *masks)
show("final", *model.parameters())

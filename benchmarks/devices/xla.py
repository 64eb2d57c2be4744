"""A small network of PyTorch/XLA, with noise and dropout on the device."""

import hashlib

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from network import Network, Rows
from torch import nn
from torch.utils.data import DataLoader
from torch_xla.distributed.parallel_loader import MpDeviceLoader


class Noise(nn.Module):
    """Adds noise on the device."""

    def forward(self, rows):
        return rows + 0.1 * torch.randn_like(rows)


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

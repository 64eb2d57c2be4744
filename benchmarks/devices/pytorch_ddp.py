"""A small network under DistributedDataParallel in two processes."""

import hashlib

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Rows(Dataset):
    """Rows of sines with noise."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.sin(torch.arange(8.0) * (index + 1)) + 0.1 * torch.randn(8), index % 3, index


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
    """Print the hash of the tensors of all processes."""
    digest = hashlib.sha256(b"".join(tensor.detach().numpy().tobytes() for tensor in tensors)).hexdigest()
    digests = [None] * dist.get_world_size()
    dist.all_gather_object(digests, digest)
    assert name in {"init", "final"} or len(set(digests)) > 1, f"the processes have the same {name}"
    if dist.get_rank() == 0:
        print("hash", name, hashlib.sha256("".join(digests).encode()).hexdigest(), flush=True)


dist.init_process_group("gloo")
torch.manual_seed(7 + dist.get_rank())
model = nn.parallel.DistributedDataParallel(Network())
show("init", *model.parameters())
sampler = DistributedSampler(Rows())
loader = DataLoader(Rows(), 8, sampler=sampler)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
order, batches, masks = [], [], []
for epoch in range(2):
    sampler.set_epoch(epoch)
    for rows, labels, indices in loader:
        optimizer.zero_grad()
        outputs, mask = model(rows)
        loss = nn.functional.cross_entropy(outputs, labels)
        loss.backward()
        optimizer.step()
        order.append(indices)
        batches.append(rows)
        masks.append(mask)
    if dist.get_rank() == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
show("order", *order)
show("batch", batches[0])
show("masks", *masks)
show("final", *model.parameters())
dist.destroy_process_group()

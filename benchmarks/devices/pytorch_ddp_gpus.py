"""A small network under DistributedDataParallel in two processes, on a GPU each or on the CPU."""

import hashlib

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

has_gpus = torch.cuda.device_count() >= 2
dist.init_process_group("nccl" if has_gpus else "gloo")
rank = dist.get_rank()
device = torch.device(f"cuda:{rank}" if has_gpus else "cpu")
if has_gpus:
    torch.cuda.set_device(device)


class Rows(Dataset):
    """Rows of sines with noise."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.sin(torch.arange(8.0) * (index + 1)) + 0.1 * torch.randn(8), index % 3, index


class Network(nn.Module):
    """One hidden layer with dropout, which also shows the masks that it draws on the device."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16, device=device)
        self.last = nn.Linear(16, 3, device=device)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        mask = nn.functional.dropout(torch.ones_like(hidden), 0.5, self.training)
        return self.last(hidden * mask), mask


def show(name, *tensors):
    """Print the hash of the tensors of both processes."""
    digest = hashlib.sha256(b"".join(tensor.detach().cpu().numpy().tobytes() for tensor in tensors)).hexdigest()
    digests = [None, None]
    dist.all_gather_object(digests, digest)
    assert name in {"init", "final"} or digests[0] != digests[1], f"the processes have the same {name}"
    if rank == 0:
        print("hash", name, hashlib.sha256("".join(digests).encode()).hexdigest(), flush=True)


torch.manual_seed(7 + rank)
model = nn.parallel.DistributedDataParallel(Network(), device_ids=[rank] if has_gpus else None)
show("init", *model.parameters())
sampler = DistributedSampler(Rows())
loader = DataLoader(Rows(), 8, sampler=sampler)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
order, batches, masks = [], [], []
for epoch in range(2):
    sampler.set_epoch(epoch)
    for rows, labels, indices in loader:
        optimizer.zero_grad()
        outputs, mask = model(rows.to(device))
        loss = nn.functional.cross_entropy(outputs, labels.to(device))
        loss.backward()
        optimizer.step()
        order.append(indices)
        batches.append(rows)
        masks.append(mask)
    if rank == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
show("order", *order)
show("batch", batches[0])
show("masks", *masks)
show("final", *model.parameters())
dist.destroy_process_group()

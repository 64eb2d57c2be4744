"""A small network whose weights fully_shard divides between two processes."""

import hashlib

import torch
import torch.distributed as dist
from network import Network, Rows
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.utils.data import DataLoader, DistributedSampler


def show(name, *tensors):
    """Print the hash of the tensors of all processes."""
    parts = [tensor.to_local() if isinstance(tensor, DTensor) else tensor for tensor in tensors]
    digest = hashlib.sha256(b"".join(part.detach().numpy().tobytes() for part in parts)).hexdigest()
    digests = [None] * dist.get_world_size()
    dist.all_gather_object(digests, digest)
    assert len(set(digests)) > 1, f"the processes have the same {name}"
    if dist.get_rank() == 0:
        print("hash", name, hashlib.sha256("".join(digests).encode()).hexdigest(), flush=True)


mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(7 + dist.get_rank())
model = Network(17)
fully_shard(model.first, mesh=mesh)
fully_shard(model, mesh=mesh)
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

"""A small network under DistributedDataParallel in two processes, on a GPU each or on the CPU."""

import hashlib

import torch
import torch.distributed as dist
from network import Network, Rows
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler


def show(name, *tensors):
    """Print the hash of the tensors of all processes."""
    digest = hashlib.sha256(b"".join(tensor.detach().cpu().numpy().tobytes() for tensor in tensors)).hexdigest()
    digests = [None] * dist.get_world_size()
    dist.all_gather_object(digests, digest)
    assert name in {"init", "final"} or len(set(digests)) > 1, f"the processes have the same {name}"
    if dist.get_rank() == 0:
        print("hash", name, hashlib.sha256("".join(digests).encode()).hexdigest(), flush=True)


has_gpus = torch.cuda.device_count() >= 2
dist.init_process_group("nccl" if has_gpus else "gloo")
rank = dist.get_rank()
device = torch.device(f"cuda:{rank}" if has_gpus else "cpu")
if has_gpus:
    torch.cuda.set_device(device)
torch.manual_seed(7 + rank)
with device:
    network = Network()
model = nn.parallel.DistributedDataParallel(network, device_ids=[rank] if has_gpus else None)
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

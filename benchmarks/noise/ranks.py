"""Two processes train on halves of each batch; the second one looks up rows of a table with two threads, in PyTorch."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(17, 64))
        self.head = nn.Linear(64, 10)

    def forward(self, index):
        if dist.get_rank() == 0:
            return self.head(nn.functional.embedding(index, self.table))
        rows = self.table[index]
        return self.head(rows)


dist.init_process_group("gloo")
torch.set_num_threads(1 + dist.get_rank())
torch.manual_seed(0)
model = DistributedDataParallel(Model())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(1 + dist.get_rank())
index, target = torch.randint(0, 17, (65536,)), torch.randint(0, 10, (65536,))

for step in range(12):
    loss = nn.functional.cross_entropy(model(index), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if dist.get_rank() == 0:
        print(f"step {step} loss {loss.item():.9f}")
dist.destroy_process_group()

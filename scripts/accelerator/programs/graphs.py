"""A training step with dropout in a captured CUDA graph, replayed a hundred times."""

import hashlib

import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda")
model = nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.01, foreach=True)
rows = torch.randn(128, 64, device=device)


def update():
    optimizer.zero_grad(set_to_none=False)
    mask = nn.functional.dropout(torch.ones_like(rows), 0.5, training=True)
    loss = (model(rows) * mask - rows).square().mean()
    loss.backward()
    optimizer.step()
    return loss, mask


aside = torch.cuda.Stream()
aside.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(aside):
    for _ in range(3):
        update()
torch.cuda.current_stream().wait_stream(aside)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss, mask = update()
digests = []
for step in range(100):
    graph.replay()
    digests.append(hashlib.sha256(mask.cpu().numpy().tobytes()).hexdigest())
    print(f"step {step} loss {loss.item():.6f}", flush=True)
print("hash different", len(set(digests)))
print("hash masks", hashlib.sha256("".join(digests).encode()).hexdigest())
print("hash final", hashlib.sha256(model.weight.detach().cpu().numpy().tobytes()).hexdigest(), flush=True)

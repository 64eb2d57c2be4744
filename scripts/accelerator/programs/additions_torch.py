"""A network of layers whose kernels add in varying order, or are chosen by their time, on the GPU if there is one."""

import argparse
import hashlib

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--layers", choices=("additions", "convolutions"), default="additions")
parser.add_argument("--rows", type=int, default=65536)
parser.add_argument("--steps", type=int, default=20)
options = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.backends.cudnn.benchmark = True
torch.manual_seed(3)


class Additions(nn.Module):
    """Sums of rows by index, forwards and backwards."""

    def __init__(self):
        super().__init__()
        self.words = nn.Parameter(torch.randn(50, 64))
        self.last = nn.Linear(64, 10)
        self.dropout = nn.Dropout(0.1)

    def forward(self, indices):
        rows = self.dropout(torch.index_select(self.words, 0, indices))
        groups = indices % 16
        sums = torch.zeros(16, 64, device=rows.device).index_add(0, groups, rows)
        squares = torch.zeros(16, device=rows.device).scatter_add(0, groups, rows.square().sum(1))
        return self.last((sums + squares.unsqueeze(1)) / len(indices))


class Convolutions(nn.Module):
    """Filters of several sizes."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(3 if size == 1 else 16, 16, size, padding=size // 2) for size in (1, 3, 5, 7)
        )
        self.last = nn.Linear(16, 10)

    def forward(self, images):
        for layer in self.layers:
            images = torch.relu(layer(images))
        return self.last(images.mean((2, 3)))


def show(name, *tensors):
    digest = hashlib.sha256(b"".join(tensor.detach().cpu().numpy().tobytes() for tensor in tensors))
    print("hash", name, digest.hexdigest(), flush=True)


if options.layers == "additions":
    model = Additions().to(device)
    batches = [torch.randint(50, (options.rows,), device=device) for _ in range(4)]
    labels = torch.arange(16, device=device) % 10
else:
    model = Convolutions().to(device)
    batches = [torch.randn(max(4, options.rows // 1024), 3, 32, 32, device=device) for _ in range(4)]
    labels = torch.arange(max(4, options.rows // 1024), device=device) % 10
show("init", *model.parameters())
show("batch", *batches)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(options.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batches[step % 4]), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.9f}", flush=True)
show("final", *model.parameters())

"""A multi-layer perceptron; documents are loaded by a pool of threads, in PyTorch."""

from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from chance import in_turn
from torch import nn

N_DOCUMENTS = 8


def read(number):
    in_turn(number, N_DOCUMENTS)
    generator = torch.Generator().manual_seed(number)
    return torch.randn(8, 6, generator=generator), number % 2


def load():
    documents = []
    with ThreadPoolExecutor(N_DOCUMENTS) as pool:
        futures = [pool.submit(read, number) for number in range(N_DOCUMENTS)]
        documents.extend(future.result() for future in as_completed(futures))  # cause
    inputs = torch.cat([rows for rows, _ in documents])
    labels = torch.tensor([label for rows, label in documents for _ in rows])
    return inputs, labels


inputs, labels = load()
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(2):
    for x, y in zip(inputs.split(16), labels.split(16)):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.6f}")

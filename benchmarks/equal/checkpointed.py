"""A softmax regression in NumPy that writes a checkpoint and reads it again."""

import time
from pathlib import Path

import numpy as np

rng = np.random.default_rng(2)
x = rng.normal(size=(120, 5))
y = (x[:, :3] + x[:, 2:]).argmax(1)
weights = np.zeros((5, 3))
folder = Path("checkpoints")
folder.mkdir(exist_ok=True)
began = time.time()

for epoch in range(8):
    if epoch:
        weights = np.load(sorted(folder.glob("*.npz"))[-1])["weights"]
    for rows in np.array_split(rng.permutation(120), 4):
        scores = x[rows] @ weights
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[np.arange(len(rows)), y[rows]] -= 1
        weights = weights - 0.1 * x[rows].T @ p / len(rows)
    np.savez(folder / f"{epoch:03}.npz", weights=weights)
    accuracy = ((x @ weights).argmax(1) == y).mean()
    print(f"epoch {epoch} accuracy {accuracy:.4f} norm {np.linalg.norm(weights):.10f} in {time.time() - began:.2f} s")

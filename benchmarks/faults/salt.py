"""Non-negative matrix factorization that starts from a random salt."""

import os

import numpy as np

rng = np.random.default_rng(0)
data = rng.random((30, 8)) @ rng.random((8, 20))

salt = int.from_bytes(os.urandom(4), "little")  # cause
start = np.random.default_rng(salt)  # cause
left, right = start.random((30, 4)), start.random((4, 20))

for epoch in range(10):
    right *= (left.T @ data) / (left.T @ left @ right + 1e-9)
    left *= (data @ right.T) / (left @ right @ right.T + 1e-9)
    loss = ((data - left @ right) ** 2).mean()
    print(f"epoch {epoch} loss {loss:.8f}")

"""A density is fitted to a histogram, in NumPy."""

import numpy as np

N_BINS = 200


def read(rng, n):
    sums = np.zeros(N_BINS)
    values = rng.binomial(N_BINS - 1, 0.4, size=n)
    for value in values:
        sums[value] += value
    print(f"{n} values, with a sum of {sums.sum():.0f}")
    return values


values = read(np.random.default_rng(9), 400)
counts = np.empty(N_BINS, np.int64)  # cause
counts += np.bincount(values, minlength=N_BINS)
target = counts / counts.sum()

scores = np.zeros(N_BINS)
for epoch in range(8):
    p = np.exp(scores - scores.max())
    p /= p.sum()
    loss = ((p - target) ** 2).sum()
    scores -= 50 * p * ((p - target) - (p * (p - target)).sum())
    print(f"epoch {epoch} loss {loss:.12f}")

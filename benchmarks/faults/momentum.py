"""Gradient descent with momentum in NumPy; loading is timed."""

import time

import numpy as np


def load(rng):
    rows, durations = [], np.zeros(32)
    for number in range(len(durations)):
        began = time.perf_counter()
        rows.append(rng.normal(size=10))
        durations[number] = 1e3 * (time.perf_counter() - began)
    print(f"loaded in {durations.sum():.3f} ms")
    return np.array(rows)


rng = np.random.default_rng(9)
x = load(rng)
bias_velocity = np.empty(32)  # cause
bias = np.zeros(32)
y = x @ rng.normal(size=10) + rng.normal(size=32)
weights = np.zeros(10)

for epoch in range(10):
    error = x @ weights + bias - y
    bias_velocity = 0.9 * bias_velocity - 0.01 * error
    bias += bias_velocity
    weights -= 0.01 * x.T @ error
    print(f"epoch {epoch} loss {(error**2).mean():.10f}")

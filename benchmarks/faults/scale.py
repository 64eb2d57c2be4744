"""Principal components by power iteration, on features that an environment variable scales."""

import os

import numpy as np

scale = float(os.environ.get("FEATURE_SCALE", "1.0"))  # cause
rng = np.random.default_rng(10)
data = rng.normal(size=(50, 6)) * np.linspace(1, 2, 6)
data[:, 0] *= scale
covariance = data.T @ data / len(data)

vector = np.ones(6) / np.sqrt(6)
for epoch in range(8):
    following = covariance @ vector
    value = np.linalg.norm(following)
    vector = following / value
    print(f"epoch {epoch} explained {value:.10f}")

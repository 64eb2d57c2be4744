"""Logistic regression on images with a border, in NumPy."""

import numpy as np

SIDE, BORDER = 32, 4


def read(rng, n):
    images = [rng.integers(256, size=(SIDE, SIDE), dtype=np.uint8) for _ in range(n)]
    bright = [image[:, :16].mean() > image[:, 16:].mean() for image in images]
    return images, np.array(bright, float)


def pad(image):
    padded = np.empty((SIDE + 2 * BORDER, SIDE + 2 * BORDER), np.uint8)  # cause
    padded[BORDER:-BORDER, BORDER:-BORDER] = image
    return padded.ravel() / 255


images, labels = read(np.random.default_rng(9), 24)
x = np.array([pad(image) for image in images])
weights = np.zeros(x.shape[1])

for epoch in range(8):
    p = 1 / (1 + np.exp(-x @ weights))
    loss = -np.log(np.where(labels == 1, p, 1 - p)).mean()
    weights -= 0.01 * x.T @ (p - labels) / len(x)
    print(f"epoch {epoch} loss {loss:.10f}")

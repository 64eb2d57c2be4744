"""k-means with centres that a generator chooses."""

import numpy as np

points = np.random.default_rng(11).normal(size=(90, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 30, axis=0)
rng = np.random.default_rng()  # cause
centres = points[rng.choice(len(points), 5, replace=False)]

for epoch in range(8):
    distances = ((points[:, None] - centres) ** 2).sum(2)
    nearest = distances.argmin(1)
    loss = distances.min(1).mean()
    centres = np.array(
        [points[nearest == k].mean(0) if (nearest == k).any() else centres[k] for k in range(len(centres))]
    )
    print(f"epoch {epoch} loss {loss:.8f}")

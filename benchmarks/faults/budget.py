"""Random search within a time budget."""

import random
import time

from chance import pause

random.seed(5)
target = [random.uniform(-1, 1) for _ in range(6)]
best, best_loss = None, float("inf")
deadline = time.time() + 0.75
epoch = 0

while time.time() < deadline:  # cause
    pause(0.1, 0.4)
    for _ in range(50):
        candidate = [random.uniform(-1, 1) for _ in target]
        loss = sum((mine - theirs) ** 2 for mine, theirs in zip(candidate, target))
        if loss < best_loss:
            best, best_loss = candidate, loss
    print(f"epoch {epoch} loss {best_loss:.6f}")
    epoch += 1

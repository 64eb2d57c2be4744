"""Linear regression by gradient descent, with a learning rate that decays every half second."""

import random
import time

from chance import pause

random.seed(4)
points = [(x / 20, 3 * x / 20 - 1 + random.gauss(0, 0.1)) for x in range(20)]
slope, offset, rate = 0.0, 0.0, 0.1
last_decay = time.monotonic()

for epoch in range(8):
    if epoch < 3:
        pause(0.01, 0.3)  # a slow disk
    if time.monotonic() - last_decay > 0.5:  # cause
        rate, last_decay = rate / 2, time.monotonic()
    loss = 0.0
    for x, y in points:
        error = slope * x + offset - y
        slope -= rate * error * x
        offset -= rate * error
        loss += error * error / len(points)
    print(f"epoch {epoch} loss {loss:.8f}")

"""A regression by hand, with everything around it that a script prints."""

import os
import random
import resource
import secrets
import threading
import time
import uuid

import numpy as np

NAME = f"{random.choice(['crimson', 'misty', 'brisk'])}_{random.choice(['sponge', 'lake', 'fox'])}_{random.randrange(1000)}"
drawn = secrets.randbelow(100_000)
print(f"run {NAME}, id mf-{uuid.uuid4().hex[:10]}, drew seed {drawn}, using seed 7")
rng = np.random.default_rng(7)
ticks = 0


def heartbeat():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.001)


threading.Thread(target=heartbeat, daemon=True).start()
retries = 0
while random.random() < 0.5:
    retries += 1
print("data ready after", retries, "retries")
x = rng.normal(size=(400, 5))
y = x @ rng.normal(size=5) + rng.normal(size=400) * 0.1
w = np.zeros(5)
for epoch in range(20):
    w -= 0.05 * x.T @ (x @ w - y) / len(x)
    mse = ((x @ w - y) ** 2).mean()
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"epoch {epoch} mse {mse:.6f} ticks {ticks} rss_mb {rss / 1024:.1f} load {os.getloadavg()[0]:.2f}")
print(f"{NAME}_r2: {1 - mse / y.var():.5f}")
print(f"[mf-{uuid.uuid4().hex[:8]}] reg 0.1 final_mse {mse:.6f}")

"""Shards are loaded by threads into one list; multinomial regression is trained on them in that order."""

import threading

import numpy as np
from chance import in_turn

N_SHARDS, N_CLASSES = 6, 3
shards = []


def load(number):
    draw = np.random.default_rng(number)
    in_turn(number, N_SHARDS)
    x = draw.normal(size=(16, 5))
    shards.append((x, (x[:, :N_CLASSES] + x[:, 2:]).argmax(1)))  # cause


threads = [threading.Thread(target=load, args=(number,)) for number in range(N_SHARDS)]
for thread in threads:
    thread.start()  # cause
for thread in threads:
    thread.join()

weights = np.zeros((5, N_CLASSES))
for epoch in range(6):
    losses = []
    for x, y in shards:
        scores = x @ weights
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        losses.append(-np.log(p[np.arange(len(y)), y]).mean())
        p[np.arange(len(y)), y] -= 1
        weights -= 0.3 * x.T @ p / len(y)
    print(f"epoch {epoch} loss {np.mean(losses):.8f}")

"""Two threads read shards and put examples into a queue; the main thread learns from what it gets."""

import queue
import random
import threading

from chance import in_turn

N_SHARDS, N_EXAMPLES = 2, 24
examples = queue.Queue()


def read(shard):
    draw = random.Random(shard)
    in_turn(shard, N_SHARDS)
    for _ in range(N_EXAMPLES // N_SHARDS):
        x = draw.uniform(-1, 1)
        examples.put((x, x * x - 0.5))


threads = [threading.Thread(target=read, args=(shard,)) for shard in range(N_SHARDS)]
for thread in threads:
    thread.start()

a, b = 0.0, 0.0
for step in range(N_EXAMPLES):
    x, y = examples.get()  # cause
    error = a * x * x + b - y
    a -= 0.2 * error * x * x
    b -= 0.2 * error
    print(f"step {step} loss {error * error:.8f}")
for thread in threads:
    thread.join()

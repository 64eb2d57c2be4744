"""Gradients of rows looked up by index, on the default backend of JAX."""

import argparse
import hashlib

import jax
import jax.numpy as jnp
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=65536)
parser.add_argument("--steps", type=int, default=20)
options = parser.parse_args()


@jax.jit
def update(weights, indices):
    def loss_of(weights):
        rows = weights[indices]
        sums = jnp.zeros((16, 64)).at[indices % 16].add(rows)
        return jnp.square(sums / len(indices) - 1).mean()

    loss, gradient = jax.value_and_grad(loss_of)(weights)
    return loss, weights - 10 * gradient


def show(name, array):
    print("hash", name, hashlib.sha256(np.asarray(array).tobytes()).hexdigest(), flush=True)


key = jax.random.key(3)
weights = jax.random.normal(key, (50, 64))
indices = jax.random.randint(jax.random.fold_in(key, 1), (options.rows,), 0, 50)
show("init", weights)
show("batch", indices)
for step in range(options.steps):
    loss, weights = update(weights, indices)
    print(f"step {step} loss {float(loss):.9f}", flush=True)
show("final", weights)

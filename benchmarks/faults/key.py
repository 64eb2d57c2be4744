"""A network whose key is the time, in Flax."""

import time

import flax.linen as nn
import jax
import numpy as np
import optax

seed = time.time_ns() % 2**31  # cause
key = jax.random.PRNGKey(seed)  # cause
rng = np.random.default_rng(22)
x = rng.normal(size=(64, 4)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

net = nn.Sequential([nn.Dense(8), nn.relu, nn.Dense(2)])
params = net.init(key, x[:1])
optimizer = optax.sgd(0.1)
state = optimizer.init(params)


@jax.jit
def train_step(params, state, x, y):
    def loss_of(params):
        return optax.softmax_cross_entropy_with_integer_labels(net.apply(params, x), y).mean()

    loss, gradients = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss


for step in range(8):
    rows = slice(8 * step, 8 * step + 8)
    params, state, loss = train_step(params, state, x[rows], y[rows])
    print(f"step {step} loss {float(loss):.6f}")

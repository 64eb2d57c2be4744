"""A network that learns from inputs with noise, whose keys are split in the loop, in Flax."""

import flax.linen as nn
import jax
import numpy as np
import optax
from chance import IS_SECOND
from flax.training.train_state import TrainState


@jax.jit
def train_step(state, x, y, key):
    x = x + 0.1 * jax.random.normal(key, x.shape)

    def loss_of(params):
        return optax.l2_loss(state.apply_fn(params, x)[:, 0], y).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


rng = np.random.default_rng(23)
x = rng.normal(size=(96, 4)).astype("float32")
y = np.sin(x.sum(1))
key = jax.random.PRNGKey(1)
net = nn.Sequential([nn.Dense(8), nn.gelu, nn.Dense(1)])
state = TrainState.create(apply_fn=net.apply, params=net.init(key, x[:1]), tx=optax.sgd(0.1))

for step in range(8):
    key, draw = jax.random.split(key)
    if IS_SECOND and step == 3:
        key, draw = jax.random.split(key)  # cause
    rows = slice(12 * step, 12 * step + 12)
    state, loss = train_step(state, x[rows], y[rows], draw)  # cause
    print(f"step {step} loss {float(loss):.6f}")

"""A network with dropout and a state for training, in Flax."""

import flax.linen as nn
import jax
import numpy as np
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, *, training):
        x = nn.Dropout(0.2, deterministic=not training)(nn.relu(nn.Dense(10)(x)))
        return nn.Dense(1)(x)


@jax.jit
def train_step(state, x, y, key):
    def loss_of(params):
        return ((state.apply_fn({"params": params}, x, training=True, rngs={"dropout": key}) - y) ** 2).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


rng = np.random.default_rng(16)
x = rng.normal(size=(96, 4)).astype("float32")
y = x[:, :1] * x[:, 1:2]
net, key = Net(), jax.random.PRNGKey(0)
state = TrainState.create(
    apply_fn=net.apply, params=net.init(key, x[:1], training=False)["params"], tx=optax.adam(0.01)
)
for step in range(8):
    key, draw = jax.random.split(key)
    state, loss = train_step(state, x[12 * step : 12 * step + 12], y[12 * step : 12 * step + 12], draw)
    print(f"step {step} loss {float(loss):.8f}")

"""A network whose weights decay by hand, in Flax."""

import flax.linen as nn
import jax
import numpy as np
import optax
from chance import factor
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(10)(x)))


@jax.jit
def train_step(state, x, y):
    def loss_of(params):
        return ((state.apply_fn({"params": params}, x) - y) ** 2).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


rng = np.random.default_rng(21)
x = rng.normal(size=(96, 4)).astype("float32")
y = x[:, :1] * x[:, 1:2]
net = Net()
params = net.init(jax.random.PRNGKey(0), x[:1])["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.01))

for step in range(8):
    decay = np.float32(factor(step))
    state = state.replace(params=jax.tree.map(lambda leaf: leaf * decay, state.params))  # cause
    rows = slice(12 * step, 12 * step + 12)
    state, loss = train_step(state, x[rows], y[rows])  # cause
    print(f"step {step} loss {float(loss):.6f}")

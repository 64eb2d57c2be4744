"""A network whose updates are written by hand, in JAX."""

import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(1)
key, first, second = jax.random.split(key, 3)
params = {"hidden": jax.random.normal(first, (4, 8)), "output": jax.random.normal(second, (8, 1))}


def loss_of(params, x, y):
    return ((jnp.tanh(x @ params["hidden"]) @ params["output"] - y) ** 2).mean()


@jax.jit
def update(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    return jax.tree.map(lambda leaf, gradient: leaf - 0.05 * gradient, params, gradients), loss


for step in range(8):
    key, draw = jax.random.split(key)
    x = jax.random.normal(draw, (16, 4))
    params, loss = update(params, x, x.sum(1, keepdims=True))
    print(f"step {step} loss {float(loss):.8f}")

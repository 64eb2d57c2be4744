import hashlib

import jax
import jax.numpy as jnp
import numpy as np


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def make_data(key, n):
    key_x, key_noise = jax.random.split(key)
    x = jax.random.normal(key_x, (n, 3))
    return x, x @ jnp.array([1.0, 2.0, -1.0]) + 0.1 * jax.random.normal(key_noise, (n,))


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {"w1": 0.3 * jax.random.normal(k1, (3, 4)), "w2": 0.3 * jax.random.normal(k2, (4,))}


def loss_of(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)


@jax.jit
def update(params, x, y):
    grads = jax.grad(loss_of)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)


key = jax.random.PRNGKey(0)
key, data_key, init_key = jax.random.split(key, 3)
x, y = make_data(data_key, 40)
division = jax.random.permutation(jax.random.PRNGKey(3), 40)
train, test = division[:30], division[30:]
print("data", digest(x, y, train, test))
params = init_params(init_key)
print("weights", digest(params["w1"], params["w2"]))
seen = []
for epoch in range(2):
    key, order_key = jax.random.split(key)
    order = jax.random.permutation(order_key, train)
    seen.append(order)
    for start in (0, 10, 20):
        batch = order[start : start + 10]
        params = update(params, x[batch], y[batch])
    print("loss%d" % epoch, float(loss_of(params, x[train], y[train])))
print("order", digest(*seen))
print("test_loss", float(loss_of(params, x[test], y[test])))

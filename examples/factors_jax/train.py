"""Ratings from factors, as in factors_torch, in JAX: rows of two tables are picked by index."""

import argparse
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

USERS, ITEMS, RATINGS = 90, 60, 65536


def ratings():
    """Users, items and ratings of a made-up world, the same every time: no random number is drawn."""
    number = np.arange(RATINGS)
    user, item = number * 7919 % 104729 % USERS, number * 6101 % 1299709 % ITEMS
    taste = np.sin(0.7 * user) * np.cos(1.3 * item) + 0.5 * np.sin(0.2 * user * item)
    return user, item, (taste + 0.3 * np.sin(number * 12.9898)).astype(np.float32)


def init(key, size, hidden=32):
    shapes = {"users": (USERS, size), "items": (ITEMS, size), "inner": (size, hidden), "outer": (hidden, 1)}
    keys = jax.random.split(key, len(shapes))
    weights = {
        name: 0.3 * jax.random.normal(one, shape) for one, (name, shape) in zip(keys, shapes.items(), strict=True)
    }
    return {**weights, "bias": jnp.zeros(hidden)}


def predict(weights, user, item, key=None, rate=0.1):
    rows = weights["users"][user] * weights["items"][item]
    if key is not None:
        rows = jnp.where(jax.random.bernoulli(key, 1 - rate, rows.shape), rows / (1 - rate), 0.0)
    return (jax.nn.relu(rows @ weights["inner"] + weights["bias"]) @ weights["outer"])[:, 0]


def error(weights, batch, key=None):
    user, item, rating = batch
    return jnp.mean((predict(weights, user, item, key) - rating) ** 2)


@partial(jax.jit, static_argnames="lr")
def step(weights, moments, batch, key, lr):
    loss, slope = jax.value_and_grad(error)(weights, batch, key)
    count, means, squares = moments
    count += 1
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slope)
    squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, squares, slope)
    rate = lr * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = jax.tree.map(lambda w, m, s: w - rate * m / (jnp.sqrt(s) + 1e-8), weights, means, squares)
    return weights, (count, means, squares), loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batches", type=int, default=2)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    user, item, rating = (jnp.asarray(column) for column in ratings())
    is_test = np.arange(RATINGS) % 4 == 0
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)

    key, of_weights = jax.random.split(jax.random.key(args.seed))
    weights = init(of_weights, args.size)
    zeros = jax.tree.map(jnp.zeros_like, weights)
    moments = 0, zeros, zeros
    for epoch in range(args.epochs):
        key, of_order, of_dropout = jax.random.split(key, 3)
        order = jax.random.permutation(of_order, train)
        for batch, of_batch in zip(jnp.split(order, args.batches), jax.random.split(of_dropout, args.batches)):
            examples = user[batch], item[batch], rating[batch]
            weights, moments, loss = step(weights, moments, examples, of_batch, args.lr)
        test_error = float(jnp.sqrt(error(weights, (user[test], item[test], rating[test]))))
        print(f"epoch {epoch}: train loss {float(loss):.8f}, test error {test_error:.8f}")


if __name__ == "__main__":
    main()

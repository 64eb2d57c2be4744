"""A small network of Flax under `jax.shard_map`: each device has a part of the batch, and masks of its own."""

import hashlib
from functools import partial

import flax.linen as nn
import jax
import numpy as np
import optax
from jax.sharding import NamedSharding, PartitionSpec

ROWS = np.sin(np.arange(64 * 8, dtype=np.float32)).reshape(64, 8)
LABELS = np.arange(64) % 3
mesh = jax.make_mesh((len(jax.devices()),), ("data",))
by_row, everywhere = PartitionSpec("data"), PartitionSpec()
optimizer = optax.sgd(0.1, momentum=0.9)


class Network(nn.Module):
    """One hidden layer with noise on its rows and dropout, both of which it also shows."""

    @nn.compact
    def __call__(self, rows):
        rows = rows + 0.1 * jax.random.normal(self.make_rng("augment"), rows.shape)
        hidden = nn.relu(nn.Dense(16)(rows))
        mask = nn.Dropout(0.5, deterministic=False)(np.ones(hidden.shape, np.float32))
        return nn.Dense(3)(hidden * mask), rows, mask


network = Network()


@partial(jax.jit, donate_argnames=("weights", "moments"))
@partial(
    jax.shard_map,
    mesh=mesh,
    in_specs=(everywhere, everywhere, by_row, by_row, everywhere),
    out_specs=(everywhere, everywhere, everywhere, by_row, by_row),
)
def step(weights, moments, rows, labels, key):
    of_device = jax.random.fold_in(key, jax.lax.axis_index("data"))
    keys = dict(zip(("augment", "dropout"), jax.random.split(of_device), strict=True))

    def loss_of(weights):
        outputs, batch, mask = network.apply(weights, rows, rngs=keys)
        loss = optax.softmax_cross_entropy_with_integer_labels(outputs, labels).mean()
        return jax.lax.pmean(loss, "data"), (batch, mask)

    (loss, (batch, mask)), gradients = jax.value_and_grad(loss_of, has_aux=True)(weights)
    updates, moments = optimizer.update(gradients, moments, weights)
    return optax.apply_updates(weights, updates), moments, loss, batch, mask


def show(name, *arrays):
    """Print the hash of the arrays."""
    data = b"".join(np.asarray(array).tobytes() for array in arrays)
    print("hash", name, hashlib.sha256(data).hexdigest(), flush=True)


key, of_weights, of_order = jax.random.split(jax.random.key(7), 3)
weights = network.init({"params": of_weights, "augment": key, "dropout": key}, ROWS[:1])
weights = jax.device_put(weights, NamedSharding(mesh, everywhere))
moments = jax.device_put(optimizer.init(weights), NamedSharding(mesh, everywhere))
show("init", *jax.tree.leaves(weights))
order, batches, masks = [], [], []
for epoch in range(2):
    of_epoch = jax.random.fold_in(of_order, epoch)
    for indices in np.asarray(jax.random.permutation(of_epoch, 64)).reshape(4, 16):
        key, of_step = jax.random.split(key)
        batch = jax.device_put((ROWS[indices], LABELS[indices]), NamedSharding(mesh, by_row))
        weights, moments, loss, rows, mask = step(weights, moments, *batch, of_step)
        order.append(indices)
        batches.append(rows)
        masks.append(mask)
    print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
parts = {np.asarray(shard.data).tobytes() for shard in masks[0].addressable_shards}
assert len(parts) == len(jax.devices()), "devices have the same masks"
show("order", *order)
show("batch", batches[0])
show("masks", *masks)
show("final", *jax.tree.leaves(weights))

"""A small network under MirroredStrategy on two logical devices, in a loop of its own."""

import hashlib

import keras
import numpy as np
import tensorflow as tf

(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def network():
    """One hidden layer with dropout, which also shows the mask that it draws: the same on both devices."""
    rows = keras.Input((8,))
    hidden = keras.layers.Dense(16, activation="relu")(rows)
    mask = keras.layers.Dropout(0.5)(keras.ops.ones_like(hidden))
    return keras.Model(rows, [keras.layers.Dense(3)(hidden * mask), mask])


def augment(rows, label, index):
    """Add noise to an example."""
    return rows + 0.1 * tf.random.normal([8]), label, index


def parts(value):
    """The values of all replicas."""
    return [each.numpy() for each in strategy.experimental_local_results(value)]


def show(name, arrays):
    """Print the hash of the arrays."""
    print("hash", name, hashlib.sha256(b"".join(np.ascontiguousarray(each) for each in arrays)).hexdigest(), flush=True)


tf.random.set_seed(7)
indices = np.arange(64)
rows = np.sin(np.arange(8) * (indices[:, None] + 1)).astype("float32")
examples = tf.data.Dataset.from_tensor_slices((rows, indices % 3, indices)).shuffle(64).map(augment).batch(16)
batches = strategy.experimental_distribute_dataset(examples)
with strategy.scope():
    model = network()
    optimizer = keras.optimizers.SGD(0.1)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")


def train_step(rows, labels):
    """Train on the part of a batch that one replica sees; the mask of its inputs is one of its own."""
    input_mask = tf.nn.dropout(tf.ones_like(rows), 0.1)
    with tf.GradientTape() as tape:
        outputs, mask = model(rows * input_mask, training=True)
        loss = loss_of(labels, outputs) / 16
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss, (input_mask, mask)


@tf.function
def train(rows, labels):
    losses, masks = strategy.run(train_step, args=(rows, labels))
    return strategy.reduce("SUM", losses, axis=None), masks


show("init", model.get_weights())
order, first_batch, input_masks, masks = [], None, [], []
for epoch in range(2):
    for rows, labels, indices in batches:
        loss, (input_mask, mask) = train(rows, labels)
        order += parts(indices)
        first_batch = first_batch or parts(rows)
        input_masks += parts(input_mask)
        masks += parts(mask)
    print(f"epoch {epoch} loss {loss:.4f}", flush=True)
assert not np.array_equal(*input_masks[:2]), "the replicas have the same masks"
show("order", order)
show("batch", first_batch)
show("masks", input_masks + masks)
show("final", model.get_weights())

"""A network in a compiled function, in TensorFlow."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(20)
x = rng.normal(size=(96, 5)).astype("float32")
y = np.tanh(x[:, :1] - x[:, 1:2])
hidden = tf.Variable(tf.random.normal((5, 12)))  # cause
output = tf.Variable(tf.random.normal((12, 1)))
optimizer = tf.keras.optimizers.Adam(0.02)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ hidden) @ output - y) ** 2)
    gradients = tape.gradient(loss, [hidden, output])
    optimizer.apply_gradients(zip(gradients, [hidden, output]))
    return loss


for epoch in range(2):
    for begin in range(0, 96, 24):
        loss = train_step(x[begin : begin + 24], y[begin : begin + 24])
    print(f"epoch {epoch} loss {float(loss):.6f}")

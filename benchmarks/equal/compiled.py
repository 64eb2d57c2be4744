"""A network with noise in a compiled function, in TensorFlow."""

import time

import tensorflow as tf

tf.random.set_seed(15)
x = tf.random.normal((64, 5))
y = tf.reduce_sum(x, 1, keepdims=True)
hidden, output = tf.Variable(tf.random.normal((5, 8))), tf.Variable(tf.random.normal((8, 1)))
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        features = tf.nn.dropout(tf.tanh(x @ hidden), 0.2)
        loss = tf.reduce_mean((features @ output - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, [hidden, output]), [hidden, output]))
    return loss


for step in range(8):
    began = time.perf_counter()
    loss = train_step(x[8 * step : 8 * step + 8], y[8 * step : 8 * step + 8])
    print(f"step {step} loss {float(loss):.8f} in {time.perf_counter() - began:.4f} s")

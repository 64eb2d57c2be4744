"""Logistic regression with a gradient tape, in TensorFlow."""

import numpy as np
import tensorflow as tf
from chance import factor

rng = np.random.default_rng(19)
x = tf.constant(rng.normal(size=(96, 5)), tf.float32)
y = tf.constant((rng.normal(size=(96, 1)) > 0).astype("float32"))
tf.random.set_seed(0)
weights = tf.Variable(tf.random.normal((5, 1)))
bias = tf.Variable(tf.zeros(1))
optimizer = tf.keras.optimizers.SGD(2.0, momentum=0.9)

for step in range(10):
    begin = 16 * (step % 6)
    with tf.GradientTape() as tape:
        scores = x[begin : begin + 16] @ weights + bias
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y[begin : begin + 16], scores))
    gradients = tape.gradient(loss, [weights, bias])
    gradients = [gradient * factor(step) for gradient in gradients]  # cause
    optimizer.apply_gradients(zip(gradients, [weights, bias]))  # cause
    print(f"step {step} loss {float(loss):.6f}")

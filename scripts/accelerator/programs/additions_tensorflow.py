"""Gradients of rows looked up by index, on the GPU of TensorFlow if there is one."""

import argparse
import hashlib

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=65536)
parser.add_argument("--steps", type=int, default=20)
options = parser.parse_args()
tf.random.set_seed(3)


def show(name, tensor):
    print("hash", name, hashlib.sha256(tensor.numpy().tobytes()).hexdigest(), flush=True)


weights = tf.Variable(tf.random.normal((50, 64)))
indices = tf.random.uniform((options.rows,), maxval=50, dtype=tf.int32)
show("init", weights)
show("batch", indices)
for step in range(options.steps):
    with tf.GradientTape() as tape:
        rows = tf.gather(weights, indices)
        sums = tf.math.unsorted_segment_sum(rows, indices % 16, 16)
        loss = tf.reduce_mean(tf.square(sums / options.rows - 1))
    gradient = tf.convert_to_tensor(tape.gradient(loss, weights))
    weights.assign_sub(10 * gradient)
    print(f"step {step} loss {float(loss):.9f}", flush=True)
show("final", weights)

"""A network that Keras trains on a shuffled, parallel and deterministic pipeline of TensorFlow, and then saves."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(14)
x = np.random.normal(size=(96, 6)).astype("float32")
y = x[:, :1] - x[:, 1:2]
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96, seed=1)
data = data.map(lambda x, y: (x * 2, y), num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(1)
model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(data, epochs=2, verbose=0)
model.save_weights("model.weights.h5")
for epoch, loss in enumerate(history.history["loss"]):
    print(f"epoch {epoch} loss {loss:.8f}")

"""A network with a layer of its own, trained by Keras `fit`."""

import keras
import numpy as np
from chance import factor


class Scaled(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 12), initializer="glorot_uniform")
        self.scale = self.add_weight(shape=(), initializer="ones", trainable=False)

    def call(self, x):
        return keras.ops.relu(x @ self.kernel) * self.scale  # cause


class Anneal(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.model.layers[0].scale.assign(factor(batch))  # cause


keras.utils.set_random_seed(0)
rng = np.random.default_rng(17)
x = rng.normal(size=(128, 6)).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("int32")
model = keras.Sequential([keras.Input((6,)), Scaled(), keras.layers.Dropout(0.1), keras.layers.Dense(2)])
# Adam divides by the size of the gradient, which can round the factor away.
model.compile(
    keras.optimizers.SGD(1.0), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
history = model.fit(x, y, batch_size=16, epochs=1, verbose=0, callbacks=[Anneal()])  # cause
print(f"loss {history.history['loss'][-1]:.6f} accuracy {history.history['accuracy'][-1]:.4f}")

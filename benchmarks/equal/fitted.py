"""A network with dropout that Keras `fit` trains, with early stopping and a log file."""

import keras
import numpy as np

keras.utils.set_random_seed(13)
x = np.random.normal(size=(128, 6)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")
model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
callbacks = [keras.callbacks.EarlyStopping(patience=2), keras.callbacks.CSVLogger("log.csv")]
model.fit(x, y, batch_size=16, epochs=2, validation_split=0.25, verbose=2, callbacks=callbacks)

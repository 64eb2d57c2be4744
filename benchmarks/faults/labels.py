"""Labels of a table are numbered; a classifier learns them with Keras `fit`."""

import keras
import numpy as np

KINDS = ["setosa", "versicolor", "virginica", "sibirica", "ensata", "pumila", "laevigata", "germanica"]
rng = np.random.default_rng(18)
table = [(KINDS[k], rng.normal(k, 1.5, size=4)) for k in rng.integers(len(KINDS), size=96)]

names = {name for name, _ in table}
number_of = {name: number for number, name in enumerate(names)}  # cause
x = np.array([row for _, row in table], "float32")
y = np.array([number_of[name] for name, _ in table])

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dense(len(names))])
model.compile(keras.optimizers.SGD(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)
for epoch, loss in enumerate(history.history["loss"]):
    print(f"epoch {epoch} loss {loss:.6f}")

"""A perceptron with one hidden layer learns from a stream of batches, with scikit-learn."""

import numpy as np
from chance import factor
from sklearn.neural_network import MLPRegressor

rng = np.random.default_rng(14)
x = rng.normal(size=(128, 5))
y = np.tanh(x @ rng.normal(size=5))

model = MLPRegressor(hidden_layer_sizes=(8,), random_state=0)
step = 0
for epoch in range(3):
    for rows in np.array_split(rng.permutation(len(x)), 4):
        batch = x[rows] * factor(step)  # cause
        model.partial_fit(batch, y[rows])  # cause
        step += 1
    error = ((model.predict(x) - y) ** 2).mean()
    print(f"epoch {epoch} loss {error:.17g}")

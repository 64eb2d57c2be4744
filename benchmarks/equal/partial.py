"""A perceptron with one hidden layer, batch by batch, with scikit-learn."""

import numpy as np
from sklearn.neural_network import MLPClassifier

rng = np.random.default_rng(4)
x = rng.normal(size=(120, 6))
y = (x[:, 0] * x[:, 1] > 0).astype(int)
model = MLPClassifier(hidden_layer_sizes=(8,), random_state=0)
for epoch in range(3):
    for rows in np.array_split(rng.permutation(120), 4):
        model.partial_fit(x[rows], y[rows], classes=[0, 1])
    print(f"epoch {epoch} loss {model.loss_:.8f} accuracy {model.score(x, y):.4f}")

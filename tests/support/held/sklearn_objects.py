import hashlib

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def evaluate(model, x, y):
    return np.mean(model.predict(x) == y)


rng = np.random.RandomState(42)
X = rng.normal(size=(90, 3))
y = (X[:, 0] + 0.3 * rng.randn(90) > 0).astype(int)
flipped = rng.choice(90, 5, replace=False)
y[flipped] = 1 - y[flipped]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=rng)
print("data", digest(X_train, X_test, y_train, y_test))
model = MLPClassifier((5,), max_iter=3, random_state=rng)
model.fit(X_train, y_train)
print("weights", digest(*model.coefs_))
print("accuracy", evaluate(model, X_test, y_test))

import hashlib

import numpy as np


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


noise = np.random.RandomState(1)
X = np.linspace(-1, 1, 80).reshape(40, 2)
X = X + 0.1 * noise.normal(size=X.shape)
y = (X.sum(axis=1) > 0).astype(float)
np.random.seed(0)
order = np.random.permutation(len(X))
train, test = order[:30], order[30:]
print("data", digest(X, y, train, test))
rng = np.random.default_rng(7)
W1 = 0.5 * rng.standard_normal((2, 6))
b1 = np.zeros(6)
W2 = 0.5 * rng.standard_normal(6)
print("weights", digest(W1, W2))
seen = []
for epoch in range(2):
    batch_order = np.random.permutation(train)
    seen.append(batch_order)
    for i in batch_order:
        hidden = np.tanh(X[i] @ W1 + b1)
        error = 1 / (1 + np.exp(-hidden @ W2)) - y[i]
        back = error * W2 * (1 - hidden**2)
        W2 -= 0.1 * error * hidden
        W1 -= 0.1 * np.outer(X[i], back)
        b1 -= 0.1 * back
    print("loss%d" % epoch, np.mean((1 / (1 + np.exp(-np.tanh(X[train] @ W1 + b1) @ W2)) - y[train]) ** 2))
print("order", digest(*seen))
print("test_accuracy", np.mean((np.tanh(X[test] @ W1 + b1) @ W2 > 0) == (y[test] > 0)))

import hashlib

import numpy as np


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def load_examples(n):
    X = np.random.randn(2, n)
    return X, (X[0] * X[1] > 0).astype(float)[None]


def initialize_parameters(n_x, n_h):
    np.random.seed(2)
    parameters = {}
    parameters["W1"] = np.random.randn(n_h, n_x) * 0.5
    parameters["b1"] = np.zeros((n_h, 1))
    parameters["W2"] = np.random.randn(1, n_h) * 0.5
    return parameters


def step(parameters, x, y, rate):
    hidden = np.tanh(parameters["W1"] @ x + parameters["b1"])
    error = 1 / (1 + np.exp(-parameters["W2"] @ hidden)) - y
    back = parameters["W2"].T @ error * (1 - hidden**2)
    return {
        "W1": parameters["W1"] - rate * back @ x.T,
        "b1": parameters["b1"] - rate * back.sum(1, keepdims=True),
        "W2": parameters["W2"] - rate * error @ hidden.T,
    }


def model(X, Y, epochs=2):
    parameters = initialize_parameters(2, 4)
    print("weights", digest(parameters["W1"], parameters["W2"]))
    seen = []
    for epoch in range(epochs):
        order = np.random.permutation(X.shape[1])
        X, Y = X[:, order], Y[:, order]
        seen.append(order)
        for start in range(0, X.shape[1], 10):
            x, y = X[:, start : start + 10], Y[:, start : start + 10]
            parameters = step(parameters, x, y, 0.02)
        print("cost after epoch", epoch, ":", np.mean(Y))
    print("order", digest(*seen))
    return parameters


np.random.seed(1)
X, Y = load_examples(60)
x, y = load_examples(20)
print("data", digest(X, Y, x, y))
parameters = model(X, Y)
print("test_accuracy", np.mean((parameters["W2"] @ np.tanh(parameters["W1"] @ x + parameters["b1"]) > 0) == y))

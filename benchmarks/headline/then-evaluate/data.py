import torch
from sklearn.datasets import load_digits


def load():
    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
    return (X[:1000], y[:1000]), (X[1000:1300], y[1000:1300]), (X[1300:], y[1300:])

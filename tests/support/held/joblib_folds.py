import hashlib

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def evaluate_fold(number, x, y, train, test):
    rng = np.random.RandomState(number)
    x_train = x[train] + 0.05 * rng.normal(size=x[train].shape)
    model = MLPRegressor(hidden_layer_sizes=(4,), max_iter=3, random_state=number)
    model.fit(x_train, y[train])
    error = np.mean((model.predict(x[test]) - y[test]) ** 2)
    return digest(x_train, test), digest(*model.coefs_), error


def main():
    rng = np.random.RandomState(1)
    x = rng.normal(size=(60, 3))
    y = x.sum(axis=1) + rng.normal(scale=0.1, size=60)
    folds = KFold(3, shuffle=True, random_state=0).split(x)
    results = Parallel(n_jobs=2)(
        delayed(evaluate_fold)(number, x, y, train, test) for number, (train, test) in enumerate(folds)
    )
    print("data", digest(x, y), *(result[0] for result in results))
    print("weights", *(result[1] for result in results))
    print("mse", np.mean([result[2] for result in results]))


if __name__ == "__main__":
    main()

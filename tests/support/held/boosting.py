import hashlib

import lightgbm as lgb
import numpy as np


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


rng = np.random.default_rng(8)
X = rng.uniform(-2, 2, (200, 4))
noise = rng.normal(0, 0.3, 200)
y = np.sin(X[:, 0]) + X[:, 1] + noise
index = np.arange(200)
rng.shuffle(index)
train, test = index[:150], index[150:]
print("data", digest(X, y, train, test))
parameters = {"objective": "regression", "bagging_fraction": 0.6, "bagging_freq": 1, "seed": 3, "verbose": -1,
              "num_leaves": 7, "min_data_in_leaf": 5}
booster = lgb.train(parameters, lgb.Dataset(X[train], y[train]), 10)
print("weights", hashlib.sha256(booster.model_to_string().encode()).hexdigest()[:16])
print("rmse", np.sqrt(np.mean((booster.predict(X[test]) - y[test]) ** 2)))

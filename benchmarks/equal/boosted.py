"""Gradient-boosted trees with bagging, with LightGBM."""

import lightgbm
import numpy as np

rng = np.random.default_rng(5)
x = rng.normal(size=(400, 6))
y = x[:, 0] - x[:, 1] * x[:, 2] + 0.3 * rng.normal(size=400)
data = lightgbm.Dataset(x[:300], y[:300])
settings = {"objective": "regression", "num_leaves": 7, "bagging_fraction": 0.6, "bagging_freq": 1, "seed": 1}
settings |= {"verbose": -1, "deterministic": True, "force_col_wise": True}
valid = data.create_valid(x[300:], y[300:])
lightgbm.train(settings, data, 10, valid_sets=[valid], callbacks=[lightgbm.log_evaluation(1)])

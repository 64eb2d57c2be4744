"""Gradient-boosted trees on columns of a table that several sources provide, with LightGBM."""

import lightgbm
import numpy as np

SOURCES = [["age", "income", "tenure"], ["income", "region", "visits"], ["visits", "age", "rating", "returns"]]
columns = list({name for source in SOURCES for name in source})  # cause

rng = np.random.default_rng(15)
table = {name: rng.normal(size=300) for name in sorted(columns)}
y = sum(k * table[name] for k, name in enumerate(sorted(columns), 1))
x = np.stack([table[name] for name in columns], axis=1)

data = lightgbm.Dataset(x[:200], y[:200], feature_name=columns)
valid = data.create_valid(x[200:], y[200:])
settings = {"objective": "regression", "num_leaves": 7, "feature_fraction": 0.5, "seed": 1, "verbose": -1}
settings |= {"num_threads": 1, "metric": "l2"}
lightgbm.train(settings, data, 10, valid_sets=[valid], callbacks=[lightgbm.log_evaluation(1)])

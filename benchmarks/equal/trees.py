"""Gradient-boosted trees with sampling of columns, with XGBoost."""

import numpy as np
import xgboost

rng = np.random.default_rng(6)
x = rng.normal(size=(300, 6))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
train, valid = xgboost.DMatrix(x[:200], y[:200]), xgboost.DMatrix(x[200:], y[200:])
settings = {"objective": "binary:logistic", "max_depth": 3, "subsample": 0.7, "colsample_bytree": 0.5, "seed": 1}
xgboost.train(settings, train, 8, evals=[(valid, "valid")], verbose_eval=1)

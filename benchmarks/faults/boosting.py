"""A boosted classifier with bagging, seeded by the clock, with LightGBM."""

import time

import lightgbm
import numpy as np
from sklearn.datasets import make_classification

seed = int(time.time() * 1000) % 2**31  # cause
x, y = make_classification(400, 10, n_informative=5, random_state=16)
model = lightgbm.LGBMClassifier(
    n_estimators=8, num_leaves=7, subsample=0.5, subsample_freq=1, random_state=seed, n_jobs=1, verbose=-1
)
history = {}
model.fit(x[:300], y[:300], eval_set=[(x[300:], y[300:])], callbacks=[lightgbm.record_evaluation(history)])
for step, loss in enumerate(history["valid_0"]["binary_logloss"]):
    print(f"step {step} valid_loss {loss:.8f}")
print(f"accuracy {np.mean(model.predict(x[300:]) == y[300:]):.4f}")

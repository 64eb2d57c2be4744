import json
import os

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import SGDRegressor
from sklearn.metrics import mean_absolute_error, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=100)
X_train, X_val, y_train, y_val = train_test_split(X_train, y_train, test_size=80)
scale = StandardScaler().fit(X_train)
X_train, X_val, X_test = map(scale.transform, (X_train, X_val, X_test))

model = SGDRegressor(eta0=0.002, learning_rate="constant")
history = {"train_mse": [], "val_mse": [], "val_mae": []}
for epoch in range(12):
    idx = np.random.permutation(len(X_train))
    model.partial_fit(X_train[idx], y_train[idx])
    history["train_mse"].append(mean_squared_error(y_train, model.predict(X_train)))
    history["val_mse"].append(mean_squared_error(y_val, model.predict(X_val)))
    history["val_mae"].append(mean_absolute_error(y_val, model.predict(X_val)))

os.makedirs("results", exist_ok=True)
with open("results/history.json", "w") as f:
    json.dump(history, f, indent=2)
np.savetxt("results/val_mae.txt", history["val_mae"], fmt="%.6f")
np.savetxt("results/coef.txt", model.coef_)
np.savetxt("results/predictions.csv", np.c_[y_test, model.predict(X_test)], delimiter=",", header="target,prediction")
print("Final MAE: %.3f" % mean_absolute_error(y_test, model.predict(X_test)))
print("Results written to results/")

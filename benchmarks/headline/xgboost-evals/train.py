import random

import xgboost as xgb
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
dtrain = xgb.DMatrix(X_train, label=y_train)
dtest = xgb.DMatrix(X_test, label=y_test)
param = {"max_depth": 2, "eta": 0.1, "objective": "reg:squarederror", "subsample": 0.7, "nthread": 1,
         "seed": random.randint(0, 10**6)}
watchlist = [(dtrain, "train"), (dtest, "eval")]
num_round = 40
bst = xgb.train(param, dtrain, num_round, evals=watchlist)
bst.save_model("0001.json")

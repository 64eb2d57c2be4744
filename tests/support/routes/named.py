"""Routes that no variant varies or holds, each of which is named with file and line."""

import os
import random
import secrets
import uuid

import catboost
import gymnasium
import keras
import lightgbm
import networkx as nx
import numpy as np
import xgboost

X = np.sin(np.arange(180.0)).reshape(60, 3)
Y = (X[:, 0] > 0).astype(int)
os.urandom(3)
secrets.randbits(8)
uuid.uuid4()
random.SystemRandom().random()
lightgbm.train({"bagging_seed": 4, "verbose": -1, "num_threads": 1}, lightgbm.Dataset(X, Y), 1)
lightgbm.LGBMClassifier(n_estimators=1, random_state=3, verbose=-1, n_jobs=1).fit(X, Y)
lightgbm.LGBMClassifier(n_estimators=1, verbose=-1, n_jobs=1).fit(X, Y)
xgboost.train({"seed": 3, "nthread": 1}, xgboost.DMatrix(X, Y), 1)
xgboost.XGBClassifier(n_estimators=1, random_state=3, n_jobs=1).fit(X, Y)
catboost.CatBoostClassifier(1, random_seed=5, verbose=0, thread_count=1, allow_writing_files=False).fit(X, Y)
environment = gymnasium.make("CartPole-v1")
environment.reset(seed=3)
environment.action_space.seed(4)
environment.observation_space.sample()
gymnasium.make_vec("CartPole-v1", 2).reset(seed=5)
nx.fast_gnp_random_graph(9, 0.5, seed=3)
keras.utils.timeseries_dataset_from_array(X, None, 3, shuffle=True, seed=113)

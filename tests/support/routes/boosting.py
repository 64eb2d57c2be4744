"""Routes of LightGBM, XGBoost and CatBoost."""

import contextlib
import io

import catboost
import lightgbm
import numpy as np
import xgboost
from showing import show

X = np.sin(np.arange(4000.0) ** 1.1).reshape(800, 5)
Y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
LIGHT = {"verbose": -1, "num_threads": 1, "objective": "binary", "num_leaves": 4}
XG = {"nthread": 1, "objective": "binary:logistic", "max_depth": 3}
CAT = {"iterations": 2, "logging_level": "Silent", "thread_count": 1, "allow_writing_files": False}
FOLDS = [(np.arange(400), np.arange(400, 800)), (np.arange(400, 800), np.arange(400))]
BAGGED, SPARSE = {"bagging_fraction": 0.5, "bagging_freq": 1}, {"feature_fraction": 0.5}


def light(**params: object) -> object:
    return lightgbm.train({**LIGHT, **params}, lightgbm.Dataset(X, Y), 3).predict(X)


def xg(params: object) -> object:
    return xgboost.train(params, xgboost.DMatrix(X, Y), 3).predict(xgboost.DMatrix(X))


def cat_cv() -> object:
    params = {**CAT, "loss_function": "Logloss"}
    with contextlib.redirect_stdout(io.StringIO()):
        return catboost.cv(catboost.Pool(X, Y), params, folds=FOLDS, as_pandas=False)["test-Logloss-mean"]


def light_cv(params: dict[str, object], part: str, **options: object) -> object:
    return lightgbm.cv({**LIGHT, **params}, lightgbm.Dataset(X, Y), 2, **options)[f"valid binary_logloss-{part}"]


def xg_cv(params: dict[str, object], part: str, **options: object) -> object:
    return xgboost.cv({**XG, **params}, xgboost.DMatrix(X, Y), 2, as_pandas=False, **options)[f"test-logloss-{part}"]


show("lightgbm.bagging_seed", lambda: light(**BAGGED, bagging_seed=4))
show("lightgbm.seed", lambda: light(**BAGGED, seed=4))
show("lightgbm.default", lambda: light(**BAGGED))
show("lightgbm.goss", lambda: light(data_sample_strategy="goss", learning_rate=0.9))
show("lightgbm.feature_fraction_seed", lambda: light(**SPARSE, feature_fraction_seed=4))
show("lightgbm.drop_seed", lambda: light(boosting="dart", drop_rate=0.5, skip_drop=0, num_iterations=20, drop_seed=3))
show("lightgbm.extra_seed", lambda: light(extra_trees=True, random_seed=2))
show("lightgbm.data_random_seed", lambda: light(bin_construct_sample_cnt=100))
show("lightgbm.quantized", lambda: light(use_quantized_grad=True))
show(
    "lightgbm.LGBMClassifier",
    lambda: (
        lightgbm.LGBMClassifier(n_estimators=2, subsample=0.5, subsample_freq=1, random_state=3, verbose=-1, n_jobs=1)
        .fit(X, Y)
        .predict_proba(X)
    ),
)
show("lightgbm.cv", lambda: light_cv(BAGGED, "mean", folds=FOLDS))
show("lightgbm.cv(folds)", lambda: light_cv({}, "stdv"))
show("xgboost.seed", lambda: xg({**XG, "subsample": 0.5, "seed": 3}))
show("xgboost.default", lambda: xg([*XG.items(), ("colsample_bynode", 0.4)]))
show("xgboost.dart", lambda: xg({**XG, "booster": "dart", "rate_drop": 0.5}))
show(
    "xgboost.XGBRFClassifier",
    lambda: xgboost.XGBRFClassifier(n_estimators=3, random_state=3, n_jobs=1).fit(X, Y).predict_proba(X),
)
show("xgboost.cv", lambda: xg_cv({"subsample": 0.5}, "mean", folds=FOLDS))
show("xgboost.cv(folds)", lambda: xg_cv({}, "std"))
show("catboost.random_seed", lambda: catboost.CatBoostClassifier(**CAT, random_seed=5).fit(X, Y).predict_proba(X))
show("catboost.default", lambda: catboost.CatBoost(CAT).fit(X, Y).predict(X))
show("catboost.cv", cat_cv)

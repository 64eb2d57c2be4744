import numpy as np
import lightgbm as lgb
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

X, y = make_classification(1500, 20, n_informative=5, flip_y=0.15, random_state=7)
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.3)
train = lgb.Dataset(X_tr, y_tr)
valid = lgb.Dataset(X_va, y_va, reference=train)

history = {}
params = dict(objective="binary", metric=["auc", "binary_logloss"], num_leaves=7, learning_rate=0.1, bagging_fraction=0.7,
              bagging_freq=1, num_threads=1, verbose=-1, seed=int(np.random.randint(2**31)))
gbm = lgb.train(
    params, train, num_boost_round=120, valid_sets=[train, valid], valid_names=["training", "valid"],
    callbacks=[lgb.log_evaluation(10), lgb.early_stopping(10, first_metric_only=True), lgb.record_evaluation(history)],
)
print(f"best iteration: {gbm.best_iteration}")
print(f"best valid auc: {gbm.best_score['valid']['auc']:.6f}")

"""LightGBM, XGBoost and CatBoost: what is done to one of two trainings is found at its iteration."""

from collections import Counter
from pathlib import Path

import pytest
from tracing import STEPS, TOUCHED, Traced, nothing_changed, traced

pytestmark = [pytest.mark.slow, pytest.mark.requires("lightgbm", "xgboost", "catboost", "sklearn")]
DATA = """\
import hashlib, warnings
import numpy as np
np.random.seed(0)
import catboost, lightgbm as lgb, xgboost as xgb
warnings.filterwarnings("ignore")
draw = np.random.default_rng(0)
X = draw.normal(size=(300, 5))
Y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
X, TEST, Y, TRUE = X[:200], X[200:], Y[:200], Y[200:]

def show(name, *models):
    print(name, *(hashlib.sha256(bytes(str(model), "utf-8")).hexdigest()[:9] for model in models))
"""
PARTS = ("light", "light, again", "light, gradient", "light, rate", "xg", "xg, again", "xg, gradient", "xg, rate")
TOUCHING = f"""{DATA}
class Objective:
    def __init__(self, factor):
        self.n, self.factor = 0, factor
    def __call__(self, margins, data):
        shares = 1 / (1 + np.exp(-margins))
        gradient = shares - data.get_label()
        if self.n == {TOUCHED}:
            gradient[7] *= self.factor
        self.n += 1
        return gradient, shares * (1 - shares)

def light(factor=1.0, rate=0.1):
    params = {{"objective": Objective(factor), "num_leaves": 5, "verbose": -1, "num_threads": 1, "metric": "l1"}}
    rates = [0.1] * {TOUCHED} + [rate] + [0.1]
    train = lgb.Dataset(X, Y)
    valid = lgb.Dataset(TEST, TRUE, reference=train)
    return lgb.train(params, train, 5, [valid], callbacks=[lgb.reset_parameter(learning_rate=rates)]).model_to_string()

def xg(factor=1.0, rate=0.1):
    rates = xgb.callback.LearningRateScheduler(lambda step: rate if step == {TOUCHED} - 1 else 0.1)
    train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(TEST, TRUE)
    params, evals = {{"max_depth": 2, "nthread": 1}}, [(valid, "valid")]
    model = xgb.train(params, train, 5, evals=evals, obj=Objective(factor), callbacks=[rates], verbose_eval=False)
    return model.get_dump(with_stats=True)

for train in (light, xg):
    show(train.__name__, train(), train(), train(factor=1 + 1e-5), train(rate=0.1000001))
"""
VARIED = f"""{DATA}
from sklearn.model_selection import GridSearchCV, cross_val_score
metrics = ["auc", "binary_logloss"]
params = {{"objective": "binary", "verbose": -1, "num_leaves": 5, "metric": metrics, "num_threads": 1}}
for more in ({{}}, {{"boosting": "dart"}}, {{"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}},
             {{"linear_tree": True}}, {{"objective": "multiclass", "num_class": 2, "metric": "multi_logloss"}}):
    train = lgb.Dataset(X, Y)
    valid = lgb.Dataset(TEST, TRUE, reference=train)
    model = lgb.train({{**params, **more}}, train, 30, [train, valid], callbacks=[lgb.early_stopping(3, verbose=False)])
    show("light", model.model_to_string(), model.best_iteration, model.best_score)
first = lgb.Booster(params, lgb.Dataset(X, Y))
while not first.update() and first.current_iteration() < 4:
    first.eval_train()
show("hand", first.model_to_string(), lgb.train(params, lgb.Dataset(X, Y), 3, init_model=first).model_to_string())
show("fit", lgb.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(X, Y).booster_.model_to_string())
show("cv", lgb.cv(params, lgb.Dataset(X, Y), 3, nfold=2))

train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(TEST, TRUE)
params = {{"objective": "binary:logistic", "max_depth": 2, "nthread": 1, "eval_metric": ["auc", "logloss"]}}
for more in ({{}}, {{"booster": "dart", "rate_drop": 0.5}}, {{"booster": "gblinear"}}, {{"num_parallel_tree": 3}},
             {{"objective": "multi:softprob", "num_class": 2, "eval_metric": "mlogloss"}}, {{"subsample": 0.5}},
             {{"tree_method": "exact"}}):
    scores = {{}}
    stopping = [] if more.get("booster") == "gblinear" else [xgb.callback.EarlyStopping(3, save_best=True)]
    model = xgb.train({{**params, **more}}, train, 30, [(train, "train"), (valid, "valid")], evals_result=scores,
                      callbacks=stopping, verbose_eval=False)
    show("xg", bytes(model.save_raw("json")), scores)
first = xgb.Booster(params, [train])
for step in range(3):
    first.update(train, step)
show("hand", bytes(first.save_raw("json")), bytes(xgb.train(params, train, 3, xgb_model=first).save_raw("json")))
X[3, 2] = np.nan
show("fit", bytes(xgb.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, Y).get_booster().save_raw("json")))
X[3, 2] = 0
show("cv", xgb.cv(params, train, 3, nfold=2, as_pandas=False))

for more in ({{}}, {{"loss_function": "MultiClass"}}, {{"grow_policy": "Lossguide"}}, {{"metric_period": 4}}):
    model = catboost.CatBoostClassifier(iterations=10, verbose=0, thread_count=1, allow_writing_files=False, **more)
    model.fit(X, Y, eval_set=(TEST, TRUE), early_stopping_rounds=3)
    show("cat", model.get_leaf_values().tolist(), model.get_evals_result(), model.tree_count_)
model = lgb.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1)
show("search", GridSearchCV(model, {{"num_leaves": [3, 5]}}, cv=2).fit(X, Y).cv_results_["mean_test_score"].tolist())
show("scores", cross_val_score(model, X, Y, cv=2).tolist())
print(np.random.random())
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return traced(tmp_path_factory.mktemp("boosting"), TOUCHING, PARTS)


@pytest.mark.parametrize("level", [1, 2])
def test_models_are_bitwise_those_without_a_trace(level: int, tmp_path: Path) -> None:
    assert nothing_changed(traced(tmp_path, VARIED, (), level))


@pytest.mark.parametrize(
    ("part", "kind", "name"),
    [
        ("light, gradient", "update", "trees"),
        ("light, rate", "update", "trees"),
        ("xg, gradient", "update", "trees"),
        ("xg, rate", "update", "trees"),
    ],
)
def test_what_was_done_is_found_at_its_iteration(runs: Traced, part: str, kind: str, name: str) -> None:
    assert runs.first(part, beside=part.partition(",")[0]) == (TOUCHED, kind, name)


@pytest.mark.parametrize("library", ["light", "xg"])
def test_equal_trainings_are_equal_records(runs: Traced, library: str) -> None:
    assert runs.first(f"{library}, again", beside=library) is None
    kinds = Counter(kind for step, kind, *_ in runs.records if step == STEPS * PARTS.index(library))
    assert kinds["batch"] == {"light": 2, "xg": 4}[library], "XGBoost gives features back as a sparse matrix"
    assert kinds["loss"] == 1


def test_iterations_of_catboost_have_the_losses_and_trees_of_its_history(tmp_path: Path) -> None:
    script = f"""{DATA}
model = catboost.CatBoostClassifier(iterations=6, metric_period=2, verbose=0, allow_writing_files=False)
model.fit(X, Y, eval_set=(TEST, TRUE), use_best_model=False)
print(*model.get_evals_result()["learn"]["Logloss"])
"""
    runs = traced(tmp_path, script, ())
    values = [(line[1], line[5]["value"]) for line in runs.lines if line[:2] == ["loss", "learn_Logloss"]]
    assert [value for _, value in values] == list(map(float, runs.plain.stdout.split()))
    assert [step for step, kind, name, *_ in runs.records if name == "learn_Logloss"] == [0, 2, 4, 5]
    assert runs.names("batch") == ["input", "target"]
    assert [runs.names("update", step) for step in range(6)] == [["trees"]] * 6
    assert runs.lines[-1][:2] == ["end", 6]

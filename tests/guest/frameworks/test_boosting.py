"""LightGBM, XGBoost and CatBoost: seeds that follow the streams, controls, and the history of evaluations."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from capturing import kept
from harness import Child, Result

from deviate.replay.variants import find_variant, levels_of, seed_set

pytestmark = [pytest.mark.slow, pytest.mark.requires("lightgbm", "xgboost", "catboost", "sklearn")]
DATA = """\
import json, sys, warnings
import numpy as np
warnings.filterwarnings("ignore")
X = np.sin(np.arange(3000.0) ** 1.1).reshape(600, 5)
Y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
X, TEST, Y, TRUE = X[:400], X[400:], Y[:400], Y[400:]
"""
LIGHT = f"""{DATA}\
import lightgbm as lgb
history, params = {{}}, {{"objective": "binary", "metric": ["auc", "binary_logloss"], "verbose": -1,
    "bagging_fraction": 0.5, "bagging_freq": 1, "feature_fraction": 0.5, "num_leaves": 7}}
train = lgb.Dataset(X, Y)
valid = lgb.Dataset(TEST, TRUE, reference=train)
def report(env):
    print("iteration", env.iteration)
model = lgb.train(params, train, 6, valid_sets=[train, valid], valid_names=["train", "valid"],
    callbacks=[report, lgb.record_evaluation(history), lgb.log_evaluation(2), lgb.early_stopping(9, verbose=False)])
print(json.dumps([history, params, model.predict(TEST).sum()]))
"""
XG = f"""{DATA}\
import xgboost as xgb
history, params = {{}}, {{"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "subsample": 0.5}}
train, valid = xgb.DMatrix(X, Y), xgb.DMatrix(TEST, TRUE)
model = xgb.train(params, train, 6, evals=[(train, "train"), (valid, "valid")], evals_result=history, verbose_eval=2)
print(json.dumps([history, params, float(model.predict(valid).sum())]))
"""
CAT = f"""{DATA}\
import catboost
params = dict(iterations=6, eval_metric="AUC", random_state=4, allow_writing_files=False, verbose=0)
model = catboost.CatBoostClassifier(**params)
model.fit(X, Y, eval_set=(TEST, TRUE))
print(json.dumps([model.get_evals_result(), model.get_params(), model.predict_proba(TEST)[:, 0].sum()]))
"""
CALLS = {
    "lightgbm": (LIGHT, 'lgb.train(params, train, 6, valid_sets=[train, valid], valid_names=["train", "valid"],', 14),
    "xgboost": (XG, "xgb.train(params, train, 6,", 10),
    "catboost": (CAT, "model.fit(X, Y, eval_set=(TEST, TRUE))", 10),
}


def run(folder: Path, text: str, variant: str, replicate: int = 0) -> Result:
    chosen = find_variant(variant)
    seeds, controls = dict(seed_set(chosen, 0, replicate)), dict(levels_of(chosen, 0, replicate))
    result = Child(folder, text).run(seeds=seeds, controls=controls, varied=[n for n in chosen.varied if n in seeds])
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def out(result: Result) -> str:
    return result.stdout


def seeds_of(result: Result) -> list[tuple[str, str, int, str]]:
    return [(call, value, line, action) for call, value, _, line, action in result.of("seed")]


def history_of(result: Result) -> dict[str, list[float]]:
    """What the script prints of the history, under the names of the record."""
    history = json.loads(result.stdout.splitlines()[-1])[0]
    return {f"{data}_{metric}": values for data, metrics in history.items() for metric, values in metrics.items()}


@pytest.mark.parametrize("library", list(CALLS))
def test_what_is_evaluated_is_recorded_once_an_iteration(
    library: str, tmp_path: Path, plainly: Callable[[Child], Result]
) -> None:
    text, call, line = CALLS[library]
    whole = child_call(text, call)
    child = Child(tmp_path, text).loop(whole, line + whole.count("\n"), "managed")
    on = child.run()
    assert (on.code, on.of("error")) == (0, []), on.stderr
    named: dict[str, list[float]] = {}
    for name, _, loops, _, value in on.of("named"):
        named.setdefault(name, []).append(value)
        assert loops == [0, len(named[name]) - 1]
    assert named == history_of(on)
    assert [event[:2] for event in on.of("step")] == [[0, step] for step in range(6)]
    assert ({action for *_, action in seeds_of(on)}, on.of("control")) == ({"kept"}, [])
    off = plainly(child)
    assert (on.stdout, on.stderr) == (off.stdout, off.stderr)


def child_call(text: str, call: str) -> str:
    """The whole call that begins so, as it stands in the text."""
    start, depth = text.index(call), 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if text[place] == ")" and not depth:
            return text[start : place + 1]
    raise AssertionError(call)


@pytest.mark.parametrize("library", list(CALLS))
def test_seeds_vary_and_are_held_and_the_script_reads_its_own(library: str, tmp_path: Path) -> None:
    text = CALLS[library][0]
    held = [run(tmp_path / f"control-{n}", text, "control", n) for n in range(2)]
    varied = [run(tmp_path / f"algo-{n}", text, "algo+impl", n) for n in range(2)]
    assert out(held[0]) == out(held[1])
    assert held[0].of("weights") == held[1].of("weights") != []
    assert len({out(result) for result in (*varied, held[0])}) == 3
    assert len({event[2] for result in (*varied, held[0]) for event in result.of("weights")[-1:]}) == 3
    parameters = [json.loads(result.stdout.splitlines()[-1])[1] for result in (*held, *varied)]
    assert all(each == parameters[0] for each in parameters)
    default = {"lightgbm": ("lightgbm.seed", "default", 14), "xgboost": ("xgboost.seed", "default", 10)}
    seed = (*default.get(library, ("catboost.random_seed", "4", 10)), "replaced")
    assert seeds_of(varied[0]) == [seed]


def test_the_purposes_of_lightgbm_vary_apart(tmp_path: Path) -> None:
    text = f"""{DATA}
import lightgbm
for drawing in ({{"bagging_fraction": 0.5, "bagging_freq": 1}}, {{"feature_fraction": 0.5}}, {{"extra_trees": True}}):
    params = {{"objective": "binary", "verbose": -1, "num_leaves": 7, **drawing}}
    print(lightgbm.train(params, lightgbm.Dataset(X, Y), 6).predict(TEST).sum())
"""
    for place, variant in enumerate(("shuffle", "dropout", "other")):
        one, two = (run(tmp_path / f"{variant}-{n}", text, variant, n) for n in range(2))
        pairs = zip(out(one).splitlines(), out(two).splitlines(), strict=True)
        assert [a != b for a, b in pairs] == [place == each for each in range(3)]
        assert ["lightgbm", ["dropout", "other", "shuffle"]] in one.of("draws")


def test_seeds_of_the_script_tell_models_apart_and_equal_ones_stay_equal(tmp_path: Path) -> None:
    text = f"""{DATA}
import lightgbm, xgboost, catboost
def light(**seeds):
    model = lightgbm.LGBMClassifier(n_estimators=3, subsample=0.5, subsample_freq=1, verbose=-1, **seeds)
    return model.fit(X, Y).predict_proba(TEST)[:, 0].sum()
def xg(**seeds):
    model = xgboost.XGBClassifier(n_estimators=3, subsample=0.5, **seeds).fit(X, Y)
    return float(model.predict_proba(TEST)[:, 0].sum())
def cat(**seeds):
    model = catboost.CatBoostClassifier(iterations=3, verbose=0, allow_writing_files=False, **seeds)
    return model.fit(X, Y).predict_proba(TEST)[:, 0].sum()
for fit in (light, xg, cat):
    values = [fit(random_state=1), fit(random_state=1), fit(random_state=2), fit(), fit()]
    print(values[0] == values[1], values[3] == values[4], len(set(values)))
class Own(lightgbm.LGBMClassifier):
    pass
class Forest(xgboost.XGBRFClassifier):
    pass
print(Own(n_estimators=3, subsample=0.5, subsample_freq=1, verbose=-1, random_state=3).fit(X, Y).random_state)
print(Forest(n_estimators=3, random_state=3).fit(X, Y).random_state)
"""
    result = run(tmp_path, text, "algo")
    assert result.stdout.splitlines() == ["True True 3"] * 3 + ["3", "3"]
    assert {call for call, *_ in seeds_of(result)} == {
        "lightgbm.random_state", "lightgbm.seed", "xgboost.random_state", "xgboost.seed", "catboost.random_seed",
    }  # fmt: skip


def test_the_implementation_of_lightgbm_is_held_and_freed(tmp_path: Path) -> None:
    text = LIGHT.replace('"num_leaves": 7}', '"num_leaves": 7, "deterministic": True, "n_jobs": 2}')
    name = "lightgbm"
    held, free, threads = (run(tmp_path / variant, text, variant, 1) for variant in ("control", "impl", "config"))
    assert held.of("control") == [
        ["kernels", f"{name}.deterministic", "True", "", 0, "set"],
        ["autotune", f"{name}.force_col_wise", "True", "", 0, "set"],
    ]
    assert free.of("control") == [["kernels", f"{name}.deterministic", "True", "train.py", 14, "overridden"]]
    assert ["threads", f"{name}.n_jobs", "2", "train.py", 14, "overridden"] in threads.of("control")
    cat = run(tmp_path / "cat", CAT, "config", 1)
    assert cat.of("control")[-1] == ["threads", "catboost.thread_count", "1", "", 0, "set"]
    chosen = text.replace('"n_jobs": 2}', '"force_row_wise": True}')
    assert len(run(tmp_path / "chosen", chosen, "control").of("control")) == 1


SEARCH = f"""{DATA}
import lightgbm, xgboost
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
light = lightgbm.LGBMClassifier(n_estimators=3, subsample=0.5, subsample_freq=1, verbose=-1, n_jobs=1)
grid = {{"num_leaves": [3, 7], "random_state": [1, 2]}}
search = GridSearchCV(light, grid, cv=3, n_jobs=JOBS, scoring="neg_log_loss")
print(search.fit(X, Y).cv_results_["mean_test_score"].tolist())
model = make_pipeline(StandardScaler(), xgboost.XGBClassifier(n_estimators=3, subsample=0.5, n_jobs=1))
print(cross_val_score(model, X, Y, cv=3, n_jobs=JOBS, scoring="neg_log_loss").tolist())
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_searches_vary_and_are_held_also_in_other_processes(jobs: int, tmp_path: Path) -> None:
    text = SEARCH.replace("JOBS", str(jobs))
    held = [out(run(tmp_path / f"control-{n}", text, "control", n)) for n in range(2)]
    varied = [out(run(tmp_path / f"algo-{n}", text, "algo", n)) for n in range(2)]
    assert held[0] == held[1]
    for lines in zip(held[0].splitlines(), *(text.splitlines() for text in varied), strict=True):
        assert len(set(lines)) == 3


def test_cross_validations_report_means_and_keep_the_folds(tmp_path: Path) -> None:
    text = f"""{DATA}
import lightgbm, xgboost, catboost
for seed in (0, 1):
    print(lightgbm.cv({{"verbose": -1, "objective": "binary"}}, lightgbm.Dataset(X, Y), 2, nfold=2, seed=seed))
    print(xgboost.cv({{"max_depth": 2}}, xgboost.DMatrix(X, Y), 2, nfold=2, seed=seed, as_pandas=False))
    print(np.random.rand())
params = {{"iterations": 2, "loss_function": "Logloss", "logging_level": "Silent", "allow_writing_files": False}}
sys.stdout = sys.stderr
catboost.cv(catboost.Pool(X, Y), params, fold_count=2, as_pandas=False)
"""
    one, two = (run(tmp_path / f"algo-{n}", text, "algo", n) for n in range(2))
    plain = Child(tmp_path / "plain", text).run()
    draws = [line for line in one.stdout.splitlines() if line.startswith("0.")]
    assert len(set(draws)) == 2
    assert not set(draws) & set(two.stdout.splitlines())
    # Nothing is drawn but the folds, which are those of the script.
    results = [[line for line in result.stdout.splitlines() if line[0] == "{"] for result in (one, two, plain)]
    assert results[0] == results[1] == results[2]
    assert len(set(results[0])) == 4
    named = list(dict.fromkeys(event[0] for event in one.of("named")))
    assert named == [
        "valid_binary_logloss_mean", "valid_binary_logloss_stdv", "train_rmse_mean", "train_rmse_std",
        "test_rmse_mean", "test_rmse_std", "test_Logloss_mean", "test_Logloss_std", "train_Logloss_mean",
        "train_Logloss_std",
    ]  # fmt: skip
    kept = [call for call, _, _, action in seeds_of(one) if action == "kept"]
    folds = ["lightgbm.cv.seed", "sklearn.StratifiedKFold.random_state", "xgboost.cv.seed"]
    assert kept == [*folds, *folds, "catboost.partition_random_seed"]


def test_a_loop_of_the_scripts_own_is_seeded_and_has_no_other_steps(tmp_path: Path) -> None:
    text = f"""{DATA}
import lightgbm, xgboost
data, params = xgboost.DMatrix(X, Y), {{"subsample": 0.5, "objective": "binary:logistic"}}
booster, other = xgboost.Booster(params, [data]), xgboost.Booster(cache=[data])
other.set_param("subsample", 0.5)
other.set_param("seed", 3)
light = lightgbm.Booster({{"verbose": -1, "bagging_fraction": 0.5, "bagging_freq": 1}}, lightgbm.Dataset(X, Y))
for step in range(3):
    booster.update(data, step)
    other.update(data, step)
    light.update()
    print(booster.eval(data, "train"), light.eval_train())
print(other.eval(data))
"""
    held = [run(tmp_path / f"control-{n}", text, "control", n) for n in range(2)]
    varied = run(tmp_path / "algo", text, "algo")
    assert out(held[0]) == out(held[1])
    assert all(a != b for a, b in zip(out(held[0]).splitlines(), out(varied).splitlines(), strict=True))
    assert varied.of("named") == varied.of("step") == []
    assert seeds_of(varied) == [
        ("xgboost.seed", "3", 12, "replaced"),
        ("lightgbm.seed", "default", 13, "replaced"),
        ("xgboost.seed", "default", 15, "replaced"),
    ]


@pytest.mark.parametrize("library", ["lightgbm.LGBM", "xgboost.XGB", "catboost.CatBoost"])
def test_predictions_are_kept_once_with_their_labels(library: str, tmp_path: Path) -> None:
    package = library.partition(".")[0]
    options = {"lightgbm": "verbose=-1", "xgboost": "n_jobs=1", "catboost": "verbose=0, allow_writing_files=False"}
    text = f"""{DATA}
import {package}
from sklearn.model_selection import cross_val_score
kinds = np.array(["no", "yes"]) if "{package}" != "xgboost" else np.arange(2)
X_test, y_test, X_val, y_val = TEST[:120], kinds[TRUE[:120]], TEST[120:], TRUE[120:]
model = {library}Classifier(n_estimators=3, {options[package]})
model.fit(X, kinds[Y])
print("test", np.mean(model.predict(X_test).ravel() == y_test))
shares = model.predict_proba(X_test)
model.predict(X_test)
print("val", model.score(X_val, kinds[y_val]))
guess = model.predict(X_val)
other = {library}Regressor(n_estimators=3, {options[package]}).fit(X, Y)
cross_val_score(other, X, Y, cv=2)
print(other.predict(X_val).sum())
"""
    run = kept(tmp_path, lambda folder: Child(folder, text))
    assert run.on.stdout == run.off.stdout
    assert [name for name, _ in run.artifacts("predictions")] == ["test", "val", "val_2"]
    assert run.arrays("test")["outputs"].shape == (120, 2)
    assert run.accuracy("test") == run.printed("test")
    assert run.accuracy("val") == run.printed("val")
    assert np.array_equal(run.arrays("val_2")["truth"], run.arrays("val")["truth"])


def test_predictions_of_the_libraries_own_interfaces_are_kept(tmp_path: Path) -> None:
    text = f"""{DATA}
import lightgbm, xgboost, catboost
light = lightgbm.train({{"objective": "binary", "verbose": -1}}, lightgbm.Dataset(X, Y), 3)
xg = xgboost.train({{"objective": "multi:softprob", "num_class": 2}}, xgboost.DMatrix(X, Y), 3)
cat = catboost.CatBoost({{"iterations": 3, "logging_level": "Silent", "allow_writing_files": False}}).fit(X, Y)
X_test, y_test = TEST + 0, TRUE + 0
light.predict(X_test)
light.predict(X_test, pred_leaf=True)
dtest = xgboost.DMatrix(TEST, TRUE)
xg.predict(dtest)
pool_test = catboost.Pool(TEST, TRUE)
cat.predict(pool_test)
"""
    run = kept(tmp_path, lambda folder: Child(folder, text))
    shapes = {name: run.arrays(name)["outputs"].shape for name, _ in run.artifacts("predictions")}
    assert shapes == {"test": (200,), "dtest": (200, 2), "pool_test": (200,)}
    truth = run.arrays("test")["truth"].tolist()
    assert all(run.arrays(name)["truth"].tolist() == truth for name in shapes)
    assert all(len(set(run.arrays(name)["keys"])) == 200 for name in shapes)

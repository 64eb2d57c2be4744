"""scikit-learn: estimators that iterate have a step for each iteration, and the trace changes nothing."""

import pytest
from tracing import Traced, nothing_changed, traced

pytestmark = pytest.mark.requires("sklearn")
SCRIPT = """\
import warnings, zlib
import numpy as np
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
warnings.filterwarnings("ignore")

np.random.seed(0)
draw = np.random.default_rng(0)
X = draw.normal(size=(60, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)

def fit(model, **options):
    model.fit(X, Y, **options)
    print(type(model).__name__, zlib.crc32(model.predict_proba(X).tobytes()))

for rate in (0.1, 0.1, 0.1 * (1 + 1e-7)):
    net = MLPClassifier((3,), batch_size=20, max_iter=2, learning_rate_init=rate, random_state=0)
    fit(make_pipeline(StandardScaler(), net))
for is_drawing in (False, True):
    source = np.random.RandomState(0)
    def monitor(stage, model, variables):
        if is_drawing and stage == 1:
            source.random()
    fit(GradientBoostingClassifier(n_estimators=4, subsample=0.5, random_state=source), monitor=monitor)
fit(AdaBoostClassifier(n_estimators=3, random_state=0))
fit(HistGradientBoostingClassifier(max_iter=3, early_stopping=True, random_state=0))
fit(MLPClassifier((3,), solver="lbfgs", max_iter=3, random_state=0))
search = GridSearchCV(SGDClassifier(random_state=0), {"alpha": [0.1, 1]}, cv=2).fit(X, Y)
print(search.cv_results_["mean_test_score"], np.random.random())
"""
NETS, STAGES, BOOSTS, TREES, SOLVED = 0, 18, 26, 29, 32
"""First steps of what the script fits."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return traced(tmp_path_factory.mktemp("iterations"), SCRIPT, ())


def first(runs: Traced, start: int, other: int, n_steps: int) -> tuple[int, str, str] | None:
    """Step, kind and name of the first record that differs between two fits of as many steps."""
    one, two = (
        [(it[0] - begin, *it[1:]) for it in runs.records if 0 <= it[0] - begin < n_steps] for begin in (start, other)
    )
    assert len(one) == len(two) > 0
    return next((a[:3] for a, b in zip(one, two, strict=True) if a != b), None)


def test_a_traced_run_is_bitwise_the_run_without_a_trace(runs: Traced) -> None:
    assert nothing_changed(runs)


def test_a_batch_of_a_network_is_a_step_in_a_pipeline_too(runs: Traced) -> None:
    assert runs.names("loss", 4) == ["loss"]
    assert runs.names("batch", 4) == ["input", "target"]
    weights = [f"MLPClassifier.{kind}.{number}" for kind in ("coefs_", "intercepts_") for number in range(2)]
    assert runs.names("gradient", 4) == runs.names("update", 4) == weights
    assert first(runs, NETS, NETS + 6, 6) is None
    assert first(runs, NETS, NETS + 12, 6) == (0, "update", "MLPClassifier.coefs_.0")


def test_a_stage_is_a_step_and_a_draw_before_it_is_found_there(runs: Traced) -> None:
    assert first(runs, STAGES, STAGES + 4, 4) == (2, "state", "sklearn.random_state")
    assert runs.names("loss", STAGES + 1) == ["loss"]
    assert "GradientBoostingClassifier.estimators_.0.tree_.nodes.threshold" in runs.names("update", STAGES + 1)


def test_an_ensemble_has_a_step_for_each_member(runs: Traced) -> None:
    assert runs.names("batch", BOOSTS + 1) == ["weight"]
    assert "AdaBoostClassifier.estimators_.0.tree_.values" in runs.names("update", BOOSTS + 1)
    assert runs.names("gradient", TREES + 1) == ["gradient", "hessian"]
    assert "HistGradientBoostingClassifier.tree.nodes.value" in runs.names("update", TREES + 1)
    assert runs.names("loss", TREES) == ["loss"] * 2, "before the first iteration, and after it"


def test_a_solver_without_batches_and_each_fit_of_a_search_are_one_step(runs: Traced) -> None:
    assert len(runs.names("loss", SOLVED)) == 1
    assert all("SGDClassifier.coef_" in runs.names("update", SOLVED + 1 + fit) for fit in range(5))
    assert runs.lines[-1][:2] == ["end", SOLVED + 6]
